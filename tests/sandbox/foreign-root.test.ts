/** Root in the root of another user: every command leaves it as it is, and runs nothing that was planted there. */
import { chownSync, rmSync } from 'node:fs';
import { word } from '@runner/common/text/shell';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { foreign, OTHER, test } from './foreign-root.ts';

test('the command to type repeats the app and the flags, and no value', async () => {
  const root = temporaryFolder('foreign');
  chownSync(root, OTHER, OTHER);
  const told = async (tool: string, ...args: string[]) =>
    (await run(tool, args, { root })).stderr.replace(/^.*; run: /s, '');
  const owner = `sudo -u '#${OTHER}' runner`;
  const end = `--root ${word(root)} (guard_tripped)\n`;
  assert.is(await told('runner-deploy', 'shop', '--check'), `${owner} deploy shop --check ${end}`);
  assert.is(await told('runner-fetch', '--deploy'), `${owner} fetch --deploy ${end}`);
  const token = ['--token', 'ghx_abcdefghijkl'];
  assert.is(await told('runner-edit', 'shop', ...token), `${owner} edit shop ${end}`);
  rmSync(root, { recursive: true });
});

foreign.run();
