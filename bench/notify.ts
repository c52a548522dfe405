/**
 * `npm run bench -- notify`: what announcing one event costs beside `node -e 0`, each time into an
 * empty spool, to a stand-in on this machine that answers at once. `--rounds N` (default 25). The
 * status is 1 when a budget is missed. A thousand queued messages are drained, and their memory is
 * measured, by tools/runner-notify/test/spool-storm.long.test.ts.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDiscord } from '@runner/testing/discord';
import { temporaryFolder } from '@runner/testing/temp';
import { type Contestant, compare, FLOOR, printTable } from './harness/measure.ts';
import { bin, printSetting, roundsWanted } from './harness/setting.ts';

const EVENT = {
  timestamp: '2026-05-04T09:30:00.000Z',
  event_type: 'DeployStarted',
  project: 'shop',
  instance: 'prod-1',
  version: 'v1.3.0',
  deploy_id: 'a1b2c3d4',
};

/** Prints the address of a webhook and answers until it is killed: the one who measures is blocked. */
async function serve(): Promise<void> {
  const hook = await startDiscord();
  process.stdout.write(`${hook.webhook}\n`);
  setInterval(() => hook.messages.splice(0), 1000);
}

async function main(): Promise<void> {
  const server = spawn(process.execPath, [__filename, 'serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [address] = (await once(server.stdout, 'data')) as [Buffer];
  const root = temporaryFolder('bench');
  const webhook = address.toString('utf8').trim();
  writeFileSync(join(root, 'config.yml'), `notify:\n  discord_webhook: ${webhook}\n`, {
    mode: 0o600,
  });
  const rounds = roundsWanted(25);
  const tool = bin('runner-notify');
  // The spool remembers the service's rates: kept from round to round it would make them wait.
  const fresh = 'rm -rf "$RUNNER_ROOT/spool"; exec "$0" "$@"';
  const contestant = (name: string, args: readonly string[], budget?: number): Contestant => ({
    name,
    file: '/bin/sh',
    args: ['-c', fresh, process.execPath, tool, ...args],
    env: { RUNNER_ROOT: root },
    input: `${JSON.stringify(EVENT)}\n`,
    ...(budget !== undefined && { budget }),
  });
  printSetting('Announcing', rounds);
  const kept = printTable(
    'One event',
    compare(
      [
        FLOOR,
        contestant('notify send, delivered', ['send'], 5),
        contestant('notify send --dry-run: no spool, no lock, no request', ['send', '--dry-run']),
        contestant('notify send --channel none: nothing but reading', [
          'send',
          '--channel',
          'none',
        ]),
        contestant('notify flush, nothing queued', ['flush']),
      ],
      rounds,
    ),
  );
  server.kill();
  if (!kept) process.exitCode = 1;
}

void (process.argv[2] === 'serve' ? serve() : main());
