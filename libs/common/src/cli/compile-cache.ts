/** Node's compile cache (22.8 and later) for the files of dist/lib. */
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../foundation/attempt.ts';
import type { Io } from '../foundation/io.ts';

/** Mode bits: writable by group or others. */
const OTHERS = 0o022;

/** Nothing is cached if another user could write there: Node runs what the cache holds. */
export function enableCompileCache({ env: { HOME }, uid }: Pick<Io, 'env' | 'uid'>): void {
  const all: object = process.getBuiltinModule('node:module');
  const { enableCompileCache: enable }: { enableCompileCache?(folder: string): unknown } = all;
  if (!enable || !HOME || !existsSync(HOME)) return;
  const folders = [HOME, join(HOME, '.cache'), join(HOME, '.cache/runner')] as const;
  if (folders.every((folder) => isOwn(folder, uid))) enable(folders[2]);
}

/** Whether only this user can write there, or it does not exist. */
function isOwn(folder: string, uid: number): boolean {
  return orElse(() => {
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (stat === undefined) return true;
    return stat.isDirectory() && stat.uid === uid && (stat.mode & OTHERS) === 0;
  }, false);
}
