/** What a deploy finds missing on the server before it builds. */
import { existsSync } from 'node:fs';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { recording } from './fake-programs.ts';
import { failures, preflightSuite } from './preflight.ts';

const test = preflightSuite('preflight');

test('a missing unit fails the deploy before its build, and counts no attempt', async ({
  world,
  built,
}) => {
  const deploy = `build: touch '${built}'\nstart: { type: systemd, unit: shop.service }\n`;
  await world.push('v1', { deploy });
  const { env } = recording(['systemctl'], 'echo not-found');
  const failed = await world.deploy(['--json'], env);
  const { result, stage, error } = JSON.parse(failed.stdout.trim().split('\n').at(-1) as string);
  const words = 'start: systemd has no unit shop.service: sudo runner setup shop';
  assert.equal([failed.status, result, stage, error], [1, 'failed', 'start', words]);
  assert.not.ok(existsSync(built));
  assert.equal(world.kinds(), ['DeployStarted', 'DeployFailure']);
  assert.equal([failures(world)[0]?.stage, world.state().failures], ['start', null]);
  const shown = await run('runner-debug', ['last-error', 'shop'], { root: world.root });
  assert.match(shown.stdout, words);
});

test('what only a guess finds missing keeps no commit from being deployed', async ({ world }) => {
  await world.push('v1', { deploy: 'build: if false; then nomake; fi\n' });
  const checked = await world.deploy(['--check', '--json']);
  assert.equal(JSON.parse(checked.stdout).problems, ['build: nomake is not on PATH']);
  assert.is((await world.deploy()).status, 0);
});

test.run();
