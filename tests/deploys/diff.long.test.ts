/** `runner diff`: what differs in two versions beyond their commits. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployed, diff } from './diff.ts';
import { inWorld } from './world.ts';

const test = suite('the difference of two versions');

test('says of a version that is not kept what it cannot know', () =>
  inWorld(async (world) => {
    const bad = await diff(world);
    assert.is(bad.status, 1);
    assert.match(bad.stderr, /nothing of 'shop' is deployed yet: give two versions/);
    await world.push('v1', { deploy: 'keep: 5\n' });
    await deployed(world, 'v2', 'keep: 5\n', {});
    const { status, stdout, stderr } = await diff(world, 'v1');
    assert.is(status, 0, stderr);
    assert.match(stdout, /^\.deploy\.yml: the same$/m);
    assert.match(stdout, /^secrets: not known, a version is not kept$/m);
    assert.is((await diff(world, 'nope')).status, 1);
  }));

test.run();
