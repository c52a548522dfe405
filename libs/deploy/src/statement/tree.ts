/**
 * What is in a folder, an entry a line, in the order of their bytes:
 *
 *     KIND MODE DIGEST PATH
 *
 * KIND is that of `find -printf %y`: d f l p s b c; MODE has the permission bits in octal digits; DIGEST is the
 * SHA-256 of a file's content or of a link's target, `-` for what has none, `?` for what could not be
 * read. In PATH a byte that is no printable ASCII, and a backslash, is `\xNN`; the folder itself is `.`.
 * The hash of a tree is the SHA-256 of these lines. Links are not followed. Owners, times, access lists
 * and extended attributes do not count.
 */
import { type Dirent, fstatSync, readSync, type Stats } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { hashOf } from '@runner/common/audit/chain';
import { Folder, type Name } from '@runner/common/files/tree';
import { closing, orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';

/** Bytes read at once. */
const BLOCK = 1_048_576;
/** After this many entries or blocks signals are looked for. */
const PAUSE = 256;
const UNREADABLE = '?';

/** The lines of a folder's tree. Throws `interrupted`, and an error of the system if it is not there. */
export async function treeText(path: string, signal?: AbortSignal): Promise<string> {
  const walk = new Walk(signal);
  const top = Folder.open(path);
  try {
    walk.add('.', top.stats, '-');
    await walk.folder(top, top.entries(), '');
  } finally {
    top.close();
  }
  return walk.text();
}

/** One walk; nothing in it runs at once, since hashing takes longer than reading. */
class Walk {
  readonly #lines: { readonly path: string; readonly line: string }[] = [];
  readonly #block = Buffer.allocUnsafeSlow(BLOCK);
  readonly #signal: AbortSignal | undefined;
  #work = 0;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  add(path: string, { mode }: Stats, digest: string): void {
    const kind = KINDS[(mode >> 12) & 0o17] ?? UNREADABLE;
    const rights = (mode & 0o7777).toString(8).padStart(4, '0');
    this.#lines.push({ path, line: `${kind} ${rights} ${digest} ${path}\n` });
  }

  async folder(folder: Folder, entries: readonly Dirent<Buffer>[], above: string): Promise<void> {
    for (const entry of entries) {
      await this.#pause();
      const { name } = entry;
      const path = above + escaped(name);
      if (entry.isFile()) await this.#file(folder, name, path);
      else await this.#other(folder, name, path);
    }
  }

  /** Opened before it is looked at: one look less. */
  async #file(folder: Folder, name: Name, path: string): Promise<void> {
    const fd = orElse(() => folder.openFile(name), undefined);
    if (fd === undefined) return this.#other(folder, name, path);
    using _file = closing(fd);
    const stat = fstatSync(fd);
    this.add(path, stat, stat.isFile() ? await this.#content(fd, stat.size) : '-');
  }

  async #other(folder: Folder, name: Name, path: string): Promise<void> {
    const stat = folder.stat(name);
    if (!stat) return;
    if (stat.isDirectory()) return this.#inner(folder, name, path, stat);
    const target = () => hashOf(folder.target(name));
    const unread = stat.isFile() ? UNREADABLE : '-';
    this.add(path, stat, stat.isSymbolicLink() ? orElse(target, UNREADABLE) : unread);
  }

  /** A folder that cannot be read, or is below too many others, is only named. */
  async #inner(folder: Folder, name: Name, path: string, stat: Stats): Promise<void> {
    const inner = orElse(() => folder.inner(name), undefined);
    const entries = inner && orElse(() => inner.entries(), undefined);
    this.add(path, stat, entries ? '-' : UNREADABLE);
    try {
      if (inner && entries) await this.folder(inner, entries, `${path}/`);
    } finally {
      inner?.close();
    }
  }

  async #content(fd: number, size: number): Promise<string> {
    try {
      const read = (rest: number) => {
        const count = readSync(fd, this.#block, 0, Math.min(rest, BLOCK), null);
        return this.#block.subarray(0, count);
      };
      let bytes = read(size);
      if (bytes.length === size) return hashOf(bytes);
      const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
      // Not to the end: something may write to it faster than it is read.
      for (let rest = size; bytes.length > 0; bytes = read(rest)) {
        hash.update(bytes);
        rest -= bytes.length;
        await this.#pause();
      }
      return hash.digest('hex');
    } catch {
      return UNREADABLE;
    }
  }

  async #pause(): Promise<void> {
    this.#work += 1;
    if (this.#work % PAUSE !== 0) return;
    await turn();
    if (this.#signal?.aborted) throw new Failure('interrupted', 'interrupted');
  }

  text(): string {
    const byPath = this.#lines.sort((a, b) => (a.path < b.path ? -1 : 1));
    return byPath.map(({ line }) => line).join('');
  }
}

const KINDS: Readonly<Record<number, string>> = {
  1: 'p',
  2: 'c',
  4: 'd',
  6: 'b',
  8: 'f',
  10: 'l',
  12: 's',
};
const LINE = /^([a-z?]) (\d{4}) (\S+) (.+)$/;

function escaped(name: Buffer): string {
  const hex = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  return name.toString('latin1').replace(/[^ -[\]-~]/g, hex);
}

/** A path that is not as it was, and how: `changed`, `added`, `removed`, `mode`, `kind`. */
export interface TreeChange {
  readonly path: string;
  readonly change: 'changed' | 'added' | 'removed' | 'mode' | 'kind';
}

/** One thing that is not as it was. */
export interface Difference {
  readonly what: 'release' | 'deploy_file' | 'unit' | 'link' | 'env' | 'statement' | 'log';
  /** Below the release, in the form of a tree; otherwise as it is on disk. */
  readonly path: string;
  /** `unsigned`: not by the server's key; `disagrees`: with the state, or with the audit log. */
  readonly change: TreeChange['change'] | 'unsigned' | 'disagrees';
}

/** What differs between two trees, by path. */
export function treeChanges(before: string, now: string): TreeChange[] {
  const [old, young] = [entriesOf(before), entriesOf(now)];
  const paths = [...new Set([...old.keys(), ...young.keys()])].sort();
  return paths.flatMap((path): TreeChange[] => {
    const [was, is] = [old.get(path), young.get(path)];
    if (!was || !is) return [{ path, change: was ? 'removed' : 'added' }];
    if (was[0] !== is[0]) return [{ path, change: 'kind' }];
    if (was[2] !== is[2]) return [{ path, change: 'changed' }];
    return was[1] === is[1] ? [] : [{ path, change: 'mode' }];
  });
}

function entriesOf(text: string): Map<string, readonly string[]> {
  const entries = text.split('\n').flatMap((line) => {
    const [, kind = '', mode = '', digest = '', path = ''] = LINE.exec(line) ?? [];
    return path === '' ? [] : [[path, [kind, mode, digest]] as const];
  });
  return new Map(entries);
}
