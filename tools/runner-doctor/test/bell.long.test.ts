/** What the doctor finds where apps have a bell. */
import { chmodSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { run, shell, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { examined, fixed, programs, registered } from './patient.ts';

const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
const TIMERS = ['fetch', 'notify', 'tokens'].map((name) => `runner-${name}.timer`);

/** A root whose app has a bell; the user runner-bell is that of this process, or there is none. */
async function withBell(hasUser: boolean, units: Readonly<Record<string, string>> = {}) {
  const root = await registered();
  const dir = join(temporaryFolder('bell'), 'bell');
  const added = await run('runner-bell', ['add', 'shop', '--dir', dir], { root });
  assert.is(added.status, 0, added.stderr);
  const good = 'LoadState=loaded\nActiveState=active\nUnitFileState=enabled\n';
  const all = { ...Object.fromEntries(TIMERS.map((name) => [name, good])), ...units };
  const shown = Object.entries(all).map(([name, text]) => `Id=${name}\n${text}`);
  const systemctl =
    Object.keys(units).length > 0 ? `cat <<'END'\n${shown.join('\n')}END` : 'exit 1';
  const { getuid, getgid } = process;
  const id = hasUser ? `[ "$1" = -u ] && echo ${getuid?.()} || echo ${getgid?.()}` : 'exit 1';
  const env = { RUNNER_BELL_DIR: dir, PATH: `${programs({ systemctl, id })}:${PATH}` };
  return { root, dir, env };
}

const bellOf = async (root: string, env: Record<string, string>) => {
  const { findings } = await examined(root, { env });
  return findings.find(({ check }) => check === 'bell');
};

test('without a bell there is nothing to check', async () => {
  const root = await registered();
  const env = { RUNNER_BELL_DIR: join(root, 'none') };
  assert.is((await bellOf(root, env))?.message, 'no app has a bell');
});

test('the printed command closes a secret that others can read', async () => {
  const { root, dir, env } = await withBell(false);
  const path = join(dir, 'secrets/shop.json');
  assert.is((await bellOf(root, env))?.message, 'the bell of shop is set up; no call yet');
  chmodSync(path, 0o644);
  const why = 'only runner and the bell may read the secrets';
  await fixed(root, `problem bell: ${path} has the wrong owner or mode: ${why}`, { env });
});

test('folders that the user of the bell cannot use are repaired by the printed commands', async () => {
  const { root, dir, env } = await withBell(true);
  const { findings, troubles } = await examined(root, { env });
  assert.equal(troubles, [
    `problem bell: ${dir} is closed to the user runner-bell`,
    ...['wake', 'last'].map(
      (name) =>
        `problem bell: ${join(dir, name)} has the wrong owner or mode: both the bell and runner write there`,
    ),
  ]);
  const commands = findings.flatMap(({ fix }) => fix ?? []);
  assert.is((await shell(commands.join(' && '), { env })).status, 0);
  assert.equal((await examined(root, { env })).troubles, []);
});

test('a call that no fetch handles, and a bell of a removed app, are reported', async () => {
  const { root, dir, env } = await withBell(false);
  writeFileSync(join(dir, 'wake/shop'), '');
  assert.equal((await examined(root, { env })).troubles, []);
  const before = Date.now() / 1000 - 3_000;
  utimesSync(join(dir, 'wake/shop'), before, before);
  await run('runner-remove', ['shop', '--yes'], { root });
  assert.equal((await examined(root, { env })).troubles, [
    "warning bell: 'shop' has a bell but is not registered",
    'problem bell: a call for shop has waited for more than half an hour',
  ]);
});

test('units that are missing or stopped, and a socket that nothing answers, are reported', async () => {
  const good = 'LoadState=loaded\nActiveState=active\nUnitFileState=enabled\n';
  const stopped = 'LoadState=loaded\nActiveState=inactive\nUnitFileState=disabled\n';
  const none = 'LoadState=not-found\nActiveState=inactive\n';
  const first = await withBell(false, { 'runner-bell.socket': none, 'runner-bell.path': stopped });
  const told = await examined(first.root, { env: first.env });
  assert.equal(told.troubles, [
    'warning bell: runner-bell.socket is not installed: calls from the code host are not received',
    'warning bell: runner-bell.path is inactive: calls do not start a fetch',
  ]);
  assert.is(told.findings.at(-1)?.level, 'ok');
  const port = await freePort();
  const socket = `${good}Listen=127.0.0.1:${port} (Stream)\n`;
  const { root, dir, env } = await withBell(false, {
    'runner-bell.socket': socket,
    'runner-bell.path': good,
  });
  assert.equal((await examined(root, { env })).troubles, [
    `problem bell: the bell on port ${port} does not answer`,
  ]);
  const bell = start('runner-bell', ['--listen', `127.0.0.1:${port}`, '--dir', dir], { root });
  await until(
    async () => (await bellOf(root, env))?.level === 'ok',
    'the bell that listens is not seen',
  );
  bell.kill();
  await bell.done;
});

test.run();
