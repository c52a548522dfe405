/** Events from standard input, one JSON object a line: checked, appended in batches, echoed. */
import { appendKept, appendLines, lineOf } from '@runner/common/audit/append';
import {
  type Completion,
  completeEvent,
  type DeployEvent,
  type LogRecord,
} from '@runner/common/audit/events';
import { LINE_MAX } from '@runner/common/files/lines-backward';
import { type Line, LineSplitter } from '@runner/common/files/lines-forward';
import { Failure, usage } from '@runner/common/foundation/failure';
import type { Place } from '@runner/common/redaction/known-secrets';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { type EmitContext, FIELDS } from './emitting.ts';
import { readyReader } from './ready-input.ts';

/** The longest record: an error is cut to fit, but further fields may be of any length. */
const RECORD_MAX = 1_048_576;
/** So many bytes of input are one append at most; a pause in the input ends a batch sooner. */
const BATCH = 524_288;

/**
 * `emit` with NDJSON on standard input: what is there already when a batch has been read joins it, so
 * that a stream at full speed shares one append and one fdatasync among thousands of records.
 */
export async function emitStream(context: EmitContext): Promise<number> {
  const { io, options, paths, format } = context;
  const given = Object.keys(options).find(
    (option) => FIELDS.has(option) && options[option] !== undefined,
  );
  if (given) throw usage(`the argument '--${given}' needs <EVENT>`);
  appendKept(paths);
  const input = new EventInput(context);
  const ready = readyReader(io.stdin);
  for (let ended = false; !ended; ) {
    let chunk: Uint8Array | null | undefined = io.stdin.read();
    while (chunk) {
      input.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
      chunk = input.size < BATCH ? ready.read() : undefined;
    }
    ended = chunk === null;
    if (ended) input.end();
    const batch = await input.batch();
    const records = batch.map(({ record }) => record);
    appendLines(paths, records);
    if (format === 'yaml') for (const { event } of batch) await context.print(event);
    else io.stdout.write(records.join(''));
  }
  ready.close();
  return input.sawBad ? 1 : 0;
}

interface Made {
  readonly event: DeployEvent;
  readonly record: string;
}

/** Makes events of blocks of bytes; what is no event is told at once. */
class EventInput {
  readonly #note: EmitContext['note'];
  readonly #place: Place;
  readonly #completion: Completion;
  readonly #splitter = new LineSplitter();
  /** Lines that no event was made of yet. */
  #lines: Line[] = [];
  #number = 0;
  /** Bytes that were taken since a batch was asked for. */
  size = 0;
  sawBad = false;

  constructor({ io, paths, note }: EmitContext) {
    this.#note = note;
    this.#place = { paths, env: io.env };
    this.#completion = io;
  }

  take(block: Buffer): void {
    this.size += block.length;
    for (const line of this.#splitter.take(block)) this.#lines.push(line);
  }

  /** The line behind the last newline, if there is one. */
  end(): void {
    this.#lines.push(...this.#splitter.rest());
  }

  /** The events of the lines that were taken since it was asked last. */
  async batch(): Promise<readonly Made[]> {
    const batch: Made[] = [];
    const cleaner = new RecordCleaner(this.#place);
    for (const line of this.#lines) {
      this.#number += 1;
      const made = await this.#eventOf(line, cleaner);
      if (made) batch.push(made);
      else if (made === null) this.sawBad = true;
    }
    this.#lines = [];
    this.size = 0;
    return batch;
  }

  /**
   * The event of a line and its record; undefined for a blank line, null for a bad one, which is
   * told. Tokens are read once in a batch: `edit` may replace them while a stream goes on.
   */
  async #eventOf(line: Line, cleaner: RecordCleaner): Promise<Made | undefined | null> {
    try {
      const text = line?.toString('utf8').trim();
      if (text === '') return undefined;
      if (text === undefined) throw tooLong(LINE_MAX);
      const parsed: unknown = JSON.parse(text);
      // Before a long text is cut: a secret that is cut is not recognised.
      const clean = isRecord(parsed) ? await cleaner.clean(parsed) : parsed;
      const event = completeEvent(clean, this.#completion);
      const record = lineOf(event);
      if (Buffer.byteLength(record) > RECORD_MAX) throw tooLong(RECORD_MAX);
      return { event, record };
    } catch (error) {
      const why =
        error instanceof SyntaxError
          ? 'the event is not JSON (event_invalid)'
          : error instanceof Failure && `${error.message} (${error.code})`;
      if (!why) throw error;
      this.#note(`line ${this.#number}: ${why}`);
      return null;
    }
  }
}

function isRecord(value: unknown): value is LogRecord {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function tooLong(limit: number): Failure {
  return new Failure('event_invalid', `the event is longer than ${limit} bytes`);
}
