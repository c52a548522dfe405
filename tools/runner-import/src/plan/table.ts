/** A format is a reader, and a table of what becomes of each key. */
import type { SourceEntry } from './entry.ts';
import { type Fate, left, type Plan, to } from './plan.ts';

/** What becomes of an entry. */
export type ImportRule = (entry: SourceEntry, plan: Plan) => Fate;
/**
 * Rows in order; the first that fits decides. In a pattern `*` is any key, `[]` any item of a list, `**`
 * everything below. Several patterns are separated by spaces.
 */
type ImportTable = readonly (readonly [patterns: string, rule: ImportRule])[];

/** Files of another tool. */
export interface SourceFormat {
  /** Throws `not_imported` if the text is not one. `file` names it. */
  read(text: string, file: string): readonly SourceEntry[];
  /** What the file calls the app. */
  nameOf?(entries: readonly SourceEntry[], file: string): unknown;
  readonly table: ImportTable;
  /** What follows from several entries. */
  finish?(
    plan: Plan,
    entries: readonly SourceEntry[],
    file: string,
    text: string,
  ): void | Promise<void>;
  /** Why a key that the table does not have is left. */
  readonly unknown: string;
}

/** The rule of an entry; undefined if no pattern fits. */
export function ruleFor(table: ImportTable, path: readonly string[]): ImportRule | undefined {
  return table.find(([patterns]) => patterns.split(' ').some((each) => fits(each, path)))?.[1];
}

function fits(pattern: string, path: readonly string[]): boolean {
  const parts = pattern.split('.');
  const open = parts.at(-1) === '**';
  if (open ? path.length < parts.length : path.length !== parts.length) return false;
  return parts.every((part, index) => {
    const own = path[index] as string;
    if (part === '**' || part === own) return true;
    return part === '[]' ? own.startsWith('[') : part === '*' && !own.startsWith('[');
  });
}

export const setting =
  (key: string, make: (value: SourceEntry['value']) => unknown = (value) => value): ImportRule =>
  (entry, plan) =>
    plan.set(key, entry, make(entry.value));
export const stays =
  (place: string): ImportRule =>
  () =>
    to(place);
export const none =
  (reason: string): ImportRule =>
  () =>
    left(reason);

/** What several tools have. */
export const HERE = stays('not needed: runner works on the server itself');
export const ONE_SERVER = none('runner works on one server; for several see runner fleet');
export const added: ImportRule = ({ computed }, { app }) =>
  computed ? left('is computed: give it to runner add') : to(`runner add … --name ${app}`);
