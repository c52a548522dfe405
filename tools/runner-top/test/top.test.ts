/** The screen on a real terminal. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { writeApp } from '@runner/common/apps/store';
import { run } from '@runner/testing/run';
import { CTRL_C, startOnTerminal } from '@runner/testing/terminal';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { logLine, makeEyesRoot, record, stateOf } from '../../../tests/eyes/root.ts';
import { LEFT, pause, quiet } from './top.ts';

test('80×24: apps, causes, the running deploy with its log, keys; live, and silent when nothing changes', async () => {
  const paths = makeEyesRoot();
  const back = { project: 'shop', deploy_id: 'Back0001', reason: 'manual' };
  record(paths, { ...back, event_type: 'RollbackSuccess' });
  const session = startOnTerminal('runner-top', ['--offline'], { root: paths.root });
  await session.expect('3 apps, 2 need attention; messages waiting: 0');
  await session.expect(/blog +failing +v1 +src\/a\.ts:3: not found/);
  await session.expect('> shop');
  await session.expect('job report failed: exit status 3');
  await session.expect('second line');
  await session.expect('q quit');
  const before = await quiet(session);
  await pause(3_000);
  assert.is(session.raw().length, before);
  logLine(paths, 'shop', 'a third line');
  await session.expect('a third line');
  const lines = session.raw().slice(before).split('\x1b[2K').length - 1;
  assert.ok(lines <= 3, `${lines} lines are written for one`);
  session.type('\r');
  await session.expect('v2 at build since');
  await session.expect(/success +← v1/);
  session.type('q');
  assert.is((await session.done).status, 0);
  assert.ok(session.raw().endsWith(LEFT));
});

test('--plain prints a line per change, --json all apps, --once ends', async () => {
  const paths = makeEyesRoot();
  const session = startOnTerminal('runner-top', ['--plain', '--offline'], { root: paths.root });
  await session.expect('site: ok, v1;');
  const before = await quiet(session);
  writeApp(paths, stateOf('fresh'));
  await session.expect('fresh: ok, v1;');
  rmSync(paths.state('fresh'));
  await session.expect('fresh: removed');
  assert.not.match(session.raw().slice(before), /site|\x1b/);
  session.type(CTRL_C);
  assert.is((await session.done).status, 130);
  const { stdout, status } = await run('runner-top', ['--once', '--json'], { root: paths.root });
  const { apps, queue } = JSON.parse(stdout);
  assert.equal([status, apps.length, queue], [0, 3, { waiting: 0, dead: 0 }]);
});

test('what cannot be read is said as long as that lasts, and ends nothing', async () => {
  const paths = makeEyesRoot();
  const size = { columns: 200, rows: 30 };
  const session = startOnTerminal('runner-top', ['--offline'], { root: paths.root, ...size });
  await session.expect('q quit');
  renameSync(paths.stateDir, `${paths.stateDir}.away`);
  writeFileSync(paths.stateDir, '');
  await session.expect('cannot read the folder');
  const before = session.raw().length;
  rmSync(paths.stateDir);
  renameSync(`${paths.stateDir}.away`, paths.stateDir);
  await until(() => session.raw().slice(before).includes('q quit'), 'the message stays');
  renameSync(paths.auditLog, `${paths.auditLog}.away`);
  mkdirSync(paths.auditLog);
  session.type('\r');
  await session.expect('(file_unreadable)');
  session.type('q');
  assert.is((await session.done).status, 0);
});

test('an app whose state cannot be read is named, also if it is the only one', async () => {
  const paths = makeEyesRoot();
  writeFileSync(paths.state('broken'), '{');
  const { stdout } = await run('runner-top', ['--once', '--offline'], { root: paths.root });
  assert.match(stdout, '4 apps, 3 need attention; cannot read the state of broken; messages');
  for (const app of ['shop', 'blog', 'site']) rmSync(paths.state(app));
  const session = startOnTerminal('runner-top', ['--offline'], { root: paths.root });
  await session.expect('cannot read the state of broken');
  session.type('q');
  await session.done;
  assert.not.match(session.raw(), 'No apps yet');
});

test('a root that does not exist is named on the screen', async () => {
  const session = startOnTerminal('runner-top', ['--offline'], { root: '/none/such' });
  await session.expect(/No apps yet.*the root \/none\/such does not exist/s);
  session.type('q');
  assert.is((await session.done).status, 0);
});

test.run();
