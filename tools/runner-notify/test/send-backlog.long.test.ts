/** `send` with a long input: the time grows with the number of events, not with its square. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { event } from './chats.ts';

async function secondsFor(count: number): Promise<number> {
  const root = temporaryFolder('backlog');
  // Nothing listens there: everything stays queued.
  const config = 'notify:\n  discord_webhook: "http://127.0.0.1:9/api/webhooks/1/abc"\n';
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  const lines = Array.from({ length: count }, (_, number) =>
    JSON.stringify(event('DeployStarted', { deploy_id: String(number).padStart(8, '0') })),
  );
  const start = performance.now();
  const ended = await run('runner-notify', ['send', '--wait', '0', '--json'], {
    root,
    stdin: `${lines.join('\n')}\n`,
    timeout: 600_000,
  });
  assert.is(ended.status, 0);
  assert.is(ended.stdout.split('\n').length, count + 1);
  return (performance.now() - start) / 1000;
}

test('100,000 events take at most 15 times as long as 10,000', async () => {
  const few = await secondsFor(10_000);
  const many = await secondsFor(100_000);
  assert.ok(many <= few * 15, `${few.toFixed(1)} s, ${many.toFixed(1)} s`);
});

test.run();
