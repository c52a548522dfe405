/** Folders below that of an instance, which its app may replace by links. */
import { basename, dirname } from 'node:path';
import { Folder, inFolder } from '../files/tree.ts';
import { writeWhole } from '../files/write.ts';
import { failureIn } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';

/** The folder of an instance itself is trusted, and may be on another disk. */
const INSTANCE = /^(.*\/apps\/[^/]+\/instances\/[^/]+)\/(.+)$/;

/**
 * Opens a folder; below that of an instance no link is followed. Throws the error of the operating
 * system: ENOTDIR for a link.
 */
export function openBelowInstance(path: string): Folder {
  const [, instance, below] = INSTANCE.exec(path) ?? [];
  if (instance === undefined || below === undefined) return Folder.open(path);
  return inFolder(Folder.open(instance), (folder) => folder.below(below.split('/')));
}

/** `writeWhole` in a folder below that of an instance. */
export function writeBelowInstance(path: string, data: string, mode = 0o600): void {
  inFolder(openBelowInstance(dirname(path)), (folder) => {
    const held = String(folder.path(basename(path)));
    const failure = failureIn(() => writeWhole(held, data, mode));
    if (failure)
      throw new Failure(failure.code, failure.message.replace(held, path), failure.facts, failure);
  });
}
