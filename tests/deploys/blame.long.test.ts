import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { mountTiny } from '../../libs/common/test/files/faulty-disk.ts';
import { recording } from './fake-programs.ts';
import { type World, worldSuite } from './world.ts';

const test = worldSuite('whose fault');

const newestError = (world: World) => String(world.events().at(-1)?.error);

test('a build that fills the disk fails because of the disk and does not count', async ({
  world,
}) => {
  const releases = join(world.root, 'apps/shop/releases');
  mkdirSync(releases, { recursive: true });
  if (!mountTiny(releases, 'size=2m')) return;
  const fill = 'build: dd if=/dev/zero of=big bs=64k 2>/dev/null\n';
  await world.push('v1', { deploy: fill });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(newestError(world), /^build: .* ended with status 1: the disk is full\n?/);
  assert.match(String(world.events().at(-1)?.cause), /^the disk is full(\n|$)/);
  assert.is(world.state().failures, null);
  spawnSync('umount', ['-l', releases]);
});

test('a missing supervisor is a fault of the server, and nothing is changed', async ({ world }) => {
  const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
  await world.push('v1', { deploy: 'start: { type: pm2, run: node server.js }\n' });
  const done = await world.deploy([], { PATH });
  assert.is(done.status, 1);
  assert.is(newestError(world), 'start: pm2 is not on PATH');
  assert.equal([world.state().failures, world.current()], [null, null]);
});

for (const [what, deploy, program, script] of [
  ['docker', 'start: { type: compose }\n', 'docker', 'test "$1" = compose -a "$2" = version'],
  ['systemd', 'start: { type: systemd, unit: shop.service }\n', 'systemctl', 'exit 1'],
  ['pm2', 'start: { type: pm2, run: node server.js }\n', 'pm2', 'exit 1'],
] as const) {
  test(`a first deploy where ${what} does not answer leaves nothing uncertain`, async ({
    world,
  }) => {
    await world.push('v1', { deploy, files: { 'compose.yaml': '' } });
    const { env, calls } = recording([program], script);
    const done = await world.deploy([], env);
    assert.is(done.status, 1, done.stderr);
    assert.is(newestError(world), `start: ${what} does not answer`);
    assert.match(done.stdout, /Nothing is active now\.\n$/);
    assert.equal([world.state().failures, world.current()], [null, null]);
    assert.not.ok(calls().some((call) => / (up|down|restart|stop|start|delete) /.test(call)));
  });
}

test('a submodule whose commit is gone is named and blamed on the commit', async ({ world }) => {
  await world.git.createRepo('acme/lib');
  await world.git.commit('acme/lib', { 'lib.txt': 'lib\n' }, 'lib');
  const gone = '4b5b'.repeat(10);
  const modules = '[submodule "lib"]\n\tpath = vendor/lib\n\turl = ../lib.git\n';
  await world.push('v1', {
    deploy: 'keep: 2\n',
    files: { '.gitmodules': modules, 'vendor/lib': { submodule: gone } },
  });
  assert.is((await world.deploy()).status, 1);
  assert.is(
    newestError(world),
    'config: the submodule vendor/lib cannot be fetched: the repository acme/lib has no commit 4b5b4b5b4b5b',
  );
  assert.is((world.state().failures as { count: number }).count, 1);
});

test('a script that names the build folder in its first line is named in the error', async ({
  world,
}) => {
  const build =
    'build: mkdir -p .venv/bin && touch .venv/bin/python && printf "#!$PWD/.venv/bin/python\\n" > .venv/bin/web && chmod +x .venv/bin/web && cp .venv/bin/web .venv/bin/fastapi && cp .venv/bin/web .venv/bin/zip\n';
  for (const more of [
    'start: { type: process, run: exec .venv/bin/web }\n',
    'hooks: { pre_switch: .venv/bin/web --migrate }\n',
  ]) {
    await world.push('v1', { deploy: `${build}${more}` });
    assert.is((await world.deploy()).status, 1);
    assert.match(
      newestError(world),
      /ended with status 12[67]: \.venv\/bin\/web has the build's folder in its first line, which no longer exists: start it with its interpreter, as in `\.venv\/bin\/python -m web`/,
    );
  }
});

test('removing an app without a stop command says that nothing was stopped', async ({ world }) => {
  await world.launch('v1', { deploy: 'start: { type: command, run: "true" }\n' });
  const done = await run('runner-remove', ['shop', '--yes'], { root: world.root });
  assert.equal(
    [done.status, done.stderr],
    [
      0,
      'runner remove: default was not stopped: its .deploy.yml has no stop command; what it started may still run\n',
    ],
  );
});

test('.deploy.yaml and similar names are pointed out', async ({ world }) => {
  for (const name of ['.deploy.yaml', 'deploy.yml']) {
    const files = { '.deploy.yml': null, '.deploy.yaml': null, [name]: 'keep: 2\n' };
    await world.git.commit('acme/shop', { VERSION: name, ...files }, name);
    const json = JSON.parse((await world.deploy(['--check', '--json'])).stdout);
    assert.equal(json.warnings, [
      `the commit has ${name}, which is not read: the name is .deploy.yml`,
    ]);
    for (const args of [[], ['--check']]) {
      const done = await world.deploy(args);
      assert.is(done.status, 0, done.stderr);
      assert.is(
        done.stderr.split('\n').find((line) => line.includes(' not read')),
        `runner deploy: the commit has ${name}, which is not read: the name is .deploy.yml`,
      );
    }
  }
});

test('an empty value in env is an empty variable', async ({ world }) => {
  await world.launch('v1', {
    deploy:
      'instances: { default: { env: { EMPTY: } } }\nbuild: test "${EMPTY-unset}" = ""\nstart: { type: none }\n',
  });
});

test('the mirror of another user is refused with the command to type', async ({ world }) => {
  if (process.geteuid?.() !== 0) return;
  await world.launch('v1', { deploy: 'keep: 2\n' });
  spawnSync('chown', ['-R', '12345', join(world.root, 'apps/shop/repo.git')]);
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.ok(
    done.stderr.includes(
      `${world.root}/apps/shop/repo.git belongs to another user (uid 12345): run the command as that user, sudo -u '#12345' runner … (git_failed)\n`,
    ),
    done.stderr,
  );
});

test.run();
