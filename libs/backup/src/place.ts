/** Moves a staged backup into the root; the state last, so that there are no apps until it is complete. */
import { chownSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, namesIn, readTextIfThere } from '@runner/common/files/read';
import { syncFolder, writeWhole } from '@runner/common/files/write';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';

/** Where a backup is unpacked, below the root. */
export const STAGE = '.restore';
/** Lists what is being moved, so that the next restore can remove it. */
const PLACING = '.restore-placing.json';
const UNITS = 'restored-units';
const LIST_MAX = 67_108_864;

/** What a fresh installation, or a disk of its own, has. */
const FRESH = 'agent apps fleet locks logs lost+found secrets spool state'.split(' ');

/** Throws `root_in_use` unless the root is empty or freshly installed. */
export function requireUnused(paths: Paths): void {
  const used = usedBy(paths);
  if (used === undefined) return;
  throw new Failure(
    'root_in_use',
    `the root ${paths.root} is in use, it has ${used}: restore into an empty one`,
  );
}

function usedBy(paths: Paths): string | undefined {
  const { root, logsDir } = paths;
  const logs = namesIn(logsDir).filter(
    (name) => name.startsWith('deploy-events.jsonl') && statSync(join(logsDir, name)).size > 0,
  );
  const found = [
    ...['config.yml', 'mkey', UNITS].filter((name) => existsSync(join(root, name))),
    ...['state', 'secrets', 'apps'].flatMap((folder) =>
      namesIn(join(root, folder))
        .filter((name) => !name.startsWith('.'))
        .map((name) => `${folder}/${name}`),
    ),
    ...logs.map((name) => `logs/${name}`),
    ...namesIn(root).filter((name) => !FRESH.includes(name) && !isOurs(name)),
  ];
  return found[0];
}

/** A killed restore may leave the list's temporary file, too. */
const isOurs = (name: string) => name === STAGE || name.includes(PLACING);

/** Whether a restore into this root was killed. */
export function isInterrupted({ root }: Paths): boolean {
  return namesIn(root).some(isOurs);
}

/** Removes the leftovers of a killed restore, unless its last move was done. */
export function undoInterrupted(paths: Paths): void {
  const { root } = paths;
  const list = readTextIfThere(join(root, PLACING), LIST_MAX);
  const isDone = list !== undefined && !existsSync(join(root, STAGE, 'state'));
  if (list !== undefined && !isDone)
    for (const name of JSON.parse(list) as string[])
      rmSync(join(root, name), { recursive: true, force: true });
  const stray = namesIn(root).filter((name) => isOurs(name) && name !== PLACING);
  for (const name of [...stray, PLACING])
    rmSync(join(root, name), { recursive: true, force: true });
}

/** Moves everything; the folder of the units, or null without any. */
export function place(paths: Paths): string | null {
  const { root } = paths;
  const stage = join(root, STAGE);
  const children = ['apps', 'logs', 'secrets', 'spool/audit'].flatMap((folder) =>
    namesIn(join(stage, folder)).map((name) => `${folder}/${name}`),
  );
  const top = ['config.yml', 'mkey'].filter((name) => existsSync(join(stage, name)));
  const moves = [...top, ...children].map((name) => [name, name] as const);
  const hasUnits = existsSync(join(stage, 'units'));
  const all = hasUnits ? [...moves, ['units', UNITS] as const] : moves;
  // A backup without apps has an empty state folder: moving it completes the restore.
  makeFolder(join(stage, 'state'), 0o700);
  writeWhole(join(root, PLACING), JSON.stringify(all.map(([, to]) => to)));
  for (const [from, to] of all) {
    const folder = dirname(from);
    makeLike(root, stage, folder);
    renameSync(join(stage, from), join(root, to));
    syncFolder(dirname(join(root, to)));
  }
  rmSync(join(root, 'state'), { recursive: true, force: true });
  renameSync(join(stage, 'state'), join(root, 'state'));
  syncFolder(root);
  rmSync(stage, { recursive: true, force: true });
  rmSync(join(root, PLACING), { force: true });
  return hasUnits ? join(root, UNITS) : null;
}

/** Makes a folder and those above it with the owner and mode that they have in the stage. */
function makeLike(root: string, stage: string, folder: string): void {
  if (folder === '.' || existsSync(join(root, folder))) return;
  makeLike(root, stage, dirname(folder));
  const { uid, gid, mode } = statSync(join(stage, folder));
  mkdirSync(join(root, folder), mode & 0o777);
  chownSync(join(root, folder), uid, gid);
}
