import { basename } from 'node:path';
import { appendWaiting } from '@runner/common/audit/append';
import { type Context, command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import { closeLogs, openLogs } from '@runner/history/log/lines';
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
  /** The first 1,000. */
  problems: readonly Problem[];
}

export const verify = command({
  name: 'verify',
  about: 'Check that the audit log is complete: every line, order, IDs, deploys',
  details:
    'Every line must be an event, times must be in order, a deploy belongs to one app and has one start\n' +
    'and one end. A deploy in progress and a start that was rotated away are not problems. At most 1,000\n' +
    'problems are printed, with file and line; all are counted. With problems the status is 1.',
  async run(context) {
    const value = await verdict(context);
    return { value, status: value.ok ? 0 : 1 };
  },
  human(verdict: Verdict, style) {
    const { files, records, deploys, running, problem_count: count, problems } = verdict;
    const more = count - problems.length;
    const lines = problems.map(
      ({ file, line, message }) => `${file}:${line}: ${harmlessLine(message)}`,
    );
    const read = [
      number(records, 'record'),
      number(deploys, 'deploy'),
      number(files.length, 'file'),
    ];
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
async function verdict({ paths, note }: Pick<Context, 'paths' | 'note'>): Promise<Verdict> {
  appendWaiting(paths);
  const before = deploysInProgress(paths);
  const closed: { path: string; why: string }[] = [];
  const logs = openLogs(paths, (path, why) => closed.push({ path, why }));
  // Asked twice: a deploy may have begun or ended while the files were opened.
  const { ids, unknown } = deploysInProgress(paths);
  if (unknown !== undefined)
    note(`assuming that the newest start of each app is a deploy in progress: ${unknown}`);
  const files = [...logs.map(({ name }) => name), ...closed.map(({ path }) => basename(path))];
  const check = new LogCheck(files);
  for (const log of logs) await check.check(log);
  closeLogs(logs);
  for (const { why } of closed) check.closed(why);
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
    problem_count: problems.count,
    problems: problems.inOrder(),
  };
}

function number(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
