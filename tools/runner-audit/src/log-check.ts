/** What `verify` asks of each line of the log: of deploys, whose events belong together. */
import { kindOf, type LogRecord, projectOf, readRecord, textOf } from '@runner/common/audit/events';
import { AppNumbers, type DeployLedger, keyOf, MARK, type Part, WHOLE } from './deploy-ledger.ts';
import { type ProblemKind, Problems, SHOWN_MAX, shown } from './problems.ts';
import { RecordCheck } from './record-check.ts';
import { isBlank } from './selecting.ts';

/** Checks lines in their order; where there are too many deploys, in several readings of the log. */
export class LogCheck {
  readonly #files: readonly string[];
  readonly #apps = new AppNumbers();
  /** What was found. */
  readonly problems: Problems;
  readonly #record = new RecordCheck((problem, message) => this.#problem(problem, message));
  #part: Part = WHOLE;
  readonly #ledger: DeployLedger;
  /** Apps with a start so far: whatever ends after that must have begun in this log. */
  #begun = new Set<number>();
  /** The newest start of each app. */
  readonly #newest = new Map<number, string>();
  #reading = 0;
  #file = 0;
  #line = 0;
  /** What was counted. */
  readonly counts = { lines: 0, records: 0, deploys: 0, underWay: 0, rotatedAway: 0 };

  constructor(files: readonly string[], ledger: DeployLedger) {
    this.#files = files;
    this.problems = new Problems(files);
    this.#ledger = ledger;
  }

  beginFile(file: number): void {
    if (file === 0) this.#reading += 1;
    this.#file = file;
    this.#line = 0;
  }

  /** The next line of the file, in the first reading; undefined for one that was too long. */
  take(line: Buffer | undefined): undefined {
    this.#line += 1;
    this.counts.lines += 1;
    const record = line && readRecord(line);
    if (record) {
      this.counts.records += 1;
      this.#record.check(record);
      this.#checkDeploy(record);
    } else if (line === undefined) this.#problem('not_json', 'the line is longer than 16 MiB');
    else if (!isBlank(line)) this.#problem('not_json', 'the line is no JSON object');
  }

  /** The same line in a further reading. */
  takeAgain(line: Buffer | undefined): undefined {
    this.#line += 1;
    const record = line && readRecord(line);
    if (record) this.#checkDeploy(record);
  }

  /** Whether another reading is to be made: the deploys that the one before had no room for. */
  beginNext(): boolean {
    const part = this.#ledger.next();
    if (part === undefined) return false;
    this.#part = part;
    this.#begun = new Set();
    return true;
  }

