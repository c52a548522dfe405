import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checked, edit, written } from './operator-file.ts';
import { inWorld, makeWorld } from './world.ts';

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
