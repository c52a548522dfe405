import { basename } from 'node:path';
import { type ChainHead, headText } from '@runner/common/audit/chain';
import { appendWaiting } from '@runner/common/audit/kept';
import type { Context } from '@runner/common/cli/command';
import { closeLogs, openLogs } from '@runner/history/log/lines';
import type { ChainCheck } from './chain.ts';
import { deploysInProgress } from './in-progress.ts';
import { LogCheck } from './log.ts';

export type LogVerdict = Awaited<ReturnType<typeof verdict>>;

/** Of a hash: 96 bits, so that a record that fits cannot be found. */
const PROOF_DIGITS = 24;

/** Reads the whole log once. Throws `log_not_found`, `file_unreadable`. */
export async function verdict(
  { paths, note }: Pick<Context, 'paths' | 'note'>,
  anchor: ChainHead | undefined,
) {
  appendWaiting(paths);
  const before = deploysInProgress(paths);
  const closed: { path: string; why: string }[] = [];
  const logs = openLogs(paths, (path, why) => closed.push({ path, why }));
  // Asked twice: a deploy may have begun or ended while the files were opened.
  const { ids, unknown } = deploysInProgress(paths);
  if (unknown !== undefined)
    note(`assuming that the newest start of each app is a deploy in progress: ${unknown}`);
  const files = [...logs.map(({ name }) => name), ...closed.map(({ path }) => basename(path))];
  const check = new LogCheck(files, anchor);
  for (const log of logs) await check.check(log);
  closeLogs(logs);
  for (const { why } of closed) check.closed(why);
  check.end();
  const { problems, deploys, lines, records } = check;
  const running = deploys.unfinished(new Set([...before.ids, ...ids]), unknown !== undefined);
  const isProof = (anchor?.hash.length ?? PROOF_DIGITS) >= PROOF_DIGITS;
  return {
    /** No problem, and no anchor that is too short to prove it. */
    ok: problems.count === 0 && isProof,
    files,
    lines,
    records,
    deploys: deploys.count,
    /** Deploys in progress. */
    running,
    /** Ends whose start was rotated away. */
    rotated_away: deploys.rotatedAway,
    /** Torn lines of killed writers, covered by the hash of the next record. */
    torn: check.chain.torn,
    /** Numbers of the first and newest chained record, and the anchor; null if no record is chained. */
    chain: chainOf(check.chain),
    /** Digits of the anchor's hash; null without one. */
    anchor_digits: anchor?.hash.length ?? null,
    problem_count: problems.count,
    /** The first 1,000. */
    problems: problems.inOrder(),
  };
}

function chainOf({ first, head }: ChainCheck) {
  if (first === undefined || head === undefined) return null;
  return { first, last: head.seq, head: headText(head) };
}
