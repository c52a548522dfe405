/** Reasons of a failure that a program does not print, but that can be seen in its release. */
import { closeSync, openSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { isThere, readRange } from '@runner/common/files/read';
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
  const path = scriptIn(folder, deployId);
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

/** A script in a folder `bin` whose first line names the folder of the build. */
function scriptIn(folder: string, deployId: string, depth = 0): string | undefined {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const isScript = () => firstLine(path).includes(`/.tmp-${deployId}/`);
    if (entry.isFile() && basename(folder) === 'bin' && isScript()) return path;
    if (!entry.isDirectory() || depth === DEEPEST || entry.name === 'node_modules') continue;
    const found = scriptIn(path, deployId, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function firstLine(path: string): string {
  const file = openSync(path, 'r');
  const text = readRange(file, 0, FIRST_LINE).toString('latin1');
  closeSync(file);
  return text.startsWith('#!') ? (text.split('\n')[0] as string) : '';
}
