/** Deploys whose commands run in the sandbox. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { word } from '@runner/common/text/shell';
import { processesIn } from '@runner/testing/processes';
import { cleanEnvironment, run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { inWorld } from '../deploys/world.ts';
import { build, deploys, logOf, REQUIRED, test } from './deploys.ts';

test('a build writes its release, the shared files, /tmp and a HOME of its own, and sees nothing else of the root', () =>
  inWorld(async (world) => {
    const deploy = build(`set -e
echo built > made; echo kept > "$RUNNER_SHARED/kept"; echo x > /tmp/x; echo y > ~/y; cat /dev/null
root=${word(world.root)}
for each in "$root/x" "$root/state/x" /etc/x; do ! touch "$each"; done
ls -A "$root" "$root/apps/shop"
cat /tmp/x; ! ls /proc/${process.pid}`);
    await world.push('v1', { deploy });
    assert.is((await world.deploy([], REQUIRED)).status, 0);
    const log = logOf(world);
    assert.match(log, /root:\napps\n\n.*apps\/shop:\nhome\ninstances\nreleases\nx\n/);
    const app = join(world.root, 'apps/shop');
    assert.is(readFileSync(join(app, 'instances/default/current/made'), 'utf8'), 'built\n');
    assert.is(readFileSync(join(app, 'instances/default/shared/kept'), 'utf8'), 'kept\n');
    assert.not(existsSync(join(app, 'home/y')));
    assert.equal(readdirSync(join(app, 'releases')).length, 1);
  }));

test('a cancelled build gets SIGTERM, and what it started ends with it', () =>
  inWorld(async (world) => {
    const script =
      'trap "echo was asked to end; exit 3" TERM\nsetsid sleep 4711 & echo begun; wait';
    await world.push('v1', { deploy: build(script) });
    const running = start('runner-deploy', ['shop', '--verbose'], {
      root: world.root,
      env: REQUIRED,
      stdin: '',
    });
    await until(() => running.stderr().includes('begun'), 'the build has not begun');
    process.kill(running.pid, 'SIGTERM');
    assert.is((await running.done).status, 143);
    assert.match(logOf(world), 'was asked to end');
    // As /proc writes a command line.
    assert.equal(processesIn('sleep\x004711'), []);
  }));

deploys('where bubblewrap cannot run, auto says so once in the log, and required refuses', () =>
  inWorld(async (world) => {
    const folder = temporaryFolder('path');
    const why = 'bwrap: No permissions to create new namespace';
    writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\necho '${why}' >&2; exit 1\n`, { mode: 0o755 });
    await world.push('v1', { deploy: 'build: [echo one, echo two]\n' });
    const PATH = `${folder}:${cleanEnvironment().PATH}`;
    assert.is((await world.deploy([], { RUNNER_SANDBOX: 'auto', PATH })).status, 0);
    const note = `no sandbox: bubblewrap cannot run here: ${why}`;
    assert.is(logOf(world).split(note).length, 2);
    const config = `code_host_git_url: ${world.git.url}\nsandbox: required\n`;
    writeFileSync(join(world.root, 'config.yml'), config);
    const refused = await world.deploy([], { PATH });
    assert.is(refused.status, 1);
    assert.match(refused.stderr, `requires a sandbox, and bubblewrap cannot run here: ${why}`);
    assert.match(refused.stderr, /\(sandbox_unavailable\)\n$/);
  }),
);

test('no secret is in a command line or in a named file', () =>
  inWorld(async (world) => {
    const secret = 'launch-key-0123456789';
    const set = ['set', 'shop', 'LD_SDK_KEY', '--file', '-'];
    await run('runner-env', set, { root: world.root, stdin: secret });
    await world.push('v1');
    assert.is((await world.deploy([], REQUIRED)).status, 0);
    const lines = processesIn(world.root).map(({ command }) => command);
    assert.ok(
      lines.some((line) => line.includes('server.js')),
      lines.join('\n'),
    );
    assert.not(lines.some((line) => line.includes(secret)));
    assert.equal(
      readdirSync('/dev/shm').filter((name) => name.startsWith('.runner-')),
      [],
    );
  }));

deploys.run();
