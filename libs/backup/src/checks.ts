/** Refuses what no backup has, before it is written: an archive may be made by anyone with the public key. */
import { statfsSync } from 'node:fs';
import { isName } from '@runner/common/files/tree';
import { Failure } from '@runner/common/foundation/failure';
import type { Manifest } from './manifest.ts';
import { namesOf, type TarEntry, textOfBytes, unreadable } from './tar.ts';

/** Allowed paths of entries. */
const KNOWN =
  /^(?:config\.yml|mkey|(?:state|secrets)\/[\w.-]+\.json|logs\/deploy-events\.jsonl[\w.-]*|spool\/audit\/[^/]+|units\/.+|apps\/[\w.-]+\/jobs\.json|apps\/[\w.-]+\/instances\/[\w.-]+\/shared(?:\/.+)?)$/s;
/** Shared folders; only in them are links and folders. */
const SHARED = /^apps\/[^/]+\/instances\/[^/]+\/shared(\/|$)/;
/** The longest target that Linux has, in bytes. */
const TARGET_MAX = 4_095;

/** Whether a backup may have an entry of this path: `runner restore` refuses one with any other. */
export function isKnown(path: string): boolean {
  return KNOWN.test(path) && namesOf(path).every(isName);
}

/** Why anything else is not saved. */
export const UNKNOWN = 'runner has no file of this name';

/** Whether an entry is a shared folder on another disk: old backups have the link to it. */
export function isSharedLink({ path, type }: TarEntry): boolean {
  return type === 'link' && SHARED.exec(path)?.[1] === '';
}

/** What the file system has room for. */
export type Room = ReturnType<typeof roomIn>;

export function roomIn(folder: string) {
  const { bavail, bsize, ffree, files } = statfsSync(folder);
  // Some file systems do not count files.
  return { bytes: bavail * bsize, entries: files > 0 ? ffree : Number.POSITIVE_INFINITY };
}

/** Checks each entry with those before it. */
export class EntryChecks {
  readonly #announced: Partial<Room>;
  readonly #left: { bytes: number; entries: number };
  /** What each path is; `above`: a folder without an entry of its own so far. */
  readonly #kinds = new Map<string, TarEntry['type'] | 'above'>();

  /** Throws `disk_full` if there is less room than the manifest announces. */
  constructor({ bytes, entries }: Manifest, room: Room) {
    if ((bytes ?? 0) > room.bytes || (entries ?? 0) > room.entries) throw full();
    this.#announced = {
      ...(bytes !== undefined && { bytes }),
      ...(entries !== undefined && { entries }),
    };
    this.#left = { ...room, ...this.#announced };
  }

  /** Throws `backup_unreadable`, or `disk_full` for what an old backup does not announce. */
  check(entry: TarEntry): void {
    const { path, type, target } = entry;
    const shown = textOfBytes(path);
    if (!isKnown(path)) throw unreadable(`it has ${shown}, which no root has`);
    if (type !== 'file' && !SHARED.test(path)) throw unreadable(`it has the ${type} ${shown}`);
    if (type === 'link' && (target === '' || target.includes('\0') || target.length > TARGET_MAX))
      throw unreadable(`the link ${shown} has no valid target`);
    this.#place(path, type);
    this.#count(entry.size);
  }

  #place(path: string, type: TarEntry['type']): void {
    const shown = textOfBytes(path);
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const above = path.slice(0, at);
      const kind = this.#kinds.get(above);
      if (kind === 'file' || kind === 'link')
        throw unreadable(`it has ${shown} below the ${kind} ${textOfBytes(above)}`);
      if (kind === undefined) this.#kinds.set(above, 'above');
    }
    const before = this.#kinds.get(path);
    if (before !== undefined && !(before === 'above' && type === 'folder'))
      throw unreadable(`it has ${shown} twice`);
    this.#kinds.set(path, type);
  }

  #count(size: number): void {
    this.#left.bytes -= size;
    this.#left.entries -= 1;
    for (const what of ['bytes', 'entries'] as const) {
      if (this.#left[what] >= 0) continue;
      throw this.#announced[what] === undefined
        ? full()
        : unreadable(`it has more ${what} than it announces`);
    }
  }
}

function full(): Failure {
  return new Failure('disk_full', 'there is not enough space for what is in the backup');
}
