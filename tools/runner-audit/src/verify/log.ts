/** Checks every line of the log. */
import type { ChainHead } from '@runner/common/audit/chain';
import { readRecord } from '@runner/common/audit/record';
import type { SplitLine } from '@runner/common/files/lines-forward';
import { isBlank, linesOf, type OpenLog } from '@runner/history/log/lines';
import { ChainCheck } from './chain.ts';
import { DeployCheck } from './deploys.ts';
import { type LinePosition, type ProblemKind, Problems } from './problems.ts';
import { RecordCheck } from './record.ts';

/** `{` */
const BRACE = 0x7b;

/** Call `check` or `closed` for each file in order, then `end`. */
export class LogCheck {
  readonly problems: Problems;
  readonly chain: ChainCheck;
  readonly deploys: DeployCheck;
  readonly #record: RecordCheck;
  #place: LinePosition = { file: -1, line: 0 };
  lines = 0;
  records = 0;

  constructor(files: readonly string[], anchor: ChainHead | undefined) {
    this.problems = new Problems(files);
    this.chain = new ChainCheck(anchor, (...problem) => this.problems.add(...problem));
    this.#record = new RecordCheck((...problem) => this.#report(...problem));
    this.deploys = new DeployCheck(files.length > 1, (...problem) => this.problems.add(...problem));
  }

  async check(log: OpenLog): Promise<void> {
    this.#nextFile();
    const damaged = (why: string) =>
      this.#report('file_damaged', `the file cannot be read to its end: ${why}`);
    for await (const lines of linesOf(log, damaged)) for (const line of lines) this.#line(line);
  }

  /** A file that could not be opened. */
  closed(why: string): void {
    this.#nextFile();
    this.#report('file_damaged', `the file cannot be read: ${why}`);
  }

  #nextFile(): void {
    this.#place = { file: this.#place.file + 1, line: 0 };
  }

  /** Undefined stands for a line that is too long. */
  #line(line: SplitLine): void {
    this.#place = { file: this.#place.file, line: this.#place.line + 1 };
    this.lines += 1;
    const record = line && readRecord(line);
    if (record) {
      this.records += 1;
      this.chain.record(record, line, this.#place);
      this.#record.check(record);
      this.deploys.check(record, this.#place);
      return;
    }
    // A killed writer or a full disk can leave the beginning of a record.
    const isTorn = line?.[0] === BRACE;
    if (this.chain.other(line, this.#place, isTorn)) return;
    if (line === undefined) this.#report('not_json', 'the line is longer than 16 MiB');
    else if (!isBlank(line)) this.#report('not_json', 'the line is not a JSON object');
  }

  end(): void {
    this.chain.end(this.#place);
  }

  #report(problem: ProblemKind, message: string): void {
    this.problems.add(problem, message, this.#place);
  }
}
