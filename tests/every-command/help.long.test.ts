import { run } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allCommands } from './commands.ts';

test('-h and --help win over whatever else is wrong, and write nothing', async () => {
  const { commands } = await allCommands();
  const root = temporaryFolder('help');
  for (const { tool, words, help } of commands) {
    const ended = await run(tool, [...words, '--json', '-h', 'surplus', 'words'], { root });
    assert.equal([ended.status, ended.stdout, ended.stderr], [0, help, ''], tool);
  }
  assert.equal(tree(root), {});
});

test.run();
