/** Which records of the log are wanted, and reading those, oldest first. */

import { kindOf, type LogRecord, projectOf, readRecord, textOf } from '@runner/common/audit/events';
import type { Unread } from '@runner/common/audit/files';
import { escapedNameAt, linesBackward } from '@runner/common/files/lines-backward';
import type { Line } from '@runner/common/files/lines-forward';
import { timeOfIso } from '@runner/common/text/time';
import { linesOf, type OpenLog } from './log-lines.ts';

/** What a record must have; what is undefined is not asked. */
export interface Filter {
  readonly project: string | undefined;
  readonly event: string | undefined;
  readonly instance: string | undefined;
  readonly deploy: string | undefined;
  /** Milliseconds since 1970, both included. */
  readonly since: number | undefined;
  readonly until: number | undefined;
}

/** Asks for nothing. */
export const EVERYTHING: Filter = {
  project: undefined,
  event: undefined,
  instance: undefined,
  deploy: undefined,
  since: undefined,
  until: undefined,
};

/** Whether a record is wanted; one whose time cannot be read is in no period. */
function isWanted(record: LogRecord, filter: Filter): boolean {
  const { project, event, instance, deploy, since, until } = filter;
  if (project !== undefined && projectOf(record) !== project) return false;
  if (event !== undefined && kindOf(record) !== event) return false;
  if (deploy !== undefined && record.deploy_id !== deploy) return false;
  if (instance !== undefined) {
    // A deploy of several instances names them all, and so may who asks.
    const names = (textOf(record, 'instance') || 'default').split(',');
    if (!instance.split(',').every((name) => names.includes(name))) return false;
  }
  if (since === undefined && until === undefined) return true;
  const time = timeOfIso(textOf(record, 'timestamp'));
  return time >= (since ?? Number.NEGATIVE_INFINITY) && time <= (until ?? Number.POSITIVE_INFINITY);
}

/** Finds wanted records among lines; those that cannot be wanted are not parsed. */
class Chooser {
  readonly #filter: Filter;
  readonly #unread: Unread;
  readonly #needles: readonly Buffer[];
  /** What stands in every line that is wanted; nothing when no name is asked for. */
  readonly needle: Buffer;

  constructor(filter: Filter, unread: Unread) {
    this.#filter = filter;
    this.#unread = unread;
    const names = [filter.project, filter.deploy].filter((name) => name !== undefined);
    this.#needles = names.map((name) => Buffer.from(JSON.stringify(name)));
    this.needle = this.#needles[0] ?? Buffer.alloc(0);
  }

  choose(line: Line): LogRecord | undefined {
    if (line === undefined) this.#unread.lines += 1;
    if (line === undefined) return undefined;
    const isNamed = this.#needles.every((needle) => line.includes(needle));
    if (!isNamed && escapedNameAt(line) === -1) return undefined;
    const record = readRecord(line);
    if (record !== undefined) return isWanted(record, this.#filter) ? record : undefined;
    if (!isBlank(line)) this.#unread.lines += 1;
    return undefined;
  }

  all(lines: readonly Line[]): LogRecord[] {
    return lines.map((line) => this.choose(line)).filter((each) => each !== undefined);
  }
}

/** Whether a line holds nothing: a writer may end a line that another one has just ended. */
export function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}

/** Where records are read from. */
export interface Sources {
  readonly logs: readonly OpenLog[];
  /** Lines of events that wait to be appended, oldest first. */
  readonly waiting: readonly string[];
}

/** All wanted records, a block of the log at a time. */
export async function* chosenRecords(
  { logs, waiting }: Sources,
  filter: Filter,
  unread: Unread,
): AsyncGenerator<LogRecord[]> {
  const chooser = new Chooser(filter, unread);
  for (const log of logs) {
    for await (const lines of linesOf(log, (why) => unread.damaged(log.path, why)))
      yield chooser.all(lines);
  }
  yield chooser.all(waiting.map((line) => Buffer.from(line)));
}

/** The newest `count` wanted records, oldest first: the log is read from its end. */
export async function newestChosen(
  { logs, waiting }: Sources,
  filter: Filter,
  count: number,
  unread: Unread,
): Promise<LogRecord[]> {
  const chooser = new Chooser(filter, unread);
  const last = chooser.all(waiting.map((line) => Buffer.from(line)));
  const found = last.reverse().slice(0, count);
  for (const log of [...logs].reverse()) {
    const missing = count - found.length;
    if (missing <= 0) break;
    if (log.path.endsWith('.gz')) {
      // There is no way back in a compressed file: as many as are missing are remembered.
      let newest: LogRecord[] = [];
      for await (const lines of linesOf(log, (why) => unread.damaged(log.path, why))) {
        newest.push(...chooser.all(lines));
        if (newest.length > missing) newest = newest.slice(-missing);
      }
      found.push(...newest.reverse());
      continue;
    }
    const tooLong = () => {
      unread.lines += 1;
    };
    for (const line of linesBackward(log.fd, chooser.needle, { size: log.end, tooLong })) {
      const record = chooser.choose(line);
      if (record && found.push(record) >= count) break;
    }
  }
  return found.reverse();
}
