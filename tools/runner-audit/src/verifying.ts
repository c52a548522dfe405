/** `verify`: whether the audit log is whole. */
import { basename } from 'node:path';
import { summaryOf } from '@runner/common/app-summary';
import { visitApps } from '@runner/common/apps';
import { appendWaiting } from '@runner/common/audit';
import type { Context } from '@runner/common/command';
import { kindOf, type LogRecord, projectOf, readRecord, textOf } from '@runner/common/events';
import { namesIn } from '@runner/common/files';
import type { Paths } from '@runner/common/paths';
import { DeployLedger, keyOf } from './deploy-ledger.ts';
import { closeLogs, linesOf, openLogs } from './log-lines.ts';
import { isBlank } from './selecting.ts';

/** What can be wrong with a log. */
export type ProblemKind =
  | 'not_json'
  | 'not_event'
  | 'time_order'
  | 'duplicate_id'
  | 'no_start'
  | 'no_end'
  | 'file_damaged';

/** A line that is not as it should be. */
export interface Problem {
  /** Name of the file in `logs/`. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly problem: ProblemKind;
  readonly message: string;
}

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
  /** The first thousand of them. */
  problems: Problem[];
}

/** More are counted and not kept. */
const PROBLEMS_MAX = 1000;
/** Two writers that take the time and then append may do so in either order, in milliseconds. */
const OUT_OF_ORDER = 1000;

/** Reads the whole log once. Throws `log_not_found`, `file_unreadable`. */
export async function verifyLog({ paths }: Pick<Context, 'paths'>): Promise<Verdict> {
  appendWaiting(paths);
  const before = unfinished(paths);
  const closed: (readonly [path: string, why: string])[] = [];
  const logs = openLogs(paths, (...each) => closed.push(each));
  // Asked twice: a deploy may have begun or ended while the files were opened.
  const running = new Set([...before, ...unfinished(paths)]);
  const check = new Check([
    ...logs.map(({ name }) => name),
    ...closed.map(([path]) => basename(path)),
  ]);
  for (const [at, [, why]] of closed.entries()) check.closed(logs.length + at, why);
  for (const [file, log] of logs.entries()) {
    check.beginFile(file);
    for await (const lines of linesOf(log, (why) => check.damaged(why)))
      for (const line of lines) check.take(line);
  }
  closeLogs(logs);
  return check.verdict(running);
}

/** Ids, as numbers, of deploys that run now, or whose end waits to be appended. */
function unfinished(paths: Paths): number[] {
  const keys: number[] = [];
  visitApps(
    paths,
    (app) => {
      const { deploying, state } = summaryOf(paths, app, Number.POSITIVE_INFINITY);
      if (deploying && state === 'deploying') keys.push(keyOf(deploying.deploy_id));
    },
    () => {},
  );
  for (const name of namesIn(paths.auditSpool)) {
    const id = /^\d+-(.{8})-Deploy(?:Success|Failure)\.jsonl$/.exec(name)?.[1];
    if (id !== undefined) keys.push(keyOf(id));
  }
  return keys;
}

class Check {
  readonly #files: readonly string[];
  readonly #ledger = new DeployLedger();
  /** Apps with a start so far: whatever ends after that must have begun in this log. */
  readonly #begun = new Set<string>();
  readonly #problems: Problem[] = [];
  #count = 0;
  #file = 0;
  #line = 0;
  #lines = 0;
  #records = 0;
  #rotatedAway = 0;
  #time = Number.NEGATIVE_INFINITY;
  #timestamp = '';

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  beginFile(file: number): void {
    this.#file = file;
    this.#line = 0;
  }

  /** The next line of the file; undefined for one that was too long to be read. */
  take(line: Buffer | undefined): void {
    this.#line += 1;
    this.#lines += 1;
    const record = line && readRecord(line);
    if (record) this.#checkRecord(record);
    else if (line === undefined) this.#problem('not_json', 'the line is longer than 16 MiB');
    else if (!isBlank(line)) this.#problem('not_json', 'the line is no JSON object');
  }

