import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { init, scratches } from './init.ts';
import { inWorld } from './world.ts';

const WITHOUT = { 'package.json': null, '.deploy.yml': null } as const;

test('the head of an app is proven on the server, and deployed with the file that is kept there', () =>
  inWorld(async (world) => {
    await world.push('v1', { files: WITHOUT });
    const ended = await init(world, ['--yes'], join(scratches, 'none'));
    assert.is(ended.status, 0, ended.stderr);
    assert.match(ended.stdout, /^Wrote the operator's \.deploy\.yml of shop\. Proven: /);
    // Where other apps have their temporary files, they could change what is proven.
    assert.equal(readdirSync(scratches), []);
    assert.not.match(readdirSync(world.root).join(), /init/);
    const check = await world.deploy(['--check', '--json']);
    const plan = JSON.parse(check.stdout) as Record<string, unknown>;
    assert.equal([plan.deploy_file_from, plan.start], ['operator', 'process']);
    // Nothing of the proof is in the root.
    assert.equal([world.current(), world.kinds()], [null, []]);
  }));

test.run();
