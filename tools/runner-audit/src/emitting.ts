/** Making events from options or lines, appending them durably, echoing what is on disk. */
import { appendKept, appendLines, lineOf } from '@runner/common/audit';
import type { Context } from '@runner/common/command';
import { completeEvent, type DeployEvent, EVENT_TYPES } from '@runner/common/events';
import { Failure, usage } from '@runner/common/failure';
import { readAll } from '@runner/common/io';
import { redactor } from '@runner/common/secret';

type EmitContext = Pick<Context, 'io' | 'paths' | 'print' | 'note' | 'format'> & {
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
};

/** Largest error text that is read from standard input; a record keeps 64 KiB of it. */
const ERROR_INPUT_MAX = 67_108_864;
/** A longer line is no event: reported and passed over. */
const LINE_MAX = 16_777_216;
/** The longest record: an error is cut to fit, but further fields may be of any length. */
const RECORD_MAX = 1_048_576;
const NEWLINE = 0x0a;

const redact = redactor();

/** Error texts come from builds; what has the shape of a secret does not enter the log. */
function clean(event: DeployEvent): DeployEvent {
  return event.error === undefined ? event : { ...event, error: redact(event.error) };
}

/** `emit EVENT …`: one event from the options. */
export async function emitOne(context: EmitContext, kind: string): Promise<number> {
  const { io, options } = context;
  const fields: Record<string, unknown> = { event_type: kind };
  for (const [option, value] of Object.entries(options)) {
    if (typeof value === 'string' && FIELDS.has(option))
      fields[option.replaceAll('-', '_')] = value;
  }
  if (fields.error === '-') fields.error = readAll(io.stdin, ERROR_INPUT_MAX, 'the error text');
  if (fields.duration_ms !== undefined) {
    if (!/^\d{1,15}$/.test(String(fields.duration_ms))) {
      throw usage("invalid value for '--duration-ms <N>': it must be a whole number");
    }
    fields.duration_ms = Number(fields.duration_ms);
  }
  const event = clean(eventFrom(fields, kind, io));
  appendKept(context.paths);
  appendLines(context.paths, [lineOf(event)]);
  await context.print(event);
  return 0;
}

/** The event of a command line: what is wrong with it is wrong usage. */
function eventFrom(
  fields: Record<string, unknown>,
  kind: string,
  io: EmitContext['io'],
): DeployEvent {
  const missing = ['project', 'version'].filter((field) => fields[field] === undefined);
  if (!EVENT_TYPES.some((each) => each === kind)) {
    throw usage(
      `invalid value '${kind}' for '[EVENT]' [possible values: ${EVENT_TYPES.join(', ')}]`,
    );
  }
  if (missing.length > 0) {
    const names = missing.map((field) =>
      field === 'project' ? '--project <APP>' : '--version <VERSION>',
    );
    throw usage(`the following required arguments were not provided: ${names.join(', ')}`);
  }
  try {
    return completeEvent(fields, io);
  } catch (error) {
    throw error instanceof Failure ? usage(error.message) : error;
  }
}

const FIELDS = new Set([
  'project',
  'instance',
  'version',
  'deploy-id',
  'timestamp',
  'previous-version',
  'from-version',
  'commit',
  'trigger',
  'duration-ms',
  'domain',
  'stage',
  'reason',
  'error',
]);

/** `emit` with NDJSON on standard input: what one read brings is one append and one fdatasync. */
export async function emitStream(context: EmitContext): Promise<number> {
  const { io, options } = context;
  const given = Object.keys(options).find(
    (option) => FIELDS.has(option) && options[option] !== undefined,
  );
  if (given) throw usage(`the argument '--${given}' needs <EVENT>`);
  appendKept(context.paths);
  let status = 0;
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  let overlong = false;
  const handle = async (lines: readonly (Buffer | undefined)[]) => {
    const taken: { event: DeployEvent; record: string }[] = [];
    for (const line of lines) {
      number += 1;
      const event = eventOf(line, context, number);
      if (event) taken.push(event);
      else if (event === null) status = 1;
    }
    const records = taken.map(({ record }) => record);
    appendLines(context.paths, records);
    if (context.format === 'yaml') for (const { event } of taken) await context.print(event);
    else io.stdout.write(records.join(''));
  };
  for (let chunk = io.stdin.read(); chunk; chunk = io.stdin.read()) {
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(NEWLINE);
    rest = bytes.subarray(end + 1);
    if (end !== -1) {
      const lines: (Buffer | undefined)[] = linesOf(bytes.subarray(0, end));
      if (overlong) lines[0] = undefined;
      overlong = false;
      await handle(lines);
    }
    if (rest.length > LINE_MAX) {
      rest = Buffer.alloc(0);
      overlong = true;
    }
  }
  if (rest.length > 0 || overlong) await handle([overlong ? undefined : rest]);
  return status;
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

/**
 * The event of a line and its record; undefined for a blank line, null for a bad one, which is
 * told. A line that is undefined was too long to be kept.
 */
function eventOf(
  line: Buffer | undefined,
  { io, note }: EmitContext,
  number: number,
): { event: DeployEvent; record: string } | undefined | null {
  try {
    const text = line?.toString('utf8').trim();
    if (text === '') return undefined;
    if (text === undefined) throw tooLong(LINE_MAX);
    const event = clean(completeEvent(JSON.parse(text), io));
    const record = lineOf(event);
    if (Buffer.byteLength(record) > RECORD_MAX) throw tooLong(RECORD_MAX);
    return { event, record };
  } catch (error) {
    if (error instanceof SyntaxError) note(`line ${number}: the event is not JSON (event_invalid)`);
    else if (error instanceof Failure) note(`line ${number}: ${error.message} (${error.code})`);
    else throw error;
    return null;
  }
}

function tooLong(limit: number): Failure {
  return new Failure('event_invalid', `the event is longer than ${limit} bytes`);
}
