import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { executable, run, shell, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { recording } from './fake-programs.ts';
import { deployFile, type World, worldSuite } from './world.ts';

const test = worldSuite('deploy --check: programs and ports');

const problems = async (world: World, args: readonly string[] = ['shop']) => {
  const { stdout } = await run('runner-deploy', [...args, '--check', '--json'], {
    root: world.root,
  });
  return JSON.parse(stdout).problems as string[];
};

test('programs of build, hooks, health and start that are missing are named once each', async ({
  world,
}) => {
  await world.push('v1', {
    deploy: `build:
  - CI=1 nomake all && env nonpm ci; nomake again
  - if test -e x; then nocargo build; else echo 'nope | nopipe'; fi
  - ./made && make-it() { nofunc; } || "nospace" x
  - for each in noitem; do ( nosub ); done | nopipe
  - export PATH="$PWD/bin:$PATH"; nounknown
  - echo x >&2; printf y >> nofile 2>&1 | sort < noinput
  - case x in ${'true|'.repeat(60)}true
  - true ${'>'.repeat(30_000)}
hooks: { on_failure: nomail -s x ops }
health: { cmd: nocurl -f localhost }
start:
  type: process
  run: |
    case "$RUNNER_INSTANCE" in
      web|api) exec nogunicorn app ;;
      *) exec noworker ;;
    esac
`,
  });
  assert.equal(await problems(world), [
    'build: nomake is not on PATH',
    'build: nonpm is not on PATH',
    'build: nocargo is not on PATH',
    'build: nosub is not on PATH',
    'build: nopipe is not on PATH',
    'on_failure: nomail is not on PATH',
    'health: nocurl is not on PATH',
    'start: nogunicorn is not on PATH',
    'start: noworker is not on PATH',
  ]);
});

test('a paused app is warned of, unless the deploy would be forced', async ({ world }) => {
  await world.push('v1');
  await run('runner-pause', ['shop', '--reason', 'sale'], world);
  const warnings = async (...more: string[]) =>
    JSON.parse((await world.deploy(['--check', '--json', ...more])).stdout).warnings;
  assert.equal(await warnings(), ['shop is paused by root: sale: runner resume shop first']);
  assert.equal(await warnings('--force'), []);
  const answered = await world.deploy(['--check', '--migrated', 'yes']);
  assert.is(answered.status, 2);
  assert.match(answered.stderr, '--migrated answers for a migration that was killed, and none of');
});

test('scripts that go on after a line that fails are warned of', async ({ world }) => {
  await world.push('v1', {
    deploy: `build:
  - |
    npm ci
    npm run build
  - |
    set -e
    true
    true
hooks:
  pre_build: |
    if true
    then exit 1
    fi
  post_build: |
    true &&
      true | cat \\
      -
  pre_switch: |
    # The key isn't in the cache.
    true && # then
      node -e "
        console.log('a \\" b');
      "
  post_deploy: |
    set -u -o errexit
    true
    true
jobs: { nightly: { run: "first\\nsecond", every: 1h } }
`,
  });
  const { stdout } = await run('runner-deploy', ['shop', '--check', '--json'], {
    root: world.root,
  });
  const { warnings } = JSON.parse(stdout) as { warnings: string[] };
  assert.equal(
    warnings.filter((each) => each.includes('set -e')),
    ['build', 'jobs.nightly'].map(
      (place) => `${place}: a line that fails does not end it: begin it with set -e`,
    ),
  );
});

test('a port that something else listens on is named; the own one is not', async ({ world }) => {
  await world.push('v1');
  const stranger = createServer().listen(world.port, '127.0.0.1');
  await new Promise((resolve) => stranger.once('listening', resolve));
  assert.equal(await problems(world), [`port ${world.port} of default is used by another program`]);
  await new Promise((resolve) => stranger.close(resolve));
  assert.equal(await problems(world), []);
  assert.is((await world.deploy()).status, 0);
  assert.equal(await problems(world), []);
});

test('health.url expands $NAME like a shell, and an invalid address is reported with its line', async ({
  world,
}) => {
  const braces = deployFile(world.port);
  await world.launch('v1', { deploy: braces.replace('${PORT}', '$PORT') });
  await world.push('v2', { deploy: braces.replace('${PORT}', '$PROT') });
  const wrong = await world.deploy(['--check']);
  assert.match(
    wrong.stderr,
    /\.deploy\.yml:3: health\.url: uses \$PROT, which the env of default does not set \(deploy_file_invalid\)\n$/,
  );
  await world.push('v3', { deploy: braces.replace('${PORT}', '99999') });
  const invalid = await world.deploy(['--check']);
  assert.match(
    invalid.stderr,
    /health\.url: http:\/\/127\.0\.0\.1:99999\/health is not an address/,
  );
});

/** Runs a deploy with a list of units at the place of the packages, if this test may mount. */
async function deployWithUnits(world: World, units: string, systemctl: string, args = '') {
  const etc = temporaryFolder('etc');
  const { env, calls } = recording(['systemctl'], systemctl);
  const deploy = `exec ${shellWord(executable('runner-deploy'))} shop ${args}`;
  const script = `cp -a /etc/. '${etc}' && mkdir -p '${etc}/runner' && echo '${units}' >'${etc}/runner/units' &&
    exec unshare --mount sh -c ${shellWord(`mount --bind ${shellWord(etc)} /etc && ${deploy}`)}`;
  return { ...(await shell(script, { root: world.root, env })), calls };
}
const mayMount = spawnSync('unshare', ['--mount', 'true']).status === 0;

test('a unit that /etc/runner/units does not name is a problem, and nothing is touched', async ({
  world,
}) => {
  if (!mayMount) return;
  const unit = 'start: { type: systemd, unit: shop@.service }\n';
  await world.push('v1', { deploy: unit });
  const refusing =
    'case "$*" in *is-active*) echo active ;; *reset-failed*) echo "Interactive authentication required." >&2; exit 1 ;; esac';
  const words =
    'start: /etc/runner/units does not list shop@default.service, so runner may not restart it:';
  const checked = await deployWithUnits(world, 'other.service', refusing, '--check --json');
  assert.match(checked.stdout, /^\{/, checked.stderr);
  assert.equal(JSON.parse(checked.stdout).problems, [`${words} sudo runner setup shop`]);
  const done = await deployWithUnits(world, 'other.service', refusing);
  assert.is(done.status, 1, done.stderr);
  assert.is(
    world.events().at(-1)?.error,
    `${words} echo shop@default.service | sudo tee -a /etc/runner/units`,
  );
  assert.equal([world.state().failures, world.current()], [null, null]);
  assert.not.ok(done.calls().some((call) => / (restart|stop) /.test(call)));
  // The list is not the only way to be allowed.
  assert.is((await deployWithUnits(world, 'other.service', 'echo active')).status, 0);
  const listed = await deployWithUnits(world, 'shop@.service', refusing, '--check --json');
  assert.equal(JSON.parse(listed.stdout).problems, []);
});

test('systemd that refuses a restart makes the error name /etc/runner/units', async ({ world }) => {
  await world.push('v1', { deploy: 'start: { type: systemd, unit: shop.service }\n' });
  const { env } = recording(
    ['systemctl'],
    'case "$*" in *is-active*) echo inactive ;; *restart*) echo "Interactive authentication required." >&2; exit 1 ;; esac',
  );
  await world.deploy([], env);
  assert.match(
    String(world.events().at(-1)?.error),
    /^start: `systemctl restart shop\.service` ended with status 1: does \/etc\/runner\/units list shop\.service\?\n/,
  );
});

test.run();
