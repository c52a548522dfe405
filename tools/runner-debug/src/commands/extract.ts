import { command, noteTyping } from '@runner/common/cli/command';
import { invalidValue } from '@runner/common/foundation/failure';
import { redactorForAll } from '@runner/common/redaction/redact';
import { harmless } from '@runner/common/text/harmless';
import { createExtractor } from '@runner/extract/extract';
import { baselineFor } from '../baseline.ts';

/** The lines of a log that say why it failed. */
interface Extracted {
  text: string;
  /** Their numbers in the log, from 1. */
  lines: number[];
  class: string;
  rule: string | null;
}

export const extract = command({
  name: 'extract',
  about: 'Read a log on standard input and print the lines that say why it failed',
  details:
    'Lines that a successful build also printed are not the cause: pass its log with --baseline, or use\n' +
    'the last successful deploy of an app with --app. If the log says nothing, --step, --command and\n' +
    '--status describe how the step ended. Secrets of the server under --root are redacted.',
  options: {
    max: {
      placeholder: 'N',
      default: '800',
      about: 'Print at most this many characters [default: 800]',
    },
    baseline: {
      placeholder: 'FILE',
      about: 'Log of a successful build of the same step',
    },
    app: {
      placeholder: 'APP',
      about: 'App whose last successful deploy is the baseline',
      conflicts: ['baseline'],
    },
    step: { placeholder: 'NAME', about: 'The step that wrote the log' },
    command: { placeholder: 'TEXT', about: 'The command that wrote the log' },
    status: {
      placeholder: 'N',
      about: 'Its exit status; 124 is a timeout, above 128 a signal',
    },
  },
  examples: [
    'npm run build 2>&1 | runner-debug extract',
    'runner-debug extract --baseline good.log --status 137 < bad.log',
  ],
  safeInForeignRoot: true,
  async run(context) {
    const { io, options, paths } = context;
    const max = whole(options.max, '--max <N>', 1, 999_999);
    const status =
      options.status === undefined ? undefined : whole(options.status, '--status <N>', 0, 255);
    const { app } = options;
    const redact = await redactorForAll({ paths, env: io.env });
    const baseline = baselineFor(paths, options.baseline, app, redact);
    const { step, command: title } = options;
    const extractor = createExtractor({
      max,
      redact,
      ...(baseline && { baseline }),
      ...(step && { step: redact(step) }),
      ...(title && { command: redact(title) }),
      ...(status !== undefined && { exit: { code: status } }),
    });
    noteTyping(context, 'a log');
    for (let chunk = io.stdin.read(); chunk; chunk = io.stdin.read()) extractor.push(chunk);
    return { value: extractor.end() };
  },
  human: (extracted: Extracted) => (extracted.text === '' ? '' : `${harmless(extracted.text)}\n`),
});

function whole(text: string, option: string, least: number, most: number): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  const range = `a whole number ${least === 0 ? 'up' : `from ${least}`} to ${most}`;
  throw invalidValue(text, option, `it must be ${range}`);
}
