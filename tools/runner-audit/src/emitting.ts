/** One event from the options: appended durably, then echoed. A stream is in streaming.ts. */
import { appendKept, appendLines, lineOf } from '@runner/common/audit/append';
import { completeEvent, type DeployEvent, EVENT_TYPES } from '@runner/common/audit/events';
import type { Context } from '@runner/common/cli/command';
import { Failure, usage } from '@runner/common/foundation/failure';
import { readAll } from '@runner/common/foundation/io';
import { isPlain } from '@runner/common/secrets/plain-fields';

/** What `emit` needs, for one event and for a stream. */
export type EmitContext = Pick<Context, 'io' | 'paths' | 'print' | 'note' | 'format'> & {
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
};

/** Largest error text that is read from standard input; a record keeps 64 KiB of it. */
const ERROR_INPUT_MAX = 67_108_864;

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
  // Texts come from builds. Cleaned before a long one is cut: a secret that is cut is not recognised.
  const event = eventFrom(await cleaned(fields, context), kind, io);
  appendKept(context.paths);
  appendLines(context.paths, [lineOf(event)]);
  await context.print(event);
  return 0;
}

/** The fields without secrets. What looks for them is loaded for texts that could hold one. */
async function cleaned(
  fields: Record<string, unknown>,
  { io, paths }: EmitContext,
): Promise<Record<string, unknown>> {
  if (isPlain(fields)) return fields;
  const { RecordCleaner } = await import('@runner/common/redaction/redact');
  return new RecordCleaner({ paths, env: io.env }).clean(fields);
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

/** Options that are fields of the event. */
export const FIELDS = new Set([
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
