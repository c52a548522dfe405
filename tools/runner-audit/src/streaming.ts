/** Events from standard input, one JSON object a line: checked, appended in batches, echoed. */
import { appendKept, appendLines, lineOf } from '@runner/common/audit';
import { type Completion, completeEvent, type DeployEvent } from '@runner/common/events';
import { Failure, usage } from '@runner/common/failure';
import { clean, type EmitContext, FIELDS } from './emitting.ts';
import { readyReader } from './ready-input.ts';

/** A longer line is no event: reported and passed over. */
const LINE_MAX = 16_777_216;
/** The longest record: an error is cut to fit, but further fields may be of any length. */
const RECORD_MAX = 1_048_576;
const NEWLINE = 0x0a;
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
    const batch = input.batch();
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
  readonly #completion: Completion;
  #made: Made[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #overlong = false;
  #number = 0;
  /** Bytes that were taken since a batch was asked for. */
  size = 0;
  sawBad = false;

  constructor({ io, note }: EmitContext) {
    this.#note = note;
    this.#completion = { now: io.now, random: pooled(io.random) };
  }

  take(block: Buffer): void {
    this.size += block.length;
    const bytes = this.#rest.length === 0 ? block : Buffer.concat([this.#rest, block]);
    const end = bytes.lastIndexOf(NEWLINE);
    this.#rest = bytes.subarray(end + 1);
    if (end !== -1) {
      const lines: (Buffer | undefined)[] = linesOf(bytes.subarray(0, end));
      if (this.#overlong) lines[0] = undefined;
      this.#overlong = false;
      for (const line of lines) this.#make(line);
    }
    if (this.#rest.length > LINE_MAX) {
      this.#rest = Buffer.alloc(0);
      this.#overlong = true;
    }
  }

  /** The line behind the last newline, if there is one. */
  end(): void {
    if (this.#overlong) this.#make(undefined);
    else if (this.#rest.length > 0) this.#make(this.#rest);
  }

  /** What was made since it was asked last. */
  batch(): readonly Made[] {
    const made = this.#made;
    this.#made = [];
    this.size = 0;
    return made;
  }

  #make(line: Buffer | undefined): void {
    this.#number += 1;
    const made = this.#eventOf(line);
    if (made) this.#made.push(made);
    else if (made === null) this.sawBad = true;
  }

  /**
   * The event of a line and its record; undefined for a blank line, null for a bad one, which is
   * told. A line that is undefined was too long to be kept.
   */
  #eventOf(line: Buffer | undefined): Made | undefined | null {
    try {
      const text = line?.toString('utf8').trim();
      if (text === '') return undefined;
      if (text === undefined) throw tooLong(LINE_MAX);
      const event = clean(completeEvent(JSON.parse(text), this.#completion));
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

/** Random bytes out of a supply: asking the kernel for each id would be half the work. */
function pooled(random: (bytes: number) => Uint8Array): (bytes: number) => Uint8Array {
  let supply: Uint8Array = new Uint8Array();
  return (bytes) => {
    if (supply.length < bytes) supply = random(4096);
    const taken = supply.subarray(0, bytes);
    supply = supply.subarray(bytes);
    return taken;
  };
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
    lines.push(bytes.subarray(from, at));
    from = at + 1;
  }
  lines.push(bytes.subarray(from));
  return lines;
}

function tooLong(limit: number): Failure {
  return new Failure('event_invalid', `the event is longer than ${limit} bytes`);
}
