/** Reasons of a failure that a program does not print, but that can be seen in its release. */
import { closeSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { isThere, readRange } from '@runner/common/files/read';
import { Folder, inFolder, type Name } from '@runner/common/files/tree';
import { orElse } from '@runner/common/foundation/attempt';
import { type StepFailure, seenOnServer, withReason } from '../run/step.ts';
import { isFull } from './folder.ts';

/**
 * A failure with the reason that can be seen in the folder of its release, if there is one. Without
 * `deployId` the folder is still that of the build.
 */
export function reasoned(error: StepFailure, folder: string, deployId?: string): StepFailure {
  if (error.blame !== 'commit' || !isThere(folder)) return error;
  // A program that fails on a full disk is not the commit's fault, whatever it prints.
  if (isFull(folder) || isFull('/tmp')) return seenOnServer(error, 'the disk is full');
  if (deployId === undefined || !NOT_FOUND.test(`${error.message}\n${error.output}`)) return error;
  // What a build that goes on changes meanwhile is no reason.
  const path = orElse(() => scriptIn(folder, deployId), undefined);
  if (path === undefined) return error;
  const script = relative(folder, path);
  const python = join(dirname(script), 'python');
  const advice = isThere(join(folder, python)) ? `\`${python} -m ${basename(script)}\`` : '';
  return withReason(
    error,
    `${script} has the build's folder in its first line, which no longer exists: start it with its interpreter${advice && `, as in ${advice}`}`,
  );
}

const NOT_FOUND = /status 12[67]|not found|No such file/i;
/** How deep in a release package managers have their `bin`. */
const DEEPEST = 3;
/** No longer first line is read by the kernel, in bytes. */
const FIRST_LINE = 256;

/** Path of a script in a folder `bin` whose first line names the folder of the build. */
function scriptIn(release: string, deployId: string): string | undefined {
  return inFolder(Folder.open(release), (folder) => scriptBelow(folder, deployId, release));
}

function scriptBelow(
  folder: Folder,
  deployId: string,
  path: string,
  depth = 0,
): string | undefined {
  for (const name of folder.names()) {
    const inner = join(path, name.toString('utf8'));
    const stat = folder.stat(name);
    const isScript = () => firstLine(folder, name).includes(`/.tmp-${deployId}/`);
    if (stat?.isFile() && basename(path) === 'bin' && isScript()) return inner;
    if (!stat?.isDirectory() || depth === DEEPEST || String(name) === 'node_modules') continue;
    const found = inFolder(folder.inner(name), (below) =>
      scriptBelow(below, deployId, inner, depth + 1),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

function firstLine(folder: Folder, name: Name): string {
  const file = folder.openFile(name);
  const text = readRange(file, 0, FIRST_LINE).toString('latin1');
  closeSync(file);
  return text.startsWith('#!') ? (text.split('\n')[0] as string) : '';
}
