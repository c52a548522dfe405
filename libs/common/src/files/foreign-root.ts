/** Root at work in another user's root: what that user planted there would run as root. */
import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { orElse } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import { word } from '../text/shell.ts';
import { isThere, makeFolder } from './read.ts';

/**
 * The owner of a root, if root is at work in it and it is not root's own; of a root that is not there, of the
 * folder in which it would be made, and of a link, of that too.
 */
export function foreignOwner(uid: number, { root }: Paths): number | undefined {
  if (uid !== 0) return undefined;
  const link = orElse(() => lstatSync(root).uid, 0);
  return link || ownerOf(root) || undefined;
}

function ownerOf(path: string): number {
  return orElse(() => statSync(path).uid, path === '/' ? 0 : undefined) ?? ownerOf(dirname(path));
}

/**
 * Makes a folder of the audit log. Root does not in another user's root, where only the owner may make what the
 * owner's deploys need: throws `audit_unwritable`.
 */
export function makeLogFolder(paths: Paths, folder: string, mode?: number): void {
  const owner = isThere(folder) ? undefined : foreignOwner(process.geteuid?.() ?? 0, paths);
  if (owner !== undefined)
    throw new Failure('audit_unwritable', `only user ${owner} may make ${folder}`);
  makeFolder(folder, mode);
}

/** A command line and, after its options, ` -- …`. */
export interface TypedLine {
  readonly line: string;
  readonly tail?: string;
}

/** Throws `guard_tripped` with the command line that does the same as the owner, e.g. of `runner deploy shop`. */
export function refuseForeignRoot(
  { uid }: Pick<Io, 'uid'>,
  paths: Paths,
  { line, tail = '' }: TypedLine,
): void {
  const owner = foreignOwner(uid, paths);
  if (owner === undefined) return;
  const root = word(paths.root);
  throw new Failure(
    'guard_tripped',
    `${root} belongs to user ${owner}: root neither runs nor writes anything there; run: sudo -u '#${owner}' ${line} --root ${root}${tail}`,
  );
}
