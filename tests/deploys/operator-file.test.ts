import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checked, edit, written } from './operator-file.ts';
import { deployFile, inWorld, type World } from './world.ts';

const without = (world: World, version: string) =>
  world.push(version, { files: { '.deploy.yml': null } });

const fileRow = async (world: World) => {
  const { stdout } = await run('runner-status', ['shop', '--offline'], { root: world.root });
  return /^ {2}file: +(.*(?:\n {10,}.*)*)/m.exec(stdout)?.[1]?.split(/\n +/) ?? [];
};

test("a commit without .deploy.yml is deployed with the operator's, which its release keeps", () =>
  inWorld(async (world) => {
    const marked = `${deployFile(world.port)}keep: 4\n`;
    await without(world, 'v1');
    const ended = await edit(world, ['--deploy-file', written(marked)]);
    const where = "(acme/shop, branch main, the operator's .deploy.yml for commits without one)";
    assert.equal([ended.status, ended.stdout], [0, `Changed shop ${where}\n`]);
    assert.equal(await checked(world), ['operator', []]);
    const deployed = await world.deploy();
    assert.is(deployed.status, 0, deployed.stderr);
    assert.is(await world.page(), 'v1');
    assert.equal(await fileRow(world), [
      "the operator's .deploy.yml, for commits without one",
      "what is active was made with the operator's",
    ]);
    // The next one starts nothing, and the rollback starts what the release was made with.
    await edit(world, ['--deploy-file', '-'], 'keep: 3\n');
    await without(world, 'v2');
    assert.is((await world.deploy()).status, 0);
    const back = await run('runner-rollback', ['shop'], { root: world.root });
    assert.is(back.status, 0, back.stderr);
    assert.is(await world.page(), 'v1');
    const files = join(world.root, 'apps/shop/files');
    const release = world.current()?.split('/').at(-1);
    assert.is(readFileSync(join(files, `${release}.deploy.yml`), 'utf8'), marked);
    await edit(world, ['--deploy-file', 'none']);
    assert.equal(await fileRow(world), [
      "the commit's own .deploy.yml from now on",
      "what is active was made with the operator's",
    ]);
    assert.equal(await checked(world), [
      null,
      ['v2 is on hold: fetch --deploy does not deploy it'],
    ]);
  }));

test.run();
