/** Checks the fields of every record, and its time against earlier records. */
import {
  disagreementsIn,
  isForeign,
  kindOf,
  type LogRecord,
  projectOf,
  textOf,
} from '@runner/common/audit/record';
import { timeOfIso } from '@runner/common/text/time';
import { type ProblemKind, short } from './problems.ts';

/** Tolerance in ms: writers take the time before they wait for the lock, so neighbours may be swapped. */
const OUT_OF_ORDER = 10_000;

export class RecordCheck {
  readonly #report: (problem: ProblemKind, message: string) => void;
  #time = Number.NEGATIVE_INFINITY;
  #timestamp = '';

  constructor(report: (problem: ProblemKind, message: string) => void) {
    this.#report = report;
  }

  check(record: LogRecord): void {
    const [kind, app, timestamp] = [kindOf(record), projectOf(record), textOf(record, 'timestamp')];
    const missing = [
      typeof kind === 'string' && kind !== '' ? [] : ['event_type'],
      typeof app === 'string' && app !== '' ? [] : ['project'],
      timestamp === '' ? ['timestamp'] : [],
    ].flat();
    if (missing.length > 0) this.#report('not_event', `the record has no ${missing.join(', ')}`);
    for (const words of disagreementsIn(record)) this.#report('not_event', words);
    if (timestamp === '') return;
    const time = timeOfIso(timestamp);
    if (Number.isNaN(time))
      this.#report('not_event', `the time '${short(timestamp)}' cannot be read`);
    // A late event had to wait for the log, so its position is later than its time; another tool has
    // its own clock.
    else if (record.late !== true && !isForeign(record)) this.#checkTime(time, timestamp);
  }

  #checkTime(time: number, timestamp: string): void {
    const isBehind = time <= this.#time - OUT_OF_ORDER;
    if (isBehind)
      this.#report(
        'time_order',
        `the time ${timestamp} is before that of an earlier record, ${this.#timestamp}`,
      );
    // Compare with the newest time so far, so that many small steps back are noticed; but continue from
    // the new time after a large step back, so that a wrong clock is reported once.
    if (time <= this.#time && !isBehind) return;
    this.#time = time;
    this.#timestamp = timestamp;
  }
}
