/** Reasons of a failure that a program does not print, but that can be seen in its release. */
import { closeSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { isThere, readRange } from '@runner/common/files/read';
import { Folder, inFolder, type Name } from '@runner/common/files/tree';
import { orElse } from '@runner/common/foundation/attempt';
import { type StepFailure, withEnding, withSeen } from '../run/step.ts';
import { isFull } from './folder.ts';

/**
 * A failure with the reason that can be seen in the folder of its release, if there is one. Without
 * `deployId` the folder is still that of the build.
 */
export function reasoned(error: StepFailure, folder: string, deployId?: string): StepFailure {
  if (error.blame !== 'commit' || !isThere(folder)) return error;
  // A program that fails on a full disk is not the commit's fault, whatever it prints.
  const full = 'the disk is full';
  if (isFull(folder) || isFull('/tmp'))
    return withSeen(withEnding(error, `: ${full}`, 'server'), full);
  const said = `${error.message}\n${error.output}`;
  if (deployId === undefined || !NOT_FOUND.test(said)) return error;
  // What a build that goes on changes meanwhile is no reason.
  const read = () => inFolder(Folder.open(folder), (top) => scriptsBelow(top, deployId, folder));
  const found = orElse(read, []);
  const words = new Set(said.split(/[^\w.-]+/));
  const path = found.find((each) => words.has(basename(each))) ?? found[0];
  if (path === undefined) return error;
  const script = relative(folder, path);
  const python = join(dirname(script), 'python');
  const advice = isThere(join(folder, python)) ? `\`${python} -m ${basename(script)}\`` : '';
  return withEnding(
    error,
    `: ${script} has the build's folder in its first line, which no longer exists: start it with its interpreter${advice && `, as in ${advice}`}`,
  );
}

const NOT_FOUND = /status 12[67]|not found|No such file/i;
/** How deep in a release package managers have their `bin`. */
const DEEPEST = 3;
/** No longer first line is read by the kernel, in bytes. */
const FIRST_LINE = 256;

/** Paths of the scripts in folders `bin` whose first line names the folder of the build. */
function scriptsBelow(folder: Folder, deployId: string, path: string, depth = 0): string[] {
  return folder.names().flatMap((name) => {
    const inner = join(path, name.toString('utf8'));
    const stat = folder.stat(name);
    if (stat?.isFile() && basename(path) === 'bin')
      return firstLine(folder, name).includes(`/.tmp-${deployId}/`) ? [inner] : [];
    if (!stat?.isDirectory() || depth === DEEPEST || String(name) === 'node_modules') return [];
    return inFolder(folder.inner(name), (below) => scriptsBelow(below, deployId, inner, depth + 1));
  });
}

function firstLine(folder: Folder, name: Name): string {
  const file = folder.openFile(name);
  const text = readRange(file, 0, FIRST_LINE).toString('latin1');
  closeSync(file);
  return text.startsWith('#!') ? (text.split('\n')[0] as string) : '';
}
