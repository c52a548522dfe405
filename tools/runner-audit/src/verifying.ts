/** `verify`: whether the audit log is whole. */
import { fstatSync } from 'node:fs';
import { basename } from 'node:path';
import { visitApps } from '@runner/common/apps/store';
import { summaryOf } from '@runner/common/apps/summary';
import { appendWaiting } from '@runner/common/audit/append';
import type { Context } from '@runner/common/cli/command';
import { isClosed, namesIn } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { DeployLedger } from './deploy-ledger.ts';
import { LogCheck } from './log-check.ts';
import { closeLogs, linesOf, type OpenLog, openLogs } from './log-lines.ts';
import type { Problem } from './problems.ts';

/** What `verify` prints. */
export interface Verdict {
  ok: boolean;
  files: string[];
  lines: number;
  records: number;
  deploys: number;
  /** Deploys that are under way now. */
  running: number;
  /** Ends whose start was rotated away. */
  rotated_away: number;
  problem_count: number;
  /** A thousand of them at most. */
  problems: readonly Problem[];
}

/**
 * Reads the whole log, more than once only where it tells of millions of deploys or of ends that are
 * missing; `slotsMax` is the size of the table of deploys. Throws `log_not_found`, `file_unreadable`.
 */
export async function verifyLog(
  { paths, note }: Pick<Context, 'paths' | 'note'>,
  slotsMax?: number,
): Promise<Verdict> {
  appendWaiting(paths);
  const before = unfinished(paths);
  const closed: (readonly [path: string, why: string])[] = [];
  const logs = openLogs(paths, (...each) => closed.push(each));
  // Asked twice: a deploy may have begun or ended while the files were opened.
  const { ids, unknown } = unfinished(paths);
  const running = new Set([...before.ids, ...ids]);
  if (unknown !== undefined)
    note(`the newest start of each app is taken for a deploy that is under way: ${unknown}`);
  const files = [...logs.map(({ name }) => name), ...closed.map(([path]) => basename(path))];
  const check = new LogCheck(files, new DeployLedger(deploysIn(logs), slotsMax));
  for (const [at, [, why]] of closed.entries()) check.closed(logs.length + at, why);
  await reading(logs, check, (line) => check.take(line));
  for (;;) {
    const expected = unknown === undefined ? running : [...running, ...check.newestStarts()];
    let unended = check.unended(expected);
    if (unended > 0)
      await reading(logs, check, (line) => check.takeUnended(line) && --unended === 0);
    if (!check.beginNext()) break;
    await reading(logs, check, (line) => check.takeAgain(line));
  }
  closeLogs(logs);
  const { lines, records, deploys, underWay, rotatedAway } = check.counts;
  const { count } = check.problems;
  return {
    ok: count === 0,
    files,
    lines,
    records,
    deploys,
    running: underWay,
    rotated_away: rotatedAway,
    problem_count: count,
    problems: check.problems.inOrder(),
  };
}

/** Bytes of a deploy's two records, at least; and of what a compressed byte may hold of them. */
const DEPLOY_BYTES = 290;
const PACKED = 15;

/** About how many deploys there can be. */
function deploysIn(logs: readonly OpenLog[]): number {
  const bytes = logs.map(
    ({ fd, path }) => fstatSync(fd).size * (path.endsWith('.gz') ? PACKED : 1),
  );
  return bytes.reduce((sum, size) => sum + size, 0) / DEPLOY_BYTES;
}

/** So many blocks of the log, 64 KiB each, leave garbage that is worth collecting. */
const BLOCKS = 256;

/**
 * V8 keeps short texts of JSON, as ids are, among what lives long: it lets twice the memory pile up
 * before it looks there, unless it is told to.
 */
function collector(): () => void {
  let blocks = 0;
  let gc = () => {
    process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc');
    gc = process.getBuiltinModule('node:vm').runInNewContext('gc');
    gc();
  };
  return () => {
    blocks += 1;
    if (blocks % BLOCKS === 0) gc();
  };
}

/** Shows one line after the other, until `visit` has seen enough. */
async function reading(
  logs: readonly OpenLog[],
  check: LogCheck,
  visit: (line: Buffer | undefined) => boolean | undefined,
): Promise<void> {
  const collect = collector();
  for (const [file, log] of logs.entries()) {
    check.beginFile(file);
    for await (const lines of linesOf(log, (why) => check.damaged(why))) {
      for (const line of lines) if (visit(line)) return;
      collect();
    }
  }
}

/**
 * Ids of deploys that run now, or whose end waits to be appended; and why not all of them are known,
 * where this user may not look.
 */
function unfinished(paths: Paths): { ids: string[]; unknown: string | undefined } {
  const ids: string[] = [];
  let unknown: string | undefined;
  const look = (folder: string, part: () => void) => {
    try {
      part();
    } catch (error) {
      if (!(error instanceof Failure) || !isClosed(folder)) throw error;
      unknown ??= error.message;
    }
  };
  look(paths.stateDir, () =>
    visitApps(
      paths,
      (app) => {
        const { deploying, state } = summaryOf(paths, app, Number.POSITIVE_INFINITY);
        if (deploying && state === 'deploying') ids.push(deploying.deploy_id);
      },
      ({ failure }) => {
        unknown ??= failure.message;
      },
    ),
  );
  look(paths.auditSpool, () => {
    for (const name of namesIn(paths.auditSpool)) {
      const id = /^\d+-(.{8})-Deploy(?:Success|Failure)\.jsonl$/.exec(name)?.[1];
      if (id !== undefined) ids.push(id);
    }
  });
  return { ids, unknown };
}
