/** The screen on a real terminal. */
import { spawnSync } from 'node:child_process';
import type { Deployed } from '@runner/common/apps/deployed';
import { writeApp } from '@runner/common/apps/store';
import { executable } from '@runner/testing/run';
import { CTRL_C, startOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { failedState, HOSTILE, logLine, makeEyesRoot, stateOf } from '../../../tests/eyes/root.ts';
import { LEFT, quiet } from './top.ts';

test('200×60, resized to 40×10, with 100 apps: the chosen one is seen', async () => {
  const { root } = makeEyesRoot(100);
  const session = startOnTerminal('runner-top', ['--offline'], {
    root,
    columns: 200,
    rows: 60,
    env: { NO_COLOR: '1' },
  });
  await session.expect('> shop');
  session.type('\x1b[F');
  await session.expect('> site');
  session.type('\x1b[H');
  await session.expect('> blog ');
  session.resize(40, 10);
  await session.expect('100 apps');
  await quiet(session);
  const drawn = session.raw().slice(session.raw().lastIndexOf('\x1b[2J'));
  assert.not.match(drawn, /\x1b\[1[1-9];1H/);
  for (const line of drawn.split(/\x1b\[\d+;1H\x1b\[2K/).slice(1))
    assert.ok(line.length <= 40, line);
  // Colours are not the only thing: there are none at all.
  assert.not.match(session.raw(), /\x1b\[[13][0-9]?m/);
  session.type(CTRL_C);
  assert.is((await session.done).status, 130);
});

test('hostile text does not reach the terminal as commands, and wide text is cut', async () => {
  const paths = makeEyesRoot();
  writeApp(paths, failedState('blog', `${HOSTILE}${'漢'.repeat(100)}`));
  logLine(paths, 'shop', HOSTILE);
  const session = startOnTerminal('runner-top', ['--offline'], { root: paths.root });
  await session.expect('onerror');
  await quiet(session);
  assert.not.match(session.raw().slice(session.raw().indexOf('runner on')), /\x1b\[2J|\u202e/);
  session.type('q');
  await session.done;
});

test('a command asks first, runs on the terminal, and the screen comes back', async () => {
  const { root } = makeEyesRoot();
  const session = startOnTerminal('runner-top', ['--offline'], { root });
  await session.expect('q quit');
  session.type('r');
  await session.expect('Restart shop? y = yes');
  session.type('n');
  await session.expect('q quit');
  session.type('r');
  await session.expect('Restart shop?');
  session.type('y');
  await session.expect('$ runner restart shop');
  await session.expect(/runner restart ended with \d+\. Press a key/);
  session.type(' ');
  await session.expect('3 apps');
  session.type('q');
  assert.is((await session.done).status, 0);
});

test('the question of b names where runner rollback goes, or says that there is nowhere', async () => {
  const paths = makeEyesRoot();
  const [v1, v2, v3] = ['1', '2', '3'].map((each) => ({
    version: `v${each}`,
    commit: each.repeat(40),
    release: `2026050409300${each}-${each.repeat(12)}`,
    deployed_at: `2026-05-04T09:30:0${each}.000Z`,
    deploy_id: `ok00000${each}`,
    sequence: Number(each),
  })) as unknown as [Deployed, Deployed, Deployed];
  const asks = async (question: string, current: Deployed, ...previous: Deployed[]) => {
    writeApp(paths, stateOf('shop', { instances: { default: { current, previous } } }));
    const session = startOnTerminal('runner-top', ['--offline'], { root: paths.root });
    await session.expect('> blog');
    session.type('j');
    await session.expect('> shop');
    session.type('b');
    await session.expect(question);
    session.type('nq');
    await session.done;
  };
  await asks('Roll shop back to v2? y = yes', v3, v2, v1);
  // As after a rollback from v3, which is no way back from v2.
  await asks('Roll shop back to v1? y = yes', v2, v3, v1);
  await asks('shop has no earlier version to roll back to', v1, v2, v3);
});

test('SIGTERM, and an error, give the terminal back', async () => {
  const paths = makeEyesRoot();
  const session = startOnTerminal('runner-top', ['--offline'], { root: paths.root });
  await session.expect('q quit');
  const [pid] = spawnSync('pgrep', ['-f', `${executable('runner-top')} --offline`], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
    .stdout.trim()
    .split('\n')
    .slice(-1);
  process.kill(Number(pid), 'SIGTERM');
  assert.is((await session.done).status, 143);
  assert.ok(session.raw().endsWith(LEFT));
});

test.run();
