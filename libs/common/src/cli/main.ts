/** What every program does: parse, run, render, exit status. */

import { EXIT, Failure, usage } from '../foundation/failure.ts';
import { type Io, processIo } from '../foundation/io.ts';
import { chooseRoot, pathsOf } from '../foundation/paths.ts';
import { redactor } from '../secrets/secret.ts';
import { harmless, harmlessLine, jsonLine } from '../text/harmless.ts';
import { nearest } from '../text/nearest.ts';
import {
  type Answer,
  type Command,
  type Context,
  optionsOf,
  type Tool,
  titleOf,
} from './command.ts';
import { commandHelp, toolHelp } from './help.ts';
import { type ColourWhen, type Format, PLAIN, styleFor, yamlText } from './output.ts';
import { parse } from './parse.ts';

declare const __VERSION__: string;

/**
 * Runs a tool with this process's arguments and ends the process. `process.exit` loses nothing here:
 * every sink of `io` writes synchronously, and a command waits for all that it began.
 */
export function main(tool: Tool): void {
  const io = processIo();
  const argv = process.argv.slice(2);
  const fail = (error: unknown) => process.exit(report(io, tool, argv, error));
  process.on('uncaughtException', fail);
  run(tool, argv, io).then((status) => process.exit(status), fail);
}

async function run(tool: Tool, argv: readonly string[], io: Io): Promise<number> {
  const { definition, rest } = choose(tool, argv);
  if (definition === 'version') {
    io.stdout.write(`${tool.name} ${__VERSION__}\n`);
    return EXIT.ok;
  }
  if (definition === 'help') {
    io.stdout.write(toolHelp(tool));
    return EXIT.ok;
  }
  const parsed = parse(definition, rest);
  if (parsed.options.help === true) {
    io.stdout.write(commandHelp(tool, definition));
    return EXIT.ok;
  }
  const context = await contextOf(tool, definition, parsed, io);
  const answer = await definition.run(context);
  await render(definition, answer, context);
  return answer.status ?? EXIT.ok;
}

/** Finds the command that the first word names; a tool with one nameless command needs no word. */
function choose(
  tool: Tool,
  argv: readonly string[],
): { definition: Command | 'help' | 'version'; rest: readonly string[] } {
  const [first] = argv;
  const only = tool.commands.find((each) => each.name === '');
  const ownVersion = only && Object.hasOwn(optionsOf(only), 'version');
  if (first === '--version' && !ownVersion) return { definition: 'version', rest: [] };
  if (only) return { definition: only, rest: argv };
  if (first === '--help' || first === '-h') return { definition: 'help', rest: [] };
  const names = tool.commands.map((each) => each.name);
  if (first === undefined) {
    throw usage(
      `'${tool.name}' requires a subcommand but one was not provided [subcommands: ${names.join(', ')}]`,
    );
  }
  const definition = tool.commands.find((each) => each.name === first);
  if (definition) return { definition, rest: argv.slice(1) };
  if (first.startsWith('-'))
    throw usage(
      `unexpected argument '${first}' found before a subcommand [subcommands: ${names.join(', ')}]`,
    );
  const near = nearest(first, names);
  throw usage(
    `unrecognized subcommand '${first}'${near ? `; a similar subcommand exists: '${near}'` : ` [subcommands: ${names.join(', ')}]`}`,
  );
}

async function contextOf(
  tool: Tool,
  definition: Command,
  parsed: ReturnType<typeof parse>,
  io: Io,
): Promise<Context> {
  const { options, args } = parsed;
  const when = (options.color ?? 'auto') as ColourWhen;
  const format: Format = options.json === true ? 'json' : ((options.output ?? 'human') as Format);
  const title = titleOf(tool, definition);
  const context: Context = {
    io,
    paths: pathsOf(chooseRoot(options.root as string | undefined, io.env, () => io.cwd)),
    options: options as Context['options'],
    args: args as Context['args'],
    format,
    title,
    note: (text) => io.stderr.write(`${title}: ${harmless(text)}\n`),
    print: async (record) => {
      if (format === 'json') io.stdout.write(`${jsonLine(record)}\n`);
      else if (format === 'yaml') io.stdout.write(`---\n${await yamlText(record)}`);
      else io.stdout.write(definition.human?.(record as never, context.style, context) ?? '');
    },
    style: definition.plain ? PLAIN : await styleFor(when, io.env, io.stdout),
    errStyle: definition.plain ? PLAIN : await styleFor(when, io.env, io.stderr),
  };
  return context;
}

async function render(definition: Command, answer: Answer, context: Context): Promise<void> {
  if (!('value' in answer)) return;
  const { io, format } = context;
  if (format === 'json') io.stdout.write(`${jsonLine(answer.value)}\n`);
  else if (format === 'yaml') io.stdout.write(await yamlText(answer.value));
  else io.stdout.write(definition.human?.(answer.value as never, context.style, context) ?? '');
}

/** Tells an error: one sentence on stderr and, with `--json`, one object on stdout. */
function report(io: Io, tool: Tool, argv: readonly string[], error: unknown): number {
  const redact = redactor();
  if (!(error instanceof Failure)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    io.stderr.write(
      `${titleOf(tool)}: this is a bug in ${tool.name} ${__VERSION__}\n${harmless(redact(text))}\n`,
    );
    return EXIT.failed;
  }
  const message = harmlessLine(redact(error.message));
  const definition = tool.commands.find((each) => each.name === argv[0] || each.name === '');
  const line =
    error.code === 'usage'
      ? `error: ${message}`
      : `${titleOf(tool, definition)}: ${message} (${error.code})`;
  try {
    io.stderr.write(`${line}\n`);
    if (wantsJson(argv))
      io.stdout.write(`${jsonLine({ ...error.facts, error: error.code, message })}\n`);
  } catch {
    // Neither stream takes anything: the status is all that can be told.
  }
  return error.status;
}

/** Whether JSON was asked for, also on a command line that could not be parsed. */
function wantsJson(argv: readonly string[]): boolean {
  const options = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  return options.some(
    (arg, index) =>
      /^(--json|-ojson|-o=json|--output=json)$/.test(arg) ||
      ((arg === '-o' || arg === '--output') && options[index + 1] === 'json'),
  );
}
