/** Writes the entries of a backup into the staging folder. */
import {
  chownSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  lchownSync,
  openSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseState } from '@runner/common/apps/parse-state';
import type { AppState, Restored } from '@runner/common/apps/state';
import { makeFolder } from '@runner/common/files/read';
import { writeFully } from '@runner/common/files/write';
import { Failure } from '@runner/common/foundation/failure';
import { type Entry, unreadable } from './tar.ts';
import { localUsers, type User } from './users.ts';

/** Owner of an entry; undefined if this process is not root and owns everything. */
export type OwnerOf = ((name: string) => Pick<User, 'uid' | 'gid'>) | undefined;

/**
 * Owners of restored files: the users of the same name, or else the owner of the root. A new root belongs
 * to the user `rootOwner`, if it exists.
 */
export function ownerFor(root: string, rootOwner: string): OwnerOf {
  if (process.geteuid?.() !== 0) return undefined;
  const users = new Map(localUsers().map((user) => [user.name, user]));
  const first = users.get(rootOwner);
  if (first) chownSync(root, first.uid, first.gid);
  const owner = statSync(root);
  return (name) => users.get(name) ?? owner;
}

/** Allowed paths of entries. */
const KNOWN =
  /^(?:config\.yml|mkey|(?:state|secrets)\/[^/]+\.json|logs\/deploy-events\.jsonl[^/]*|spool\/audit\/[^/]+|units\/.+|apps\/[^/]+\/instances\/[^/]+\/shared(?:\/.+)?)$/;
/** Bytes of a state file. */
const STATE_MAX = 67_108_864;

/** Writes one entry, durably. Throws `backup_unreadable`. */
export async function stageEntry(
  stage: string,
  entry: Entry,
  bytes: AsyncIterable<Buffer>,
  ownerOf: OwnerOf,
): Promise<void> {
  if (!KNOWN.test(entry.path)) throw unreadable(`it has ${entry.path}, which no root has`);
  const path = join(stage, entry.path);
  makeParents(stage, dirname(entry.path), ownerOf);
  if (entry.type === 'folder') {
    makeFolder(path, entry.mode & 0o777);
  } else if (entry.type === 'link') {
    symlinkSync(entry.target, path);
  } else {
    const isState = entry.path.startsWith('state/');
    await writeEntry(path, entry, isState ? withoutReleases(entry, bytes) : bytes);
  }
  const owner = ownerOf?.(entry.owner);
  if (owner) lchownSync(path, owner.uid, owner.gid);
}

/** Folders with secrets and waiting events are closed to everyone but their owner. */
function makeParents(stage: string, folder: string, ownerOf: OwnerOf): void {
  if (folder === '.') return;
  makeParents(stage, dirname(folder), ownerOf);
  const path = join(stage, folder);
  if (statSync(path, { throwIfNoEntry: false })) return;
  makeFolder(path, /^(?:state|secrets|spool)\b/.test(folder) ? 0o700 : 0o750);
  const owner = ownerOf?.('');
  if (owner) chownSync(path, owner.uid, owner.gid);
}

async function writeEntry(
  path: string,
  { mode }: Entry,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const fd = openSync(path, 'wx', 0o600);
  try {
    for await (const chunk of bytes) writeFully(fd, chunk);
    fchmodSync(fd, mode & 0o777);
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
  const state = stateIn(entry.path, text);
  const fresh = state && { ...state, instances: {}, deploying: null, restored: ranIn(state) };
  yield Buffer.from(fresh ? `${JSON.stringify(fresh, null, 2)}\n` : text);
}

/** Undefined for an invalid state file, which is restored unchanged; doctor reports it. */
function stateIn(path: string, text: string): AppState | undefined {
  try {
    return parseState(basename(path, '.json'), text, path);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return undefined;
  }
}

/** What ran, for the first `fetch --deploy`; of an app restored but never deployed, what ran before that. */
function ranIn({ instances, restored }: AppState): Restored | undefined {
  const ran = Object.entries(instances).flatMap(([name, { current }]) =>
    current ? [[name, { version: current.version, commit: current.commit }]] : [],
  );
  const all = { ...restored?.instances, ...Object.fromEntries(ran) };
  return Object.keys(all).length > 0 ? { instances: all } : undefined;
}
