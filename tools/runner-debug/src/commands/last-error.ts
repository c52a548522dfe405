import { command } from '@runner/common/command';
import { textOf } from '@runner/common/events';
import { harmless, harmlessLine } from '@runner/common/harmless';
import { fields } from '@runner/common/output';

/** The newest DeployFailure of an app. */
interface LastError {
  app: string;
  version: string;
  /** ISO 8601 UTC. */
  timestamp: string;
  error: string;
  event: 'DeployFailure';
}

export const lastError = command({
  name: 'last-error',
  about: 'Print the newest deploy failure of an app: version, time, full error',
  details:
    'No failure on record is no error: the status is 0 and the JSON is null. It means that the app\n' +
    'never failed a deploy on this server, or that the log was rotated away.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  async run(context) {
    const { requireApp } = await import('@runner/common/apps');
    const { newestRecord } = await import('@runner/common/audit-scan');
    const { redactor } = await import('@runner/common/secret');
    const { app } = requireApp(context.paths, context.args.app);
    const record = await newestRecord(context.paths, 'DeployFailure', app);
    if (!record) return { value: null };
    const value: LastError = {
      app,
      version: textOf(record, 'version'),
      timestamp: textOf(record, 'timestamp'),
      error: redactor()(textOf(record, 'error')),
      event: 'DeployFailure',
    };
    return { value };
  },
  human(failure: LastError | null, style, context) {
    if (failure === null) return `No DeployFailure found for ${context.args.app}.\n`;
    const heading = style.bold(`Last DeployFailure for ${failure.app}:`);
    return `${heading}\n${fields([
      ['version:', harmlessLine(failure.version)],
      ['timestamp:', harmlessLine(failure.timestamp)],
      ['error:', harmless(failure.error).replace(/\n+$/, '')],
    ])}`;
  },
});
