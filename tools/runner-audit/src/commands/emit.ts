import { appendEvents, keepUnlessStart } from '@runner/common/audit/append';
import { completeEvent, type RecordDefaults } from '@runner/common/audit/complete';
import { type DeployEvent, EMITTED_TYPES } from '@runner/common/audit/events';
import { type Context, command, noteTyping } from '@runner/common/cli/command';
import type { Options } from '@runner/common/cli/option';
import { Failure, notProvided, usage } from '@runner/common/foundation/failure';
import { type Io, readEnds } from '@runner/common/foundation/io';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { isPlain } from '@runner/common/secrets/plain-fields';
import { jsonLine } from '@runner/common/text/harmless';
import { appendStream } from '../log/append-stream.ts';

/** Bytes that are read of each end of `--error -`; a record keeps 64 KiB in all. */
const ERROR_END = 16_777_216;

/** Each option is a field of the event. */
const FIELDS = {
  project: { placeholder: 'APP', about: 'App' },
  instance: { placeholder: 'NAME', about: 'Instance [default: default]' },
  version: { placeholder: 'VERSION', about: 'Version' },
  'deploy-id': {
    placeholder: 'ID',
    about: 'Deploy ID, 8 characters [default: a new one]',
  },
  timestamp: {
    placeholder: 'TIME',
    about: 'ISO 8601 with a time zone [default: now]',
  },
  'previous-version': {
    placeholder: 'VERSION',
    about: 'Version that was active before',
  },
  'from-version': {
    placeholder: 'VERSION',
    about: 'Version that was rolled back',
  },
  commit: { placeholder: 'SHA', about: 'Commit' },
  trigger: { placeholder: 'WORD', about: 'What started the deploy, e.g. manual' },
  'duration-ms': { placeholder: 'N', about: 'Duration in milliseconds' },
  source: { placeholder: 'TOOL', about: 'The tool that deployed [default: emit]' },
  domain: { placeholder: 'NAME', about: 'Domain of the instance' },
  job: { placeholder: 'NAME', about: 'Job, of JobFailed, JobMissed, JobRecovered and JobSlow' },
  stage: { placeholder: 'STAGE', about: 'Stage that failed' },
  reason: { placeholder: 'TEXT', about: 'Reason for a rollback' },
  error: {
    placeholder: 'TEXT',
    emptyAllowed: true,
    about: 'Error text; - reads it from standard input',
  },
} as const satisfies Options;

export const emit = command({
  name: 'emit',
  about: 'Append deploy events to the audit log and print each once it is on disk',
  details:
    'With EVENT, the options describe one event. Without it, events are read from standard input, one\n' +
    'JSON object per line. Missing timestamp, deploy_id and instance fields are added. An invalid line\n' +
    'is reported with its number; the others are still appended, and the status is 1. The field source\n' +
    'marks the records of other tools: verify does not expect both ends of their deploys.',
  positionals: {
    event: {
      about:
        'DeployStarted, DeploySuccess, DeployFailure, RollbackSuccess or a change of state, such as AppDown',
      suggestions: EMITTED_TYPES,
    },
  },
  options: FIELDS,
  plain: true,
  examples: [
    'runner-audit emit DeployStarted --project shop --version v1.2.3 | runner-notify send',
    'make 2>&1 | runner-audit emit DeployFailure --project shop --version v1.2.3 --error -',
  ],
  async run(context) {
    const { args, options } = context;
    if (args.event === undefined) {
      const given = Object.entries(options).find(
        ([name, value]) => Object.hasOwn(FIELDS, name) && value !== undefined,
      );
      if (given) throw usage(`the argument '--${given[0]}' needs <EVENT>`);
      noteTyping(context, 'records');
      return { status: await appendStream(context) };
    }
    if (options.error === '-') noteTyping(context, 'the error');
    // Redact before shortening: half a secret would not be recognised.
    const { fields, omitted } = withError(fieldsOf(context, args.event), context.io);
    const event = eventOf(await redacted(fields, context), {
      now: () => context.io.now(),
      random: () => context.io.random(),
      omitted,
    });
    await context.print(recorded(event, context));
    return {};
  },
  // The next program in the pipe reads it, so it is JSON by default.
  human: (event: unknown) => `${jsonLine(event)}\n`,
});

type GivenFields = Record<string, unknown>;

/** The fields as given. Throws `usage`. */
function fieldsOf({ options }: Pick<Context, 'options'>, kind: string): GivenFields {
  const fields: GivenFields = { event_type: kind };
  for (const [option, value] of Object.entries(options)) {
    if (value !== undefined && Object.hasOwn(FIELDS, option))
      fields[option.replaceAll('-', '_')] = value;
  }
  if (fields.duration_ms !== undefined) {
    if (!/^\d{1,15}$/.test(String(fields.duration_ms)))
      throw usage("invalid value for '--duration-ms <N>': it must be a whole number");
    fields.duration_ms = Number(fields.duration_ms);
  }
  return fields;
}

/** The fields with the error that `-` stands for, and how many bytes its middle has lost. */
function withError(fields: GivenFields, { stdin }: Io): { fields: GivenFields; omitted: number } {
  if (fields.error !== '-') return { fields, omitted: 0 };
  const { text, omitted } = readEnds(stdin, ERROR_END);
  return { fields: { ...fields, error: text }, omitted };
}

/** The fields without secrets. Most events cannot contain any, so the redactor is loaded on demand. */
async function redacted(
  fields: GivenFields,
  { io, paths }: Pick<Context, 'io' | 'paths'>,
): Promise<GivenFields> {
  if (isPlain(fields)) return fields;
  return new RecordCleaner({ paths, env: io.env }).clean(fields);
}

/** Appends the event, or keeps it for later while the log is busy; returns it as recorded. */
function recorded(event: DeployEvent, { paths, note }: Pick<Context, 'paths' | 'note'>) {
  try {
    return appendEvents(paths, [event])[0];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const kept = keepUnlessStart(paths, event, error);
    note(`${error.message}; the event is kept and will be appended later (${error.code})`);
    return kept;
  }
}

/** The complete event. Throws `usage`, since its fields were typed on the command line. */
function eventOf(fields: GivenFields, completion: RecordDefaults) {
  if (!EMITTED_TYPES.some((kind) => kind === fields.event_type)) {
    throw usage(
      `invalid value '${fields.event_type}' for '[EVENT]' [possible values: ${EMITTED_TYPES.join(', ')}]`,
    );
  }
  const missing = [
    ...(fields.project === undefined ? ['--project <APP>'] : []),
    ...(fields.version === undefined ? ['--version <VERSION>'] : []),
  ];
  if (missing.length > 0) throw notProvided(missing.join(', '));
  try {
    return completeEvent(fields, { ...completion, isForeign: true });
  } catch (error) {
    throw error instanceof Failure ? usage(error.message) : error;
  }
}
