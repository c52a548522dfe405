/** Moves a staged backup into the root; the state last, so that there are no apps until it is complete. */
import { join } from 'node:path';
import { readTextIfThere } from '@runner/common/files/read';
import { type Folder, inFolder, isName, type Name } from '@runner/common/files/tree';
import { removeEntry } from '@runner/common/files/tree-change';
import { writeWhole } from '@runner/common/files/write';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { namesOf, textOfBytes } from './tar.ts';

/** Where a backup is unpacked, below the root. */
export const STAGE = '.restore';
/** Where restored units are, below the root. */
export const UNITS = 'restored-units';
/** Lists what is being moved, as byte strings, so that the next restore can remove it. */
const PLACING = '.restore-placing.json';
const LIST_MAX = 67_108_864;

/** What a fresh installation, or a disk of its own, has. */
const FRESH = 'agent apps fleet locks logs lost+found plans secrets spool state view'.split(' ');

/** Throws `root_in_use` unless the root is empty or freshly installed. */
export function requireUnused(root: Folder, { root: path }: Paths): void {
  const used = usedBy(root);
  if (used === undefined) return;
  throw new Failure(
    'root_in_use',
    `the root ${path} is in use, it has ${textOfBytes(used)}: restore into an empty one`,
  );
}

/** A byte string; undefined if there is nothing. */
function usedBy(root: Folder): string | undefined {
  const names = namesIn(root, []);
  // What is done below a link would be done elsewhere.
  const isPlain = (name: string) => FRESH.includes(name) && root.stat(name)?.isDirectory();
  const files = ['config.yml', 'mkey', UNITS].filter((name) => names.includes(name));
  const folders = FRESH.filter((name) => names.includes(name) && !isPlain(name));
  const found = ['state', 'secrets', 'apps'].filter(isPlain).flatMap((folder) =>
    namesIn(root, [folder])
      .filter((name) => !name.startsWith('.'))
      .map((name) => `${folder}/${name}`),
  );
  const others = names.filter((name) => !FRESH.includes(name) && !isOurs(name));
  return [...files, ...folders, ...found, ...(isPlain('logs') ? logsIn(root) : []), ...others][0];
}

function logsIn(root: Folder): string[] {
  return inFolder(root.inner('logs'), (logs) =>
    namesIn(logs, [])
      .filter((name) => name.startsWith('deploy-events.jsonl'))
      .filter((name) => (logs.stat(Buffer.from(name, 'latin1'))?.size ?? 0) > 0)
      .map((name) => `logs/${name}`),
  );
}

/** Names in a folder below, a character for each byte; empty if the folder does not exist. */
function namesIn(folder: Folder, below: readonly Name[]): string[] {
  const names = (inner: Folder) => inner.names().map((name) => name.toString('latin1'));
  return has(folder, below) ? inFolder(folder.below(below), names) : [];
}

/** Whether there is a folder below. */
function has(folder: Folder, below: readonly Name[]): boolean {
  return orElse(() => inFolder(folder.below(below), () => true), false);
}

/** A killed restore may leave the list's temporary file, too. */
const isOurs = (name: string) => name === STAGE || name.includes(PLACING);

/** Whether a restore into this root was killed. */
export function isInterrupted(root: Folder): boolean {
  return namesIn(root, []).some(isOurs);
}

/** Removes the leftovers of a killed restore, unless its last move was done. */
export function undoInterrupted(root: Folder): void {
  const list = readTextIfThere(String(root.path(PLACING)), LIST_MAX);
  const placed = orElse(() => JSON.parse(list ?? ''), undefined) as unknown;
  if (Array.isArray(placed) && has(root, [STAGE, 'state']))
    for (const path of placed) removePlaced(root, namesOf(String(path)));
  for (const name of namesIn(root, []).filter((each) => isOurs(each) && each !== PLACING))
    removeEntry(root, Buffer.from(name, 'latin1'));
  root.unlink(PLACING);
}

function removePlaced(root: Folder, path: readonly Buffer[]): void {
  const [above, name] = [path.slice(0, -1), path.at(-1) as Buffer];
  if (path.every(isName) && has(root, above))
    inFolder(root.below(above), (folder) => removeEntry(folder, name));
}

/** Moves everything; returns whether there are units. */
export function place(root: Folder, stage: Folder, { root: path }: Paths): boolean {
  const children = [['apps'], ['logs'], ['secrets'], ['spool', 'audit']].flatMap((folder) =>
    namesIn(stage, folder).map((name) => [...folder, name].join('/')),
  );
  const top = ['config.yml', 'mkey'].filter((name) => stage.stat(name) !== undefined);
  const moves = [...top, ...children].map((name) => [name, name] as const);
  const hasUnits = stage.stat('units') !== undefined;
  const all = hasUnits ? [...moves, ['units', UNITS] as const] : moves;
  // A backup without apps has an empty state folder: moving it completes the restore.
  if (stage.stat('state') === undefined) {
    stage.makeFolder('state', 0o700);
    inFolder(stage.inner('state'), (folder) => folder.chown(root.stats.uid, root.stats.gid));
  }
  writeWhole(join(path, PLACING), JSON.stringify(all.map(([, to]) => to)));
  for (const [from, to] of all) moveOne(stage, from, root, to);
  removeEntry(root, 'state');
  stage.move('state', root, 'state');
  root.sync();
  removeEntry(root, STAGE);
  root.unlink(PLACING);
  return hasUnits;
}

/** Makes the folders above it with the owner and mode that they have in the stage. */
function moveOne(stage: Folder, from: string, root: Folder, to: string): void {
  const above = namesOf(from).slice(0, -1);
  const [name, newName] = [namesOf(from), namesOf(to)].map((names) => names.at(-1) as Buffer);
  const makeLike = (parent: Folder, made: Name, level: number) =>
    inFolder(stage.below(above.slice(0, level + 1)), ({ stats }) => {
      parent.makeFolder(made, stats.mode & 0o777);
      inFolder(parent.inner(made), (folder) => folder.chown(stats.uid, stats.gid));
    });
  inFolder(stage.below(above), (source) =>
    inFolder(root.below(above, makeLike), (target) => {
      source.move(name as Buffer, target, newName as Buffer);
      target.sync();
    }),
  );
}
