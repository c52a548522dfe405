import { command } from '@runner/common/command';
import { usage } from '@runner/common/failure';
import { harmless } from '@runner/common/harmless';

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
  options: {
    max: {
      kind: 'value',
      placeholder: 'N',
      default: '800',
      about: 'Most characters to print [default: 800]',
    },
  },
  examples: ['npm run build 2>&1 | runner-debug extract'],
  async run(context) {
    const { io, options } = context;
    const max = Number(options.max);
    if (!/^\d{1,6}$/.test(options.max) || max < 1) {
      throw usage(
        `invalid value '${options.max}' for '--max <N>': it must be a whole number above 0`,
      );
    }
    // A log of any size is read in passing: a small young generation keeps the process small too.
    const { setFlagsFromString } = process.getBuiltinModule('node:v8');
    setFlagsFromString('--max-semi-space-size=1');
    setFlagsFromString('--semi-space-growth-factor=1');
    const { createExtractor } = await import('@runner/common/error-extract');
    const { redactor } = await import('@runner/common/secret');
    const extractor = createExtractor({ max, redact: redactor() });
    for (let chunk = io.stdin.read(); chunk; chunk = io.stdin.read()) extractor.push(chunk);
    return { value: extractor.end() };
  },
  human: (extracted: Extracted) => (extracted.text === '' ? '' : `${harmless(extracted.text)}\n`),
});
