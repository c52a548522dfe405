/** A large audit log, for measuring. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** An app that is in the log and never failed. */
export const STEADY = 'steady';

function eventOf(number: number): object {
  const steady = number % 20 === 1;
  const failed = !steady && number % 10 === 0;
  return {
    timestamp: new Date(1_700_000_000_000 + number * 1000).toISOString(),
    event_type: failed ? 'DeployFailure' : 'DeploySuccess',
    project: steady ? STEADY : `app${number % 53}`,
    instance: 'default',
    version: `v1.0.${number}`,
    deploy_id: (number % 0xffffffff).toString(16).padStart(8, '0'),
    ...(failed && {
      error: `build: \`make\` ended with status 2\n${'cc: error: no such file\n'.repeat(20)}`,
    }),
  };
}

/** Writes a log of about `megabytes` whose last line is a failure of `app0`. */
export function writeLog(root: string, megabytes: number): void {
  const logs = join(root, 'logs');
  mkdirSync(logs, { recursive: true });
  const fd = openSync(join(logs, 'deploy-events.jsonl'), 'w', 0o640);
  let block = '';
  for (let number = 0, size = 0; size < megabytes * 1_048_576; number += 1) {
    const line = `${JSON.stringify(eventOf(number))}\n`;
    size += line.length;
    block += line;
    if (block.length > 1_048_576) {
      writeSync(fd, block);
      block = '';
    }
  }
  writeSync(fd, `${block}${JSON.stringify(eventOf(530))}\n`);
  closeSync(fd);
}
