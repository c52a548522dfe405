/** Servers on which bubblewrap cannot run, and what lets it. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sandboxFix, sandboxObstacle } from '@runner/deploy/sandbox/probe';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { recording } from '../deploys/fake-programs.ts';
import { inWorld } from '../deploys/world.ts';

test('the setting of the kernel that forbids user namespaces is named with what changes it', () => {
  const having = (settings: Record<string, string>) => (name: string) => settings[name];
  for (const [name, closed, fix] of [
    ['kernel.apparmor_restrict_unprivileged_userns', '1', 'sudo /usr/lib/runner/setup profile'],
    ['kernel.unprivileged_userns_clone', '0', 'sudo sysctl -w kernel.unprivileged_userns_clone=1'],
    ['user.max_user_namespaces', '0', 'sudo sysctl -w user.max_user_namespaces=15000'],
  ] as const) {
    const read = having({ 'user.max_user_namespaces': '63000', [name]: closed });
    const words = `the kernel forbids user namespaces (${name}=${closed})`;
    assert.equal(sandboxObstacle(read), { words, fix });
    assert.is(sandboxFix(true, read), fix);
  }
  assert.is(sandboxObstacle(having({ 'user.max_user_namespaces': '63000' })), undefined);
  assert.is(sandboxFix(false), 'sudo apt-get install bubblewrap');
});

test('only the first deploy of an app says that its commands run without a sandbox', () =>
  inWorld(async (world) => {
    const { env } = recording(
      ['bwrap'],
      'echo "setting up uid map: Permission denied" >&2; exit 1',
    );
    const auto = { ...env, RUNNER_SANDBOX: 'auto' };
    await world.push('v1', { deploy: 'build: "true"\n' });
    const words =
      /the commands of shop run without a sandbox .*bubblewrap cannot run here: .*: \S+/;
    assert.match((await world.deploy([], auto)).stderr, words);
    await world.push('v2', { deploy: 'build: "true"\n' });
    const second = await world.deploy([], auto);
    assert.is(second.status, 0);
    assert.not.match(second.stderr, /without a sandbox/);
  }));

test('the profile of AppArmor is accepted by its parser', () => {
  const parser = spawnSync('apparmor_parser', ['--version'], { encoding: 'utf8' });
  if (parser.error) return;
  let folder = __dirname;
  while (!existsSync(join(folder, 'pnpm-workspace.yaml'))) folder = dirname(folder);
  const text = readFileSync(join(folder, 'packaging/apparmor/runner-bwrap'), 'utf8');
  const whole = text.replaceAll('@LIBDIR@', '/usr/lib/runner');
  // A parser before version 4 knows no user namespaces; the package leaves the profile out there.
  const isOld = /version [0-3]\./.test(parser.stdout);
  const known = isOld ? whole.replace(/^abi .*|^ *userns,$/gm, '') : whole;
  const path = join(temporaryFolder('apparmor'), 'runner-bwrap');
  writeFileSync(path, known);
  const { status, stderr } = spawnSync(
    'apparmor_parser',
    ['--skip-kernel-load', '--skip-cache', path],
    { encoding: 'utf8' },
  );
  assert.is(status, 0, stderr);
});

test.run();
