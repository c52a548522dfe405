/** What `verify` asks of a record by itself, and of its time among those above. */
import { kindOf, type LogRecord, projectOf, textOf } from '@runner/common/audit/events';
import { timeOfIso } from '@runner/common/text/time';
import { type ProblemKind, shown } from './problems.ts';

/** Two writers that take the time and then append may do so in either order, in milliseconds. */
const OUT_OF_ORDER = 1000;

/** Names of one field. */
const TWINS = [
  ['event_type', 'event'],
  ['project', 'app'],
] as const;

/** Looks at record after record, in the order of the log. */
export class RecordCheck {
  readonly #tell: (problem: ProblemKind, message: string) => void;
  #time = Number.NEGATIVE_INFINITY;
  #timestamp = '';

  constructor(tell: (problem: ProblemKind, message: string) => void) {
    this.#tell = tell;
  }

  check(record: LogRecord): void {
    const [kind, app, timestamp] = [kindOf(record), projectOf(record), textOf(record, 'timestamp')];
    const missing = [
      typeof kind === 'string' && kind !== '' ? [] : ['event_type'],
      typeof app === 'string' && app !== '' ? [] : ['project'],
      timestamp === '' ? ['timestamp'] : [],
    ].flat();
    if (missing.length > 0) this.#tell('not_event', `the record has no ${missing.join(', ')}`);
    for (const [name, other] of TWINS) {
      const [one, two] = [record[name], record[other]];
      if (one !== undefined && two !== undefined && one !== two)
        this.#tell('not_event', `the record has two different values in ${name} and ${other}`);
    }
    if (timestamp === '') return;
    const time = timeOfIso(timestamp);
    if (Number.isNaN(time))
      this.#tell('not_event', `the time '${shown(timestamp)}' cannot be read`);
    // What had to wait for a log that could be written stands later than it happened.
    else if (record.late !== true) this.#checkTime(time, timestamp);
  }

  #checkTime(time: number, timestamp: string): void {
    const isBehind = time <= this.#time - OUT_OF_ORDER;
    if (isBehind) {
      const message = `the time ${timestamp} is before that of a record above, ${this.#timestamp}`;
      this.#tell('time_order', message);
    }
    // The newest so far: many small steps back are one large one. One wrong clock is told once.
    if (time <= this.#time && !isBehind) return;
    this.#time = time;
    this.#timestamp = timestamp;
  }
}
