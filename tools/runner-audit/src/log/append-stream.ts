/** Reads events from standard input, one JSON object per line; checks, appends and prints them in batches. */
import { appended, appendLines, keepUnlessStart, lineOf } from '@runner/common/audit/append';
import { completeEvent, type RecordDefaults } from '@runner/common/audit/complete';
import type { DeployEvent } from '@runner/common/audit/events';
import { appendKept } from '@runner/common/audit/kept';
import type { Context } from '@runner/common/cli/command';
import { LINE_MAX } from '@runner/common/files/lines-backward';
import { LineSplitter, type SplitLine } from '@runner/common/files/lines-forward';
import { Failure } from '@runner/common/foundation/failure';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { jsonLine } from '@runner/common/text/harmless';
import { isObject, parseJson } from '@runner/common/text/json';
import { LoggedRecords } from './logged.ts';
import { readyReader } from './ready-input.ts';

type StreamContext = Pick<Context, 'io' | 'paths' | 'print' | 'note' | 'format'>;

/** Longest record, in bytes. Long errors are shortened, but other fields are not. */
const RECORD_MAX = 1_048_576;
/** Input per append, in bytes; a pause in the input ends a batch earlier. */
const BATCH = 1_048_576;

/**
 * Returns the exit status. A batch takes all input that is ready, so at full speed thousands of records
 * share one append and one fdatasync.
 */
export async function appendStream(context: StreamContext): Promise<number> {
  const { io, paths, format } = context;
  appendKept(paths);
  const events = new EventReader(context);
  const splitter = new LineSplitter();
  const ready = readyReader(io.stdin);
  for (let ended = false; !ended; ) {
    const lines: SplitLine[] = [];
    let size = 0;
    let chunk: Uint8Array | null | undefined = io.stdin.read();
    while (chunk) {
      size += chunk.length;
      // Not spread: a block may contain more lines than a call can have arguments.
      for (const line of splitter.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)))
        lines.push(line);
      chunk = size < BATCH ? ready.read() : undefined;
    }
    ended = chunk === null;
    if (ended) lines.push(...splitter.rest());
    const records = events.record(await events.read(lines));
    if (format === 'yaml')
      for (const { event, line } of records) await context.print(appended(event, line));
    else io.stdout.write(records.map(({ line }) => line).join(''));
  }
  ready.close();
  return events.sawInvalid ? 1 : 0;
}

interface Read {
  /** Line number in the input. */
  readonly number: number;
  readonly event: DeployEvent;
  /** The event as a line of the log. */
  readonly line: string;
  /** It stands in the log already. */
  readonly isLogged?: true;
}

/** Parses lines into events, and reports invalid ones with their line number. */
class EventReader {
  readonly #context: StreamContext;
  readonly #completion: RecordDefaults;
  readonly #logged: LoggedRecords;
  #number = 0;
  /** Within an object that is spread over lines, which is reported once. */
  #isSpread = false;
  sawInvalid = false;

  constructor(context: StreamContext) {
    this.#context = context;
    const { io, paths } = context;
    this.#logged = new LoggedRecords(paths);
    this.#completion = { now: () => io.now(), random: () => io.random(), isForeign: true };
  }

  async read(lines: readonly SplitLine[]): Promise<readonly Read[]> {
    const { io, paths } = this.#context;
    const batch: Read[] = [];
    // Secrets are read once per batch: `edit` may replace a token while a stream runs.
    const cleaner = new RecordCleaner({ paths, env: io.env });
    this.#logged.newBatch();
    for (const line of lines) {
      this.#number += 1;
      try {
        const read = await this.#eventOf(line, cleaner);
        if (read) batch.push(read);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        this.#report(this.#number, error);
      }
    }
    return batch;
  }

  /** Appends the new ones of a batch, or keeps them for later while the log is busy; returns all as recorded. */
  record(batch: readonly Read[]): readonly Read[] {
    const { paths, note } = this.#context;
    const fresh = batch.filter(({ isLogged }) => !isLogged);
    if (fresh.length === 0) return batch;
    try {
      const lines = appendLines(
        paths,
        fresh.map(({ line }) => line),
      )[Symbol.iterator]();
      return batch.map((read) =>
        read.isLogged ? read : { ...read, line: lines.next().value as string },
      );
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'audit_busy') throw error;
      const kept = batch.flatMap((read) => (read.isLogged ? read : this.#keep(read, error)));
      const count = kept.filter(({ isLogged }) => !isLogged).length;
      if (count > 0)
        note(`${error.message}; ${count} event(s) are kept and will be appended later`);
      return kept;
    }
  }

  #keep(read: Read, busy: Failure): Read[] {
    try {
      const event = keepUnlessStart(this.#context.paths, read.event, busy);
      return [{ ...read, event, line: lineOf(event) }];
    } catch (error) {
      if (error !== busy) throw error;
      this.#report(read.number, busy);
      return [];
    }
  }

  #report(number: number, { message, code }: Failure): void {
    this.sawInvalid = true;
    this.#context.note(`line ${number}: ${message} (${code})`);
  }

  /** The event of a line and its record; undefined for a blank line. Throws `event_invalid`. */
  async #eventOf(line: SplitLine, cleaner: RecordCleaner): Promise<Read | undefined> {
    const text = line?.toString('utf8').trim();
    if (text === '') return undefined;
    if (text === undefined) throw tooLong(LINE_MAX);
    if (this.#isSpread) {
      const first = String.fromCharCode(line?.[0] ?? 0);
      // Lines within it are indented; a line that is not, nor its end, is an event of its own.
      this.#isSpread = first === ' ' || first === '\t';
      if (this.#isSpread || first === '}' || first === ']') return undefined;
    }
    this.#isSpread = text === '{' || text === '[';
    if (this.#isSpread)
      throw new Failure('event_invalid', 'the event is not JSON: put one object on a line: jq -c');
    const parsed = parse(text);
    // Redact before shortening: half a secret would not be recognised.
    const clean = isObject(parsed) ? await cleaner.clean(parsed) : parsed;
    if (isObject(clean) && this.#logged.has(clean))
      return {
        number: this.#number,
        event: clean as DeployEvent,
        line: `${jsonLine(clean)}\n`,
        isLogged: true,
      };
    const event = completeEvent(clean, this.#completion);
    const record = lineOf(event);
    if (Buffer.byteLength(record) > RECORD_MAX) throw tooLong(RECORD_MAX);
    return { number: this.#number, event, line: record };
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const why = error instanceof RangeError ? 'nested deeper than 100 levels' : 'not JSON';
    throw new Failure('event_invalid', `the event is ${why}`);
  }
}

function tooLong(limit: number): Failure {
  return new Failure('event_invalid', `the event is longer than ${limit} bytes`);
}
