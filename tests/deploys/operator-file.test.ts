import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, inWorld, makeWorld, type World } from './world.ts';

const without = (world: World, version: string) =>
  world.push(version, { files: { '.deploy.yml': null } });

function written(text: string): string {
  const path = join(temporaryFolder('operator'), 'shop.deploy.yml');
  writeFileSync(path, text);
  return path;
}

const edit = ({ root }: World, args: readonly string[], stdin = '') =>
  run('runner-edit', ['shop', ...args], { root, stdin });

const fileRow = async (world: World) => {
  const { stdout } = await run('runner-status', ['shop', '--offline'], { root: world.root });
  return /^ {2}file: +(.*(?:\n {10,}.*)*)/m.exec(stdout)?.[1]?.split(/\n +/) ?? [];
};

const checked = async (world: World) => {
  const { stdout } = await world.deploy(['--check', '--json']);
  const { deploy_file_from: from, warnings } = JSON.parse(stdout) as Record<string, unknown>;
  return [from, warnings];
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
    assert.equal(await checked(world), [null, []]);
  }));

test("the commit's own .deploy.yml counts unless the operator's wins", () =>
  inWorld(async (world) => {
    await world.push('v1');
    await edit(world, ['--deploy-file', '-'], 'keep: 3\n');
    const note = "the commit's own .deploy.yml counts, not the one of runner edit --deploy-file";
    assert.equal(await checked(world), ['commit', [note]]);
    const ended = await edit(world, ['--deploy-file-wins', '--json']);
    assert.is((JSON.parse(ended.stdout) as Record<string, unknown>).deploy_file, 'wins');
    assert.equal(await checked(world), ['operator', []]);
    // The file of the commit is not even read.
    await world.push('v2', { deploy: 'nonsense: true\n' });
    assert.equal(await checked(world), ['operator', []]);
  }));

test('a file that runner would refuse is not stored, and says where it is wrong', async () => {
  const world = await makeWorld();
  const before = world.state();
  const wrong = written('keep: 3\nbuild:\n  timeout: 0s\n');
  for (const [args, stdin, words] of [
    [['--deploy-file', wrong], '', `${wrong}:3: build.timeout: must be longer than 0`],
    [['--deploy-file', '-'], 'keeps: 3\n', 'standard input:1: '],
    [['--deploy-file', '-'], ' \n', 'standard input is empty (deploy_file_invalid)'],
    [['--deploy-file', '/none/such'], '', 'there is no file /none/such (file_unreadable)'],
    [['--deploy-file-wins'], '', '--deploy-file <FILE>'],
  ] as const) {
    const ended = await edit(world, args, stdin);
    assert.ok(ended.status !== 0 && ended.stderr.includes(words), ended.stderr);
    assert.equal([ended.stdout, world.state()], ['', before]);
  }
  await world.close();
});

test.run();
