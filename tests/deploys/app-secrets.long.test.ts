/** The secrets of an app: stored sealed, given to what may have them, and shown nowhere. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from '@runner/testing/cleanup';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { recording } from './fake-programs.ts';
import { deployFile, type World, worldSuite } from './world.ts';

const test = worldSuite('secrets of apps');

const VALUES: Readonly<Record<string, string>> = {
  PASSWORD: 'pa$$w0rd="quoted" \'single\' `tick` \\back=$HOME',
  PEM: '-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUXzplanted1\n-----END CERTIFICATE-----\n',
  LONG: 'xY7-'.repeat(16_384),
  UNICODE: 'grüße 🦊 for the twelve',
  PORTAL: 'short',
};

const env = (world: World, args: readonly string[], stdin = '') =>
  run('runner-env', args, { root: world.root, stdin });

async function setAll(world: World): Promise<void> {
  for (const [name, value] of Object.entries(VALUES)) {
    const done = await env(world, ['set', 'shop', name, '--file', '-'], value);
    assert.is(done.status, 0, done.stderr);
  }
}

/** The environment that a step of the app wrote into its shared folder. */
function environment(world: World, file: string): Map<string, string> {
  const path = join(world.root, 'apps/shop/instances/default/shared', file);
  const entries = readFileSync(path, 'utf8').split('\0').filter(Boolean);
  return new Map(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}

/** Every file under a folder. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const DUMP = 'cat /proc/self/environ > "$RUNNER_SHARED/$0"';
const dumping = (port: number, more = '') =>
  `${deployFile(port, more).replace(
    'exec node server.js',
    `"mkdir -p $RUNNER_SHARED; sh -c 'cat /proc/self/environ > $RUNNER_SHARED/app'; exec node server.js"`,
  )}shared: [kept/]\n`;

test('reach the app and its hooks byte for byte, and no file, output or build', async ({
  world,
}) => {
  await setAll(world);
  const hook = `sh -c '${DUMP}' hook; printf "%s\\\\n" "$PASSWORD" "$PEM"`;
  await world.push('v1', {
    deploy: dumping(
      world.port,
      `build: { run: "mkdir -p $RUNNER_SHARED; sh -c 'cat /proc/self/environ > $RUNNER_SHARED/build'", env: [PORTAL] }
hooks: { pre_switch: ${JSON.stringify(hook)} }
`,
    ),
  });
  const deployed = await world.deploy(['--verbose']);
  assert.is(deployed.status, 0, deployed.stderr);
  for (const step of ['app', 'hook'])
    for (const [name, value] of Object.entries(VALUES))
      assert.is(environment(world, step).get(name), value, `${name} in ${step}`);
  const build = environment(world, 'build');
  assert.equal(
    [...build.keys()].filter((name) => name in VALUES),
    ['PORTAL'],
  );
  const listed = await env(world, ['list', 'shop', '--json']);
  assert.ok(JSON.parse(listed.stdout).secrets.every((each: { applied: boolean }) => each.applied));
  const outputs = [deployed.stdout, deployed.stderr, listed.stdout];
  const files = filesBelow(world.root).filter((path) => !path.includes('/shared/'));
  const texts = [...outputs, ...files.map((path) => readFileSync(path, 'latin1'))];
  const planted = ['pa$$w0rd', 'MIIBszCCAVmgAwIBAgIUXzplanted1', 'xY7-xY7-xY7', 'for the twelve'];
  for (const value of planted)
    assert.equal(
      texts.filter((text) => text.includes(value)),
      [],
      value,
    );
  assert.match(deployed.stderr, /\[REDACTED\]/);
});

test('are listed by fingerprint, changed and removed, and refused when they cannot be', async ({
  world,
}) => {
  const dotenv = `# comment
export A_KEY=plain value # why
B_KEY='single $x "y" \\n'
C_KEY="two\\nlines \\"and\\" \\$z
third"
EMPTY=
`;
  const imported = await env(world, ['import', 'shop', '--json'], dotenv);
  assert.is(imported.status, 0, imported.stderr);
  assert.is(JSON.parse(imported.stdout).secrets.length, 4);
  const again = await env(world, ['set', 'shop', 'D_KEY', '--file', '-'], 'single $x "y" \\n\n');
  assert.match(
    again.stdout,
    /^Set D_KEY \(ev_[0-9a-f]{4}…[0-9a-f]{4}\) of shop; applied by its next/,
  );
  const { secrets } = JSON.parse((await env(world, ['list', 'shop', '--json'])).stdout);
  const print = (name: string) =>
    secrets.find((each: { name: string }) => each.name === name).fingerprint;
  assert.is(print('B_KEY'), print('D_KEY'));
  assert.is.not(print('A_KEY'), print('D_KEY'));
  assert.is(statSync(join(world.root, 'secrets/shop.json')).mode & 0o777, 0o600);
  assert.is((await env(world, ['unset', 'shop', 'A_KEY', 'NONE'])).status, 1);
  assert.is((await env(world, ['unset', 'shop', 'A_KEY', 'D_KEY'])).status, 0);
  assert.match(
    (await env(world, ['list', 'shop'])).stdout,
    /^NAME .*\nB_KEY .*\nC_KEY .*\nEMPTY .*\n$/,
  );
  await world.launch('v1');
  const early = await env(world, ['set', 'shop', 'E', '--instance', 'wbe', '--file', '-'], 'x');
  assert.match(early.stderr, /'shop' has no instance 'wbe' yet; it has: default\n/);
  const refused: [string[], string, RegExp][] = [
    [['set', 'shop', 'NOT-A-NAME', '--file', '-'], 'x', /NAME/],
    [['set', 'shop', 'RUNNER_APP', '--file', '-'], 'x', /RUNNER_/],
    [['set', 'shop', 'BIG', '--file', '-'], 'x'.repeat(65_537), /64 KiB/],
    [['set', 'shop', 'BIG'], 'x', /not a terminal/],
    [['import', 'shop'], 'GOOD=1\nsecret words here\n', /^error: line 2 is not NAME=value\n$/],
    [['list', 'ship'], '', /app_not_found/],
  ];
  for (const [args, stdin, message] of refused) {
    const done = await env(world, args, stdin);
    assert.is.not(done.status, 0, args.join(' '));
    assert.match(done.stderr, message);
  }
});

test('a restart that cannot begin hides not that the secret was set', async ({ world }) => {
  const args = ['set', 'shop', 'NEW_KEY', '--file', '-', '--restart', '--json'];
  const { status, stdout } = await env(world, args, 'some-value-abc-123');
  const { error, message, result, secrets } = JSON.parse(stdout);
  assert.equal(
    [status, error, result, secrets[0].name],
    [1, 'version_not_found', 'set', 'NEW_KEY'],
  );
  assert.match(message, /^NEW_KEY was set, but not restarted: nothing of 'shop' is active/);
  assert.match((await env(world, ['list', 'shop'])).stdout, 'NEW_KEY');
});

test('an automatic rollback restores the values that ran, one by hand uses those of today', async ({
  world,
}) => {
  const set = (value: string) => env(world, ['set', 'shop', 'MODE', '--file', '-'], value);
  await set('one');
  await world.launch('v1', { deploy: dumping(world.port) });
  await set('two');
  const bad = dumping(world.port, 'hooks: { pre_switch: "true" }\n').replace(
    'within: 60s',
    'within: 1s',
  );
  await world.push('v2', { health: 500, deploy: bad });
  assert.is((await world.deploy()).status, 1);
  assert.is(environment(world, 'app').get('MODE'), 'one');
  await world.launch('v3', { deploy: dumping(world.port) });
  assert.is(environment(world, 'app').get('MODE'), 'two');
  await set('three');
  const rekeyed = await run('runner-tokens', ['rekey'], { root: world.root });
  assert.match(rekeyed.stdout, /^Re-encrypted 1 token\(s\) and 2 secret\(s\) with the key/);
  const back = await run('runner-rollback', ['shop', '--no-notify'], { root: world.root });
  assert.is(back.status, 0, back.stderr);
  assert.is(environment(world, 'app').get('MODE'), 'three');
});

test('a secret that build.env names must be set', async ({ world }) => {
  await world.push('v1', { deploy: 'build: { run: "true", env: [NPM_TOKEN] }\n' });
  const failed = await world.deploy();
  assert.match(
    failed.stderr,
    /build\.env lists NPM_TOKEN, which is not set: run runner env set shop/,
  );
  assert.is(world.state().failures, null);
  const checked = await world.deploy(['--check', '--json']);
  assert.match(JSON.parse(checked.stdout).problems[0], /^build: build\.env lists NPM_TOKEN/);
});

test('a unit gets them from a file in memory that a reboot or a removal deletes', async ({
  world,
}) => {
  const runtime = `/dev/shm/runner-test-${process.pid}`;
  mkdirSync(runtime, { mode: 0o700 });
  atExit(() => rmSync(runtime, { recursive: true, force: true }));
  const { env: path } = recording(
    ['systemctl', 'journalctl'],
    'case "$*" in *is-active*) echo active ;; esac',
  );
  const given = { ...path, XDG_RUNTIME_DIR: runtime };
  await setAll(world);
  await world.push('v1', { deploy: 'start: { type: systemd, unit: shop.service }\n' });
  const deployed = await world.deploy([], given);
  assert.is(deployed.status, 0, deployed.stderr);
  const [file] = filesBelow(runtime);
  assert.match(String(file), /\/runner\/[0-9a-f]{8}\/shop\/default\.env$/);
  assert.is(statSync(String(file)).mode & 0o777, 0o600);
  const written = readFileSync(String(file), 'utf8');
  assert.match(
    written,
    /^PASSWORD="pa\\\$\\\$w0rd=\\"quoted\\" 'single' `tick` \\\\back=\\\$HOME"$/m,
  );
  rmSync(join(runtime, 'runner'), { recursive: true });
  const made = await run('runner-env', ['files', '--json'], { root: world.root, env: given });
  assert.equal(JSON.parse(made.stdout).files, [{ app: 'shop', instance: 'default', path: file }]);
  assert.is(readFileSync(String(file), 'utf8'), written);
  const removed = await run('runner-remove', ['shop', '--yes'], { root: world.root, env: given });
  assert.is(removed.status, 0, removed.stderr);
  assert.equal(filesBelow(runtime), []);
  assert.equal(readdirSync(join(world.root, 'secrets')), []);
});

test.run();