  /** After a reading: the number of its deploys without an end that is none of the expected ones. */
  unended(expected: Iterable<string>): number {
    const { deploys, open } = this.#ledger.count();
    this.counts.deploys += deploys;
    let found = 0;
    for (const id of expected) {
      const at = this.#ledger.known(keyOf(id));
      if (at === -1 || !this.#isOpen(at)) continue;
      found += 1;
      this.#ledger.mark(at, MARK.ended);
    }
    this.counts.underWay += found;
    return open - found;
  }

  /** Finds where those began, in one more reading; true when it was the one of this line. */
  takeUnended(line: Buffer | undefined): boolean {
    this.#line += 1;
    const record = line && readRecord(line);
    if (!record || kindOf(record) !== 'DeployStarted') return false;
    const id = textOf(record, 'deploy_id');
    const at = id === '' ? -1 : this.#ledger.known(keyOf(id));
    if (at === -1 || !this.#isOpen(at)) return false;
    this.#ledger.mark(at, MARK.ended);
    this.#problem('no_end', `deploy ${shown(id)} began and has no end`);
    return true;
  }

  /** Ids of the newest start of each app. */
  newestStarts(): Iterable<string> {
    return this.#newest.values();
  }

  /** A file that could not be opened. */
  closed(file: number, why: string): void {
    this.#problem('file_damaged', `the file cannot be read: ${why}`, { file, line: 0 });
  }

  /** A file that cannot be read any further; told in the first reading. */
  damaged(why: string): void {
    if (this.#reading === 1)
      this.#problem('file_damaged', `the file cannot be read any further: ${why}`);
  }

  #isOpen(at: number): boolean {
    return this.#ledger.has(at, MARK.started) && !this.#ledger.has(at, MARK.ended);
  }

  #problem(
    problem: ProblemKind,
    message: string,
    place = { file: this.#file, line: this.#line },
  ): void {
    this.problems.add(problem, message, place);
  }

  /** What needs to be known of other records of the same deploy. */
  #checkDeploy(record: LogRecord): void {
    const id = textOf(record, 'deploy_id');
    const kind = kindOf(record);
    // Before there were ids, events of one deploy could not be told from those of another.
    if (id === '' || typeof kind !== 'string') return;
    const app = this.#apps.of(String(projectOf(record)));
    if (kind === 'DeployStarted') {
      this.#begun.add(app);
      if (app !== 0 && id.length <= SHOWN_MAX) this.#newest.set(app, id);
      this.#event(MARK.started, id, app, (started) => {
        if (started)
          this.#deployProblem('duplicate_id', `deploy ${shown(id)} has a second DeployStarted`);
      });
    } else if (kind === 'DeploySuccess' || kind === 'DeployFailure') {
      this.#checkEnd(record, kind, id, app);
    } else if (kind === 'RollbackSuccess') this.#checkRollback(record, id, app);
  }

  #checkEnd(record: LogRecord, kind: string, id: string, app: number): void {
    this.#event(MARK.ended, id, app, (ended, at) => {
      const [started, rolledBack] = [
        this.#ledger.has(at, MARK.started),
        this.#ledger.has(at, MARK.rolledBack),
      ];
      if (kind === 'DeployFailure') this.#ledger.mark(at, MARK.failed);
      if (ended) return this.#deployProblem('duplicate_id', `deploy ${shown(id)} has a second end`);
      // A rollback by hand that fails is the end of no deploy.
      if (record.from_version !== undefined) return;
      // Where the start is known, the rollback that came too soon has been told.
      if (rolledBack && !started && record.late !== true)
        this.#deployProblem('event_order', `deploy ${shown(id)} ended after it was rolled back`);
      if (started) return;
      if (!this.#mayBeRotated(app))
        this.#deployProblem('no_start', `deploy ${shown(id)} ended and has no DeployStarted`);
      else if (this.#isNew()) this.counts.rotatedAway += 1;
    });
  }

  /** One for each instance; the id of a rollback by hand is that of no deploy. */
  #checkRollback(record: LogRecord, id: string, app: number): void {
    this.#event(MARK.rolledBack, id, app, (_, at) => {
      const early = this.#ledger.has(at, MARK.started) && !this.#ledger.has(at, MARK.failed);
      if (early && record.late !== true)
        this.#deployProblem('event_order', `deploy ${shown(id)} was rolled back before it failed`);
    });
    const instance = textOf(record, 'instance') || 'default';
    this.#event(MARK.rolledBack, `${id} of ${instance}`, 0, (again) => {
      if (again)
        this.#deployProblem(
          'duplicate_id',
          `deploy ${shown(id)} has a second RollbackSuccess of ${shown(instance)}`,
        );
    });
  }

  /** Marks a deploy of this reading; `judge` hears whether it had the mark, and its slot. */
  #event(mark: number, id: string, app: number, judge: (had: boolean, at: number) => void): void {
    const at = this.#ledger.slot(keyOf(id), this.#place());
    if (at === -1) return;
    const had = this.#ledger.has(at, mark);
    this.#ledger.mark(at, mark);
    const known = this.#ledger.app(at, app);
    if (known !== app && app !== 0)
      this.#deployProblem('other_app', `deploy ${shown(id)} is one of another app above`);
    judge(had, at);
  }

  /** What an earlier reading has told is not told again. */
  #deployProblem(problem: ProblemKind, message: string): void {
    if (this.#isNew()) this.#problem(problem, message);
  }

  #isNew(): boolean {
    return this.#place() >= this.#part.from;
  }

  #place(): number {
    return this.#file * 2 ** 32 + this.#line;
  }

  /** Whether a start may have been in a file that is gone: only at the oldest end of a rotated log. */
  #mayBeRotated(app: number): boolean {
    return this.#file === 0 && this.#files.length > 1 && !this.#begun.has(app);
  }
}
