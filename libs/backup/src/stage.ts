/** Writes the entries of a backup into the staging folder. */
import { fchmodSync, fchownSync, fsyncSync, futimesSync } from 'node:fs';
import { basename } from 'node:path';
import type { JobBook } from '@runner/common/apps/job-book';
import { parseState } from '@runner/common/apps/parse-state';
import type { AppState, Deploying, RestoredInstances } from '@runner/common/apps/state';
import { type Folder, inFolder, type Name } from '@runner/common/files/tree';
import { writeFully } from '@runner/common/files/write';
import { closing, unlessFailure } from '@runner/common/foundation/attempt';
import { isObject, jsonObject } from '@runner/common/text/json';
import { type Owner, type Owners, ROOTS } from './owners.ts';
import { namesOf, type TarEntry, unreadable } from './tar.ts';

/** Bytes of a state file. */
const STATE_MAX = 67_108_864;

/**
 * Writes one entry that was checked, durably. A file loses setuid and setgid: a program of the old
 * server must not get another user's rights here. Throws `backup_unreadable`.
 */
export async function stageEntry(
  stage: Folder,
  entry: TarEntry,
  bytes: AsyncIterable<Buffer>,
  owners: Owners,
): Promise<void> {
  const names = namesOf(entry.path);
  const name = names.pop() as Name;
  const folder = foldersFor(stage, entry.path, names, owners);
  try {
    if (entry.type === 'folder') makeOwned(folder, name, entry, owners);
    else if (entry.type === 'link') {
      folder.makeLink(name, Buffer.from(entry.target, 'latin1'));
      owners.give(entry, (uid, gid) => folder.chownEntry(name, uid, gid));
      folder.setTimeOf(name, entry.mtime);
    } else {
      const change = CHANGED.find(([path]) => path.test(entry.path))?.[1];
      const chunks = change ? changed(entry, bytes, change) : bytes;
      await writeEntry(folder.makeFile(name), entry, chunks, owners);
    }
  } finally {
    folder.close();
  }
}

/** Sets what writing their files would change or be kept from, the innermost first. */
export function finishFolders(stage: Folder, folders: readonly TarEntry[]): void {
  for (const { path, mode, mtime } of folders.toReversed())
    inFolder(stage.below(namesOf(path)), (folder) => {
      folder.chmod(mode);
      folder.setTime(mtime);
    });
}

/** Folders with secrets and waiting events are closed to all but their owner; a copy of those for `/etc` is open. */
function foldersFor(stage: Folder, path: string, names: readonly Name[], owners: Owners): Folder {
  const closed = /^(?:state|secrets|spool)\b/.test(path) ? 0o700 : 0o750;
  const mode = path.startsWith('units/') ? 0o755 : closed;
  return stage.below(names, (parent, name) => {
    parent.makeFolder(name, mode);
    inFolder(parent.inner(name), (made) => {
      made.chmod(mode);
      owners.give(ROOTS, (uid, gid) => made.chown(uid, gid));
    });
  });
}

function makeOwned(folder: Folder, name: Name, owner: Owner, owners: Owners): void {
  // It is there if a file in it came first.
  if (folder.stat(name) === undefined) folder.makeFolder(name, 0o700);
  inFolder(folder.inner(name), (made) => owners.give(owner, (uid, gid) => made.chown(uid, gid)));
}

async function writeEntry(
  fd: number,
  entry: TarEntry,
  bytes: AsyncIterable<Uint8Array>,
  owners: Owners,
): Promise<void> {
  using _file = closing(fd);
  for await (const chunk of bytes) writeFully(fd, chunk);
  owners.give(entry, (uid, gid) => fchownSync(fd, uid, gid));
  fchmodSync(fd, entry.mode & 0o777);
  // Telemetry begins with what is recorded after config.yml was changed: the old server sent the rest.
  if (entry.path !== 'config.yml') futimesSync(fd, entry.mtime, entry.mtime);
  fsyncSync(fd);
}

/** A file that is another one after a restore, as a whole. */
async function* changed(
  entry: TarEntry,
  bytes: AsyncIterable<Buffer>,
  change: (text: string, entry: TarEntry) => string,
): AsyncGenerator<Uint8Array> {
  if (entry.size > STATE_MAX) throw unreadable(`${entry.path} is too large`);
  const parts: Buffer[] = [];
  for await (const part of bytes) parts.push(part);
  yield Buffer.from(change(Buffer.concat(parts).toString('utf8'), entry));
}

/** A state whose app has not been deployed here yet: the releases are not in the backup. */
function withoutReleases(text: string, entry: TarEntry): string {
  // An invalid state file is restored unchanged; doctor reports it.
  const parsed = () => parseState(basename(entry.path, '.json'), text, entry.path);
  const state = unlessFailure(parsed, undefined);
  const fresh = state && {
    ...state,
    instances: {},
    deploying: diedElsewhere(state),
    watch: null,
    // The process that held the requests is not here.
    traffic_hold: null,
    restored: ranIn(state),
  };
  return fresh ? `${JSON.stringify(fresh, null, 2)}\n` : text;
}

/** What is known of jobs whose releases are not here yet: their times count from the first deploy on. */
function withoutRuns(text: string): string {
  const book = jsonObject(text) as JobBook | undefined;
  if (!isObject(book?.jobs)) return text;
  const jobs = Object.entries(book.jobs).map(([job, entry]) => [
    job,
    { ...entry, run: null, waiting: null },
  ]);
  return `${JSON.stringify({ of: '', jobs: Object.fromEntries(jobs) } satisfies JobBook)}\n`;
}

/** What is not restored as it is. */
const CHANGED = [
  [/^state\//, withoutReleases],
  [/^apps\/[^/]+\/jobs\.json$/, withoutRuns],
] as const;

/** A deploy that ran meanwhile: the next command records its end. What it had changed is not here. */
function diedElsewhere({ deploying }: AppState): Deploying | null {
  if (!deploying || deploying.verb || deploying.rollback) return null;
  const { touched, slot, seeds, ...rest } = deploying;
  return { ...rest, boot_id: '' };
}

/** What ran, for the first `fetch --deploy`; of an app restored but never deployed, what ran before that. */
function ranIn({ instances, restored }: AppState): RestoredInstances | undefined {
  const ran = Object.entries(instances).flatMap(([name, { current }]) =>
    current ? [[name, { version: current.version, commit: current.commit }]] : [],
  );
  const all = { ...restored?.instances, ...Object.fromEntries(ran) };
  return Object.keys(all).length > 0 ? { instances: all } : undefined;
}