  /** A file that could not be opened. */
  closed(file: number, why: string): void {
    this.#problem('file_damaged', `the file cannot be read: ${why}`, { file, line: 0 });
  }

  damaged(why: string): void {
    this.#problem('file_damaged', `the file cannot be read any further: ${why}`);
  }

  verdict(running: ReadonlySet<number>): Verdict {
    let underWay = 0;
    for (const { key, id, file, line } of this.#ledger.open()) {
      const name = id === undefined ? 'a deploy' : `deploy ${id}`;
      if (running.has(key)) underWay += 1;
      else this.#problem('no_end', `${name} began and has no end`, { file, line });
    }
    const place = ({ file, line }: Problem) => this.#files.indexOf(file) * 2 ** 32 + line;
    return {
      ok: this.#count === 0,
      files: [...this.#files],
      lines: this.#lines,
      records: this.#records,
      deploys: this.#ledger.count,
      running: underWay,
      rotated_away: this.#rotatedAway,
      problem_count: this.#count,
      problems: this.#problems.sort((a, b) => place(a) - place(b)),
    };
  }

  #problem(
    problem: ProblemKind,
    message: string,
    { file, line } = { file: this.#file, line: this.#line },
  ): void {
    this.#count += 1;
    if (this.#problems.length >= PROBLEMS_MAX) return;
    this.#problems.push({ file: this.#files[file] as string, line, problem, message });
  }

  #checkRecord(record: LogRecord): void {
    this.#records += 1;
    const [kind, app, id] = [kindOf(record), projectOf(record), textOf(record, 'deploy_id')];
    const time = Date.parse(textOf(record, 'timestamp'));
    const missing = [
      typeof kind === 'string' && kind !== '' ? [] : ['event_type'],
      typeof app === 'string' && app !== '' ? [] : ['project'],
      Number.isNaN(time) ? ['timestamp'] : [],
    ].flat();
    if (missing.length > 0) this.#problem('not_event', `the record has no ${missing.join(', ')}`);
    // What had to wait for a log that could be written stands later than it happened.
    if (!Number.isNaN(time) && record.late !== true) this.#checkTime(time, record);
    // Before there were ids, events of one deploy could not be told from those of another.
    if (id !== '') this.#checkDeploy(record, String(kind), String(app), id);
  }

  #checkTime(time: number, record: LogRecord): void {
    const timestamp = textOf(record, 'timestamp');
    if (time <= this.#time - OUT_OF_ORDER) {
      const message = `the time ${timestamp} is before that of the record above, ${this.#timestamp}`;
      this.#problem('time_order', message);
    }
    this.#time = time;
    this.#timestamp = timestamp;
  }

  #checkDeploy(record: LogRecord, kind: string, app: string, id: string): void {
    if (kind === 'DeployStarted') {
      this.#begun.add(app);
      if (!this.#ledger.start(id, { file: this.#file, line: this.#line }))
        this.#problem('duplicate_id', `deploy ${id} has a second DeployStarted`);
    } else if (kind === 'DeploySuccess' || kind === 'DeployFailure') {
      const { started, ended } = this.#ledger.end(id);
      if (ended) this.#problem('duplicate_id', `deploy ${id} has a second end`);
      // A rollback by hand that fails is the end of no deploy.
      else if (started || record.from_version !== undefined) return;
      else if (this.#mayBeRotated(app)) this.#rotatedAway += 1;
      else this.#problem('no_start', `deploy ${id} ended and has no DeployStarted`);
    }
  }

  /** Whether a start may have been in a file that is gone: only at the oldest end of a rotated log. */
  #mayBeRotated(app: string): boolean {
    return this.#file === 0 && this.#files.length > 1 && !this.#begun.has(app);
  }
}
