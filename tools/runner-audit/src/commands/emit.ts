import { EVENT_TYPES } from '@runner/common/audit/events';
import { command } from '@runner/common/cli/command';
import { jsonLine } from '@runner/common/text/harmless';
// Not lazily: one event is the common case, and a file more costs more than its code.
import { emitOne } from '../emitting.ts';

export const emit = command({
  name: 'emit',
  about: 'Append deploy events to the audit log, and echo each once it is on disk',
  details:
    'With EVENT, one event is made from the options. Without, events are read from standard input,\n' +
    'one JSON object a line. timestamp, deploy_id and instance are added where they are missing. A\n' +
    'line that is no event is reported with its number; the others go on, and the status is 1.',
  positionals: {
    event: {
      about: 'DeployStarted, DeploySuccess, DeployFailure or RollbackSuccess',
      suggestions: EVENT_TYPES,
    },
  },
  options: {
    project: { kind: 'value', placeholder: 'APP', about: 'App' },
    instance: { kind: 'value', placeholder: 'NAME', about: 'Instance [default: default]' },
    version: { kind: 'value', placeholder: 'VERSION', about: 'Version' },
    'deploy-id': {
      kind: 'value',
      placeholder: 'ID',
      about: 'Id of the deploy, 8 characters [default: a new one]',
    },
    timestamp: { kind: 'value', placeholder: 'TIME', about: 'ISO 8601 with a zone [default: now]' },
    'previous-version': {
      kind: 'value',
      placeholder: 'VERSION',
      about: 'Version that was active before',
    },
    'from-version': {
      kind: 'value',
      placeholder: 'VERSION',
      about: 'Version that was abandoned (rollback)',
    },
    commit: { kind: 'value', placeholder: 'SHA', about: 'Commit' },
    trigger: { kind: 'value', placeholder: 'WORD', about: 'What began the deploy, e.g. manual' },
    'duration-ms': { kind: 'value', placeholder: 'N', about: 'Duration in milliseconds' },
    domain: { kind: 'value', placeholder: 'NAME', about: 'Domain of the instance' },
    stage: { kind: 'value', placeholder: 'STAGE', about: 'Stage at which it failed' },
    reason: { kind: 'value', placeholder: 'TEXT', about: 'Reason of a rollback' },
    error: {
      kind: 'value',
      placeholder: 'TEXT',
      emptyAllowed: true,
      about: 'Error text; - reads it from standard input',
    },
  },
  plain: true,
  examples: [
    'runner-audit emit DeployStarted --project shop --version v1.2.3 | runner-notify send',
    'make 2>&1 | runner-audit emit DeployFailure --project shop --version v1.2.3 --error -',
  ],
  async run(context) {
    if (context.args.event !== undefined)
      return { status: await emitOne(context, context.args.event) };
    const { emitStream } = await import('../streaming.ts');
    return { status: await emitStream(context) };
  },
  // The echo is for the next program of a pipe: it is JSON unless YAML is asked for.
  human: (event: unknown) => `${jsonLine(event)}\n`,
});
