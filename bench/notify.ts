/**
 * `npm run bench -- notify`: what announcing one event costs beside `node -e 0`, each time into an
 * empty spool, to a stand-in on this machine that answers at once. `--rounds N` (default 25). The
 * status is 1 when a budget is missed. A thousand queued messages are drained, and their memory is
 * measured, by tools/runner-notify/test/spool-storm.long.test.ts.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDiscord } from '@runner/testing/discord';
import { executable } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { type Contestant, compare, conclude, FLOOR, printTable } from './harness/measure.ts';
import { besideServices } from './harness/services.ts';
import { printSetting, roundsWanted } from './harness/setting.ts';

const EVENT = {
  timestamp: '2026-05-04T09:30:00.000Z',
  event_type: 'DeployStarted',
  project: 'shop',
  instance: 'prod-1',
  version: 'v1.3.0',
  deploy_id: 'a1b2c3d4',
};

async function serve(): Promise<string[]> {
  const hook = await startDiscord();
  setInterval(() => hook.messages.splice(0), 1000);
  return [hook.webhook];
}

async function measure([webhook]: readonly string[]): Promise<void> {
  const root = temporaryFolder('bench');
  writeFileSync(join(root, 'config.yml'), `notify:\n  discord_webhook: ${webhook}\n`, {
    mode: 0o600,
  });
  const rounds = roundsWanted(25);
  // The spool remembers the service's rates: kept from round to round it would make them wait.
  const fresh = 'rm -rf "$RUNNER_ROOT/spool"; exec "$0" "$@"';
  const notify = (name: string, args: readonly string[], budget?: number): Contestant => ({
    name,
    file: '/bin/sh',
    args: ['-c', fresh, process.execPath, executable('runner-notify'), ...args],
    env: { RUNNER_ROOT: root },
    input: `${JSON.stringify(EVENT)}\n`,
    budget,
  });
  printSetting('Announcing', rounds);
  const contestants = [
    notify('notify send, delivered', ['send'], 6),
    notify('notify send --dry-run: no spool, no lock, no request', ['send', '--dry-run']),
    notify('notify send --channel none: nothing but reading', ['send', '--channel', 'none']),
    notify('notify flush, nothing queued', ['flush']),
  ];
  conclude([printTable('One event', compare([FLOOR, ...contestants], rounds))]);
}

void besideServices(serve, measure);
