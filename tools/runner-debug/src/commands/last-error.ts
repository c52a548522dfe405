import { command } from '@runner/common/cli/command';
import { fields } from '@runner/common/cli/output';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
// Not lazily: a file more costs more than its code.
import { findLastError, type LastError } from '../last-failure.ts';

export const lastError = command({
  name: 'last-error',
  about: 'Print the newest deploy failure of an app: version, time, full error',
  details:
    'No failure on record is no error: the status is 0 and the JSON is null. It means that the app\n' +
    'never failed a deploy on this server, or that the log was rotated away. Nothing is read from a\n' +
    'log, registry, configuration or key that others could have changed, or a secret read: each such\n' +
    'guard is named with the command that mends it.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    insecure: {
      kind: 'flag',
      about: 'Read in spite of the security guards: prints a banner, and the audit log records it',
    },
  },
  async run(context) {
    const { args, options } = context;
    return { value: await findLastError(context, args.app, options.insecure) };
  },
  human(failure: LastError | null, style, context) {
    if (failure === null) return `No DeployFailure found for ${context.args.app}.\n`;
    const heading = style.bold(`Last DeployFailure for ${failure.app}:`);
    return `${heading}\n${fields([
      ['version:', harmlessLine(failure.version)],
      ['timestamp:', harmlessLine(failure.timestamp)],
      ['error:', harmless(withoutEndings(failure.error))],
    ])}`;
  },
});

/** Without the newlines at its end: by hand, for a pattern would look on from each newline that it holds. */
function withoutEndings(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}
