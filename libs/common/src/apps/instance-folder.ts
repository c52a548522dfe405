/** Folders below that of an instance, which its app may replace by links. */
import { Folder, inFolder } from '../files/tree.ts';

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
