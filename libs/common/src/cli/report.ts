/** How a tool reports that it failed. It is loaded only then: the redaction of text is large. */
import { EXIT, Failure } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import { redactor } from '../secrets/redactor.ts';
import { harmless, harmlessLine, jsonLine } from '../text/harmless.ts';
import { type Tool, titleOf } from './command.ts';
import { yamlText } from './output.ts';
import { sudoHint } from './sudo.ts';
import { withoutTokens } from './typed.ts';

declare const __VERSION__: string;

/**
 * Reports an error: one sentence on stderr and, for the formats json and yaml, one object on stdout.
 * Returns the exit status.
 */
export async function report(
  io: Io,
  tool: Tool,
  argv: readonly string[],
  error: unknown,
): Promise<number> {
  const redact = redactor();
  if (!(error instanceof Failure)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    io.stderr.write(
      `${titleOf(tool)}: this is a bug in ${tool.name} ${__VERSION__}\n${harmless(redact(text))}\n`,
    );
    return EXIT.failed;
  }
  const definition = tool.commands.find((each) => each.name === argv[0] || each.name === '');
  const title = titleOf(tool, definition);
  const args = definition?.name ? argv.slice(1) : argv;
  const hint = sudoHint(io, title, args, error);
  const clean = (text: string) => withoutTokens(text, argv, definition?.positionals);
  const message = harmlessLine(clean(redact(error.message + hint)));
  const line =
    error.code === 'usage' ? `error: ${message}` : `${title}: ${message} (${error.code})`;
  const facts = JSON.parse(clean(JSON.stringify(error.facts ?? {}))) as object;
  const value = { ...facts, error: error.code, message };
  try {
    io.stderr.write(`${line}\n`);
    const format = wantedFormat(argv);
    if (format === 'json') io.stdout.write(`${jsonLine(value)}\n`);
    // A separate document: records may precede it.
    if (format === 'yaml') io.stdout.write(`---\n${await yamlText(value)}`);
  } catch {
    // Neither stream can be written: only the status is left to report it.
  }
  return error.status;
}

/** The format that was asked for, also on a command line that cannot be parsed. */
function wantedFormat(argv: readonly string[]): string | undefined {
  const typed = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  if (typed.includes('--json')) return 'json';
  return /(?:^| )(?:-o[= ]?|--output[= ])(json|yaml)(?: |$)/.exec(typed.join(' '))?.[1];
}
