/** Removing a folder in which a program is still at work. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '@runner/deploy/release/folder';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('removing a folder');

const FOLDERS = 300;

/** Exchanges folders with links to another one, with renameat2. */
const SWAP = `
my ($folder, $target) = @ARGV;
my $call = \`uname -m\` =~ /x86_64/ ? 316 : 276;
symlink $target, "$folder/\${_}link" for 1 .. ${FOLDERS};
$| = 1;
print "ready\\n";
my $end = time + 2;
while (time < $end) {
  for (1 .. ${FOLDERS}) {
    my ($one, $other) = ("$folder/$_", "$folder/\${_}link");
    syscall $call, -100, $one, -100, $other, 2;
  }
}
`;

test('what a program that still runs puts in place of a folder is not followed', async () => {
  const top = temporaryFolder();
  const victim = join(top, 'victim');
  mkdirSync(victim);
  writeFileSync(join(victim, 'file'), '');
  chmodSync(victim, 0o750);
  const tree = join(top, 'tree');
  for (let n = 1; n <= FOLDERS; n += 1) mkdirSync(join(tree, `${n}`, 'inner'), { recursive: true });
  const swapping = spawn('perl', ['-e', SWAP, tree, victim]);
  const ended = once(swapping, 'exit');
  await once(swapping.stdout, 'data');
  removeTree(tree);
  await ended;
  assert.ok(existsSync(join(victim, 'file')));
  assert.is(statSync(victim).mode & 0o777, 0o750);
});

test('folders that no one may write or read are removed', () => {
  const top = temporaryFolder();
  const tree = join(top, 'tree');
  mkdirSync(join(tree, 'inner/closed'), { recursive: true });
  chmodSync(join(tree, 'inner/closed'), 0);
  chmodSync(join(tree, 'inner'), 0o500);
  assert.is(removeTree(tree), undefined);
  assert.not(existsSync(tree));
  assert.is(removeTree(tree), undefined);
});

test.run();
