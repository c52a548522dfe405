/** What a reader finds in a file: one entry for each value, so that every one has a place and a fate. */
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { SectionEntry, Tree } from '@runner/common/yaml/schema';

/** A single value. */
export type SourceValue = string | number | boolean | null;

/** One value of a source, at its line. */
export interface SourceEntry {
  /** From the top; an item of a list is `[0]`, `[1]`, … */
  readonly path: readonly string[];
  /** As it is shown, e.g. `apps[0].env.PORT`. */
  readonly key: string;
  readonly value: SourceValue;
  readonly line: number;
  /** The value is code or a template, which is not run. */
  readonly computed?: boolean;
}

/** Far more than a file has that a person wrote. */
const ENTRIES_MAX = 5_000;

/** `apps[0].name` of a path. */
export function keyOf(path: readonly string[]): string {
  return path.reduce(
    (key, part) => (part.startsWith('[') || key === '' ? key : `${key}.`) + part,
    '',
  );
}

/** How messages name the file. */
export function sourceName(file: string): string {
  return file === '-' ? 'stdin' : harmlessLine(file);
}

/** A sentence about the file, with a line if one is to blame. */
export function unreadable(file: string, why: string, line?: number): Failure {
  const place = line === undefined ? sourceName(file) : `${sourceName(file)}:${line}`;
  return new Failure('not_imported', `${place}: ${why}`, line === undefined ? {} : { line });
}

/** Collects entries, up to a limit: an alias of YAML or a constant of JavaScript may repeat others. */
export class EntryList {
  readonly all: SourceEntry[] = [];
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  add(path: readonly string[], value: SourceValue, line: number, computed = false): void {
    if (this.all.length >= ENTRIES_MAX)
      throw unreadable(this.#file, `has more than ${ENTRIES_MAX} settings`);
    this.all.push({ path, key: keyOf(path), value, line, ...(computed && { computed }) });
  }

  /** Adds every value of a tree; an empty section is one. */
  addTree(tree: Tree, path: readonly string[] = [], line = tree.line): void {
    if (tree.kind === 'scalar') {
      const computed = typeof tree.value === 'string' && tree.value.includes('<%');
      // `3.10` and long integers keep their digits.
      const isExact = typeof tree.value !== 'number' || String(tree.value) === tree.source;
      const exact = isExact ? tree.value : tree.source;
      this.add(path, exact, line, computed);
    } else if (tree.kind === 'map') {
      for (const { key, value, line: own } of merged(tree))
        this.addTree(value, [...path, key], own);
      if (tree.entries.length === 0) this.add(path, null, line);
    } else {
      tree.items.forEach((item, index) => {
        this.addTree(item, [...path, `[${index}]`], item.line);
      });
      if (tree.items.length === 0) this.add(path, null, line);
    }
  }
}

/** The entries of a section with those that `<<` brings in, which its own come before. */
function merged({ entries }: Tree & { kind: 'map' }): readonly SectionEntry[] {
  const own = entries.filter(({ key }) => key !== '<<');
  const others = entries
    .filter(({ key }) => key === '<<')
    .flatMap(({ value }) => (value.kind === 'list' ? value.items : [value]))
    .flatMap((each) => (each.kind === 'map' ? each.entries : []));
  const all = new Map([...others.toReversed(), ...own].map((entry) => [entry.key, entry]));
  return [...all.values()];
}
