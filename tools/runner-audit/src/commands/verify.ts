import { basename } from 'node:path';
import { type Head, headText } from '@runner/common/audit/chain';
import { appendWaiting } from '@runner/common/audit/kept';
import { type Context, command } from '@runner/common/cli/command';
import { usage } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { closeLogs, openLogs } from '@runner/history/log/lines';
import type { ChainCheck } from '../verify/chain.ts';
import { deploysInProgress } from '../verify/in-progress.ts';
import { LogCheck } from '../verify/log.ts';
import type { Problem } from '../verify/problems.ts';

/** What `verify` prints. */
interface Verdict {
  ok: boolean;
  files: string[];
  lines: number;
  records: number;
  deploys: number;
  /** Deploys that are in progress now. */
  running: number;
  /** Ends whose start was rotated away. */
  rotated_away: number;
  problem_count: number;
  /** Torn lines of killed writers, which the record after them vouches for. */
  torn: number;
  /** Numbers of the first and the newest record of the chain, and what `anchor` prints; null without. */
  chain: { first: number; last: number; head: string } | null;
  /** The first 1,000. */
  problems: readonly Problem[];
}

export const verify = command({
  name: 'verify',
  about: 'Check that the audit log is whole and unchanged',
  details:
    'Each record carries a number and a hash of what stands before it: one that was\n' +
    'removed, changed, swapped or inserted is found. Times must be in order, a deploy\n' +
    'belongs to one app and has one start and one end. --anchor also finds a log that\n' +
    'was cut at its end, or written again. At most 1,000 problems are printed, with\n' +
    'file and line; all are counted. With problems the status is 1.',
  options: {
    anchor: {
      kind: 'value',
      placeholder: 'SEQ:HASH',
      about: 'A record that must be in the log, from a message or audit anchor',
    },
  },
  examples: ['runner audit verify --anchor 4711:1a2b3c4d'],
  async run(context) {
    const { anchor } = context.options;
    const value = await verdict(context, anchor === undefined ? undefined : anchorOf(anchor));
    return { value, status: value.ok ? 0 : 1 };
  },
  human(verdict: Verdict, style) {
    const { files, records, deploys, running, chain, problem_count: count, problems } = verdict;
    const more = count - problems.length;
    const lines = problems.map(
      ({ file, line, message }) => `${file}:${line}: ${harmlessLine(message)}`,
    );
    const read = [
      number(records, 'record'),
      number(deploys, 'deploy'),
      number(files.length, 'file'),
    ];
    if (chain) read.push(`chain ${chain.first} to ${chain.head}`);
    if (verdict.torn > 0) read.push(number(verdict.torn, 'torn line'));
    if (running > 0) read.push(`${running} in progress`);
    const found = count === 0 ? style.green('whole') : style.red(number(count, 'problem'));
    return [
      ...lines,
      ...(more > 0 ? [`and ${number(more, 'further problem')}`] : []),
      `${found}: ${read.join(', ')}`,
      '',
    ].join('\n');
  },
});

/** Reads the whole log once. Throws `log_not_found`, `file_unreadable`. */
async function verdict(
  { paths, note }: Pick<Context, 'paths' | 'note'>,
  anchor: Head | undefined,
): Promise<Verdict> {
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
  return {
    ok: problems.count === 0,
    files,
    lines,
    records,
    deploys: deploys.count,
    running,
    rotated_away: deploys.rotatedAway,
    torn: check.chain.torn,
    chain: chainOf(check.chain),
    problem_count: problems.count,
    problems: problems.inOrder(),
  };
}

function chainOf({ first, head }: ChainCheck): Verdict['chain'] {
  if (first === undefined || head === undefined) return null;
  return { first, last: head.seq, head: headText(head) };
}

/** A record as a message names it. Throws `usage`. */
function anchorOf(text: string): Head {
  const [, seq, hash] = /^#?(\d{1,15})[:·]([0-9a-f]{8,64})$/i.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw usage(`invalid value '${text}' for '--anchor <SEQ:HASH>': it looks like 4711:1a2b3c4d`);
  return { seq: Number(seq), hash: hash.toLowerCase() };
}

function number(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
