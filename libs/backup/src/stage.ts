/** Writes the entries of a backup into the staging folder. */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lchownSync,
  lstatSync,
  lutimesSync,
  openSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseState } from '@runner/common/apps/parse-state';
import type { AppState, Restored } from '@runner/common/apps/state';
import { makeFolder } from '@runner/common/files/read';
import { writeFully } from '@runner/common/files/write';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { type Entry, unreadable } from './tar.ts';
import { localGroups, localUsers } from './users.ts';

/** Sets owners; without root rights everything belongs to this process. */
export interface Owners {
  /** `user bob`, `group media`: what is missing here, or may not be set. */
  readonly unset: Set<string>;
  own(path: string, entry: Pick<Entry, 'owner' | 'group'>): void;
}

const RUNNERS = { owner: '', group: '' };

/**
 * Sets the owner and group of the same names, or else those of the root. A new root belongs to the user
 * `rootOwner`, if it exists.
 */
export function ownersFor(root: string, rootOwner: string): Owners {
  const isRoot = process.geteuid?.() === 0;
  const users = new Map(localUsers().map((user) => [user.name, user]));
  const groups = new Map(localGroups().map(({ name, gid }) => [name, gid]));
  const first = users.get(rootOwner);
  if (isRoot && first) chownSync(root, first.uid, first.gid);
  const { uid, gid } = statSync(root);
  const unset = new Set<string>();
  const own = (path: string, { owner, group = '' }: Pick<Entry, 'owner' | 'group'>) => {
    const user = users.get(owner);
    const groupId = groups.get(group);
    const wanted = { uid: user?.uid ?? uid, gid: groupId ?? user?.gid ?? gid };
    if (isRoot) lchownSync(path, wanted.uid, wanted.gid);
    const is = lstatSync(path);
    if (owner !== '' && is.uid !== user?.uid) unset.add(`user ${owner}`);
    if (group !== '' && is.gid !== groupId) unset.add(`group ${group}`);
  };
  return { unset, own };
}

/** Allowed paths of entries. */
const KNOWN =
  /^(?:config\.yml|mkey|(?:state|secrets)\/[^/]+\.json|logs\/deploy-events\.jsonl[^/]*|spool\/audit\/[^/]+|units\/.+|apps\/[^/]+\/instances\/[^/]+\/shared(?:\/.+)?)$/;
/** Bytes of a state file. */
const STATE_MAX = 67_108_864;

/**
 * Writes one entry, durably. A file loses setuid and setgid: a program of the old server must not get
 * another user's rights here. Throws `backup_unreadable`.
 */
export async function stageEntry(
  stage: string,
  entry: Entry,
  bytes: AsyncIterable<Buffer>,
  owners: Owners,
): Promise<void> {
  if (!KNOWN.test(entry.path)) throw unreadable(`it has ${entry.path}, which no root has`);
  const path = join(stage, entry.path);
  makeParents(stage, dirname(entry.path), owners);
  if (entry.type === 'folder') {
    makeFolder(path, 0o700);
  } else if (entry.type === 'link') {
    symlinkSync(entry.target, path);
  } else {
    const isState = entry.path.startsWith('state/');
    await writeEntry(path, isState ? withoutReleases(entry, bytes) : bytes);
  }
  owners.own(path, entry);
  if (entry.type === 'file') chmodSync(path, entry.mode & 0o777);
  // The chmod of a folder waits until its files are there.
  if (entry.type !== 'folder') lutimesSync(path, entry.mtime, entry.mtime);
}

/** Sets what writing their files would change or be kept from, the innermost first. */
export function finishFolders(stage: string, folders: readonly Entry[]): void {
  for (const { path, mode, mtime } of folders.toReversed()) {
    chmodSync(join(stage, path), mode);
    utimesSync(join(stage, path), mtime, mtime);
  }
}

/** Folders with secrets and waiting events are closed to everyone but their owner. */
function makeParents(stage: string, folder: string, owners: Owners): void {
  if (folder === '.') return;
  makeParents(stage, dirname(folder), owners);
  const path = join(stage, folder);
  if (statSync(path, { throwIfNoEntry: false })) return;
  makeFolder(path, /^(?:state|secrets|spool)\b/.test(folder) ? 0o700 : 0o750);
  owners.own(path, RUNNERS);
}

async function writeEntry(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const fd = openSync(path, 'wx', 0o600);
  try {
    for await (const chunk of bytes) writeFully(fd, chunk);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A state whose app has not been deployed here yet: the releases are not in the backup. */
async function* withoutReleases(
  entry: Entry,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Uint8Array> {
  if (entry.size > STATE_MAX) throw unreadable(`${entry.path} is too large`);
  const parts: Buffer[] = [];
  for await (const part of bytes) parts.push(part);
  const text = Buffer.concat(parts).toString('utf8');
  // An invalid state file is restored unchanged; doctor reports it.
  const parsed = () => parseState(basename(entry.path, '.json'), text, entry.path);
  const state = unlessFailure(parsed, undefined);
  const fresh = state && { ...state, instances: {}, deploying: null, restored: ranIn(state) };
  yield Buffer.from(fresh ? `${JSON.stringify(fresh, null, 2)}\n` : text);
}

/** What ran, for the first `fetch --deploy`; of an app restored but never deployed, what ran before that. */
function ranIn({ instances, restored }: AppState): Restored | undefined {
  const ran = Object.entries(instances).flatMap(([name, { current }]) =>
    current ? [[name, { version: current.version, commit: current.commit }]] : [],
  );
  const all = { ...restored?.instances, ...Object.fromEntries(ran) };
  return Object.keys(all).length > 0 ? { instances: all } : undefined;
}
