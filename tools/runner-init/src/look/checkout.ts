/** A checkout as its files show it. It may be hostile: reading is bounded, and follows no link. */
import { type Dirent, opendirSync } from 'node:fs';
import { join } from 'node:path';
import { readTextIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { UNSAFE } from '@runner/common/text/harmless';

/** Levels of folders that are listed. */
const DEPTH = 4;
/** Entries that are listed in all, and in one folder. */
const ENTRIES = 5_000;
const IN_ONE = 500;
/** Of a file, in bytes; of a longer one nothing is read. */
const FILE_MAX = 262_144;
/** Of all files, in characters. */
const ALL_MAX = 8_388_608;

/** Made by package managers and builds, or of no use. */
const SKIPPED = new Set(
  '.git node_modules vendor target dist build out _build deps venv .venv __pycache__ .next .nuxt .output .svelte-kit .turbo obj coverage log tmp'.split(
    ' ',
  ),
);

/** The files of a checkout, or of a folder in it. */
export interface Checkout {
  /** Paths of regular files, sorted; without those whose names are not plain text. */
  readonly files: readonly string[];
  has(path: string): boolean;
  /** A file as text; empty if it is missing, larger than 256 KiB or not readable. */
  text(path: string): string;
  /** What is below a folder. */
  below(folder: string): Checkout;
}

/** Lists a checkout; what its files contain is read when it is asked for. */
export function lookAt(top: string): Checkout {
  const files = new Set(listed(top));
  const known = new Map<string, string>();
  let left = ALL_MAX;
  const text = (path: string) => {
    const before = known.get(path);
    if (before !== undefined || !files.has(path)) return before ?? '';
    const found = orElse(() => readTextIfThere(join(top, path), FILE_MAX), undefined) ?? '';
    const kept = found.length <= left ? found : '';
    left -= kept.length;
    known.set(path, kept);
    return kept;
  };
  return viewOf([...files].sort(), text);
}

function viewOf(files: readonly string[], text: (path: string) => string): Checkout {
  const set = new Set(files);
  return {
    files,
    has: (path) => set.has(path),
    text: (path) => (set.has(path) ? text(path) : ''),
    below(folder) {
      const start = `${folder}/`;
      const inner = files.flatMap((path) =>
        path.startsWith(start) ? [path.slice(start.length)] : [],
      );
      return viewOf(inner, (path) => text(start + path));
    },
  };
}

/** Level by level: what matters most is at the top. */
function listed(top: string): string[] {
  const files: string[] = [];
  let level = [''];
  for (let depth = 0; depth < DEPTH && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of level)
      for (const entry of entriesOf(join(top, folder))) {
        if (files.length + next.length >= ENTRIES) return files;
        const path = folder + entry.name;
        if (entry.isFile()) files.push(path);
        else if (entry.isDirectory() && !SKIPPED.has(entry.name)) next.push(`${path}/`);
      }
    level = next;
  }
  return files;
}

function entriesOf(path: string): Dirent[] {
  return orElse(() => {
    const folder = opendirSync(path);
    const found: Dirent[] = [];
    try {
      for (let entry = folder.readSync(); entry && found.length < IN_ONE; entry = folder.readSync())
        if (isPlain(entry.name)) found.push(entry);
    } finally {
      folder.closeSync();
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }, []);
}

const isPlain = (name: string) =>
  name.length <= 100 && name.search(UNSAFE) === -1 && !name.includes('\ufffd');
