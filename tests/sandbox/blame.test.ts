/** Who is to blame for a failed command: what it prints decides nothing. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { word } from '@runner/common/text/shell';
import { cleanEnvironment } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { inWorld } from '../deploys/world.ts';
import { REQUIRED, sandbox, test } from './blame.ts';

test('a sandbox that cannot be made for a command is the fault of the server, with the reason', () =>
  inWorld(async (world) => {
    const folder = temporaryFolder('path');
    const why = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted";
    // It works when it is tried, and fails where a command is to run.
    const script = `#!/bin/sh
[ "$1" = --args ] || [ "$3" = --args ] || exec /usr/bin/bwrap "$@"
echo ${word(why)} >&2; exit 1
`;
    writeFileSync(join(folder, 'bwrap'), script, { mode: 0o755 });
    await world.push('v1', { deploy: 'build: echo built\n' });
    const PATH = `${folder}:${cleanEnvironment().PATH}`;
    const done = await world.deploy([], { ...REQUIRED, PATH });
    assert.is(done.status, 1);
    const error = String(world.events().at(-1)?.error);
    assert.match(error, /^build: `echo built` could not be started in the sandbox: bwrap: /);
    assert.ok(error.includes(why), error);
    assert.is(world.state().failures, null);
  }));

test('a build without network that complains of the network is said to have none, and by which setting', () =>
  inWorld(async (world) => {
    const build = '"echo \'Could not resolve host: example.org\'; exit 6"';
    await world.push('v1', { deploy: `build: { run: ${build}, network: false }\n` });
    const done = await world.deploy([], REQUIRED);
    assert.is(done.status, 1);
    const { error, cause } = world.events().at(-1) ?? {};
    const words = 'it has no network: build.network of .deploy.yml is false';
    assert.match(String(cause), words);
    assert.match(String(error), words);
    await world.push('v2', { deploy: 'build: { run: "exit 6", network: false }\n' });
    assert.is((await world.deploy([], REQUIRED)).status, 1);
    assert.is(String(world.events().at(-1)?.error).includes('network'), false);
  }));

sandbox.run();
