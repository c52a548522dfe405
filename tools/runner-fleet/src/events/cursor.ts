/** Remembers in a file which events were printed, as journalctl's --cursor-file does. */
import { readIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { Failure } from '@runner/common/foundation/failure';
import { isObject, jsonObject } from '@runner/common/text/json';
import type { ServerEvents } from './read.ts';

/** By server: the offset up to which each of its log files was read. */
export type Positions = Record<string, Record<string, number>>;

const MAX = 16_777_216;

/** Undefined if there is no such file. Throws `config_invalid`. */
export function readCursor(path: string): Positions | undefined {
  const bytes = readIfThere(path, MAX);
  if (!bytes) return undefined;
  const found = jsonObject(bytes.toString('utf8'));
  const isGood = (each: unknown) =>
    isObject(each) && Object.values(each).every((to) => Number.isSafeInteger(to));
  if (found && Object.values(found).every(isGood)) return found as Positions;
  throw new Failure(
    'config_invalid',
    `${path} is not a cursor of runner fleet events: give another file`,
  );
}

/** Keeps the positions of servers that were not read. */
export function writeCursor(
  path: string,
  before: Positions | undefined,
  sources: readonly ServerEvents[],
): void {
  const read = sources.map(({ server, positions }) => [server.server, positions]);
  writeWhole(path, `${JSON.stringify({ ...before, ...Object.fromEntries(read) })}\n`);
}
