/** The orders that this server has started, one file each, so that none is carried out twice. */
import { join } from 'node:path';
import { requireLock } from '@runner/common/files/lock';
import { makeFolder, namesIn, readIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import type { Paths } from '@runner/common/foundation/paths';
import { agentFiles } from '@runner/fleet/files/agent';
import { removeOld } from '@runner/fleet/files/kept';
import * as f from '@runner/fleet/order/fields';
import { type Order, orderOf, type SealedOrder, sealedOrderField } from '@runner/fleet/order/order';
import { type OrderResult, resultOf } from '@runner/fleet/order/result';
import { digestOf, type Sealed, sealedField } from '@runner/fleet/order/seal';
import type { Agent } from './agent.ts';

/** A started order; `result` is null until it has finished. */
const entryField = f.object({ order: sealedOrderField, result: f.nullable(sealedField) });
type LedgerEntry = f.ValueOf<typeof entryField>;

/** Bytes. */
const MAX = 1_048_576;
/** Files are kept far longer than any deadline, in ms. */
const KEPT = 30 * 24 * 3_600_000;

const fileOf = (paths: Paths, id: string) => join(agentFiles(paths.root).orders, `${id}.json`);

function readEntry(path: string): LedgerEntry | undefined {
  return f.parsedValue(readIfThere(path, MAX)?.toString('utf8') ?? '', entryField);
}

/** Undefined if the order was never started. */
export function findEntry(paths: Paths, id: string): LedgerEntry | undefined {
  return readEntry(fileOf(paths, id));
}

/** Whether it was carried out, or is: it was neither refused nor held. */
export const wasStarted = (entry: LedgerEntry | undefined): boolean =>
  entry !== undefined && (!entry.result || resultOf(entry.result.body)?.n !== null);

export function allEntries(paths: Paths): { order: Order; entry: LedgerEntry }[] {
  return namesIn(agentFiles(paths.root).orders).flatMap((name) => {
    const entry = readEntry(fileOf(paths, name.replace(/\.json$/, '')));
    const order = entry && orderOf(entry.order.body);
    return order ? [{ order, entry }] : [];
  });
}

/** Must be durable before the order is carried out. */
export function writeEntry(paths: Paths, id: string, entry: LedgerEntry): void {
  makeFolder(agentFiles(paths.root).orders, 0o700);
  writeWhole(fileOf(paths, id), `${JSON.stringify(entry)}\n`);
}

/** Records the outcome of an order: numbers its result, chains it to the previous one, and seals it. */
export function conclude(
  { io, paths, seal }: Agent,
  order: SealedOrder,
  result: Omit<OrderResult, 'n' | 'prev'>,
): Sealed {
  using _lock = requireLock(join(paths.locksDir, '.agent.lock'), 'the agent', 10);
  const known = findEntry(paths, result.order)?.result;
  if (known) return known;
  const last = newest(paths);
  const chained = { n: (last?.n ?? 0) + 1, prev: last ? digestOf(last.body) : '0'.repeat(32) };
  const sealed = seal('result', JSON.stringify({ ...result, ...chained }));
  writeEntry(paths, result.order, { order, result: sealed });
  removeOld(agentFiles(paths.root).orders, io.now(), KEPT);
  return sealed;
}

function newest(paths: Paths): { n: number; body: string } | undefined {
  let found: { n: number; body: string } | undefined;
  for (const { entry } of allEntries(paths)) {
    const n = entry.result ? (resultOf(entry.result.body)?.n ?? 0) : 0;
    if (entry.result && n > (found?.n ?? 0)) found = { n, body: entry.result.body };
  }
  return found;
}
