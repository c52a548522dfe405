/** Reads events from standard input, one JSON object per line; checks, appends and prints them in batches. */
import { appendLines, keepUnlessStart, lineOf } from '@runner/common/audit/append';
import { completeEvent, type RecordDefaults } from '@runner/common/audit/complete';
import type { DeployEvent } from '@runner/common/audit/events';
import { appendKept } from '@runner/common/audit/kept';
import { readRecord } from '@runner/common/audit/record';
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
const BATCH = 4_194_304;

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
    let size = 0;
    let chunk: Uint8Array | null | undefined = io.stdin.read();
    while (chunk) {
      size += chunk.length;
      await events.read(splitter.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)));
      chunk = size < BATCH ? ready.read() : undefined;
    }
    ended = chunk === null;
    if (ended) await events.read(splitter.rest());
    const records = events.record();
    if (format === 'yaml') for (const { line } of records) await context.print(readRecord(line));
    else io.stdout.write(records.map(({ line }) => line).join(''));
  }
  ready.close();
  return events.sawInvalid ? 1 : 0;
}

interface Read {
  /** Line number in the input. */
  readonly number: number;
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
  #cleaner: RecordCleaner | undefined;
  #batch: Read[] = [];
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

  /** Adds the events of these lines to the batch. */
  async read(lines: readonly SplitLine[]): Promise<void> {
    // Secrets are read once per batch: `edit` may replace a token while a stream runs.
    this.#cleaner ??= this.#newCleaner();
    for (const line of lines) {
      this.#number += 1;
      try {
        const parsed = this.#parsed(line);
        if (parsed === undefined) continue;
        // Redact before shortening: half a secret would not be recognised.
        const clean = isObject(parsed) ? this.#cleaner.clean(parsed) : parsed;
        // Not awaited without need: that takes as long as the rest.
        this.#batch.push(this.#readOf(clean instanceof Promise ? await clean : clean));
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        this.#report(this.#number, error);
      }
    }
  }

  #newCleaner(): RecordCleaner {
    const { io, paths } = this.#context;
    this.#logged.newBatch();
    return new RecordCleaner({ paths, env: io.env });
  }

  /** Ends the batch: appends the new ones, or keeps them for later while the log is busy; returns all as recorded. */
  record(): readonly Read[] {
    const { paths, note } = this.#context;
    const batch = this.#batch;
    this.#batch = [];
    this.#cleaner = undefined;
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
      const event = readRecord(read.line) as DeployEvent;
      return [{ ...read, line: lineOf(keepUnlessStart(this.#context.paths, event, busy)) }];
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

  /** What a line holds; undefined for a blank one. Throws `event_invalid`. */
  #parsed(line: SplitLine): unknown {
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
    return parse(text);
  }

  /** Throws `event_invalid`. */
  #readOf(clean: unknown): Read {
    if (isObject(clean) && this.#logged.has(clean))
      return { number: this.#number, line: `${jsonLine(clean)}\n`, isLogged: true };
    const line = lineOf(completeEvent(clean, this.#completion));
    if (Buffer.byteLength(line) > RECORD_MAX) throw tooLong(RECORD_MAX);
    return { number: this.#number, line };
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
