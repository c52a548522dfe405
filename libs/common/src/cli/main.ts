/** Runs a tool: parse, run, render, exit status. */
import { statSync, writeFileSync } from 'node:fs';
import { refuseForeignRoot, type TypedLine } from '../files/foreign-root.ts';
import { orFail } from '../foundation/attempt.ts';
import { EXIT, Failure, usage } from '../foundation/failure.ts';
import { type Io, processIo, type Sink } from '../foundation/io.ts';
import { chooseRoot, pathsOf } from '../foundation/paths.ts';
import { harmless, jsonLine } from '../text/harmless.ts';
import { nearest } from '../text/nearest.ts';
import { word } from '../text/shell.ts';
import { type Command, type Context, optionsOf, type Tool, titleOf } from './command.ts';
import { enableCompileCache } from './compile-cache.ts';
import { commandHelp, toolHelp, usageLine } from './help.ts';
import type { Value } from './option.ts';
import { type ColourWhen, type Format, PLAIN, styleFor, yamlText } from './output.ts';
import { type ParsedCommandLine, parse } from './parse.ts';

declare const __VERSION__: string;

/**
 * Runs a tool with this process's arguments and ends the process. `process.exit` loses nothing here:
 * every sink of `io` writes synchronously, and a command awaits everything it started.
 */
export function main(tool: Tool): void {
  protect();
  const io = processIo();
  enableCompileCache(io);
  const argv = process.argv.slice(2);
  const fail = (error: unknown) => {
    import('./report.ts')
      .then(({ report }) => report(io, tool, argv, error))
      .catch(() => reportCode(io, tool, error))
      .then(
        (status) => process.exit(status),
        () => process.exit(EXIT.failed),
      );
  };
  process.on('uncaughtException', fail);
  run(tool, argv, io)
    .then((status) => {
      const { failure } = io.stdout;
      if (failure && status === EXIT.ok) throw failure;
      if (failure) io.stderr.write(`${titleOf(tool)}: ${failure.message} (${failure.code})\n`);
      process.exit(status);
    })
    .catch(fail);
}

/** For an incomplete installation. Not the message: it may hold a secret, which only report.ts takes out. */
function reportCode(io: Io, tool: Tool, error: unknown): number {
  const { code, status } = error instanceof Failure ? error : { code: 'bug', status: EXIT.failed };
  io.stderr.write(
    `${tool.name}: failed (${code}); install runner again to see why: a file is missing\n`,
  );
  return status;
}

/** Other users cannot write what this process makes, and its memory is written to no core dump. */
function protect(): void {
  process.umask(0o027);
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Without /proc, or a kernel without core dumps.
  }
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
  const parsed = parse(definition, rest, usageLine(tool, definition));
  if (parsed.options.help === true) {
    io.stdout.write(commandHelp(tool, definition));
    return EXIT.ok;
  }
  const context = await contextOf(tool, definition, parsed, io);
  const { root } = context.paths;
  const { needsRoot = false } = definition;
  const isNeeded = typeof needsRoot === 'function' ? needsRoot(context.args) : needsRoot;
  const look = () => statSync(root, { throwIfNoEntry: false });
  if (isNeeded && !orFail(look, `read ${root}`, 'file_unreadable'))
    throw new Failure('file_unreadable', `the root ${root} does not exist`);
  if (!definition.safeInForeignRoot)
    refuseForeignRoot(io, context.paths, typedLine(definition, context));
  const answer = await definition.run(context);
  if ('value' in answer) await write(answer.value, definition, context);
  return answer.status ?? EXIT.ok;
}

/** The command as it was typed, without a secret and `--root`: words with a dash come last, after `--`. */
function typedLine(definition: Command, { title, args, options: given }: Context): TypedLine {
  const values: Readonly<Record<string, unknown>> = given;
  const options = Object.entries(optionsOf(definition)).flatMap(([name, option]) => {
    const value = values[name];
    if (value === true) return [`--${name}`];
    const { default: usual, secret } = option as Value;
    if (typeof value !== 'string' || value === usual || secret || name === 'root') return [];
    return /^-./.test(value) ? [`--${name}=${word(value)}`] : [`--${name}`, word(value)];
  });
  const words = Object.values(args).flatMap((each) => each ?? []);
  const dashed = words.findIndex((each) => /^-./.test(each));
  const [first, last] = dashed < 0 ? [words, []] : [words.slice(0, dashed), words.slice(dashed)];
  const tail = last.length === 0 ? '' : ` -- ${last.map(word).join(' ')}`;
  return { line: [title, ...first.map(word), ...options].join(' '), tail };
}

/** Finds the command named by the first word; the only command of a tool has no name. */
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
  const definition = tool.commands.find((each) => each.name === first);
  if (definition) return { definition, rest: argv.slice(1) };
  const meant = tool.commands.find((each) => each.name === tool.meant);
  const isPassed = first === undefined || first.startsWith('-') || meant?.positionals;
  if (meant && isPassed) return { definition: meant, rest: argv };
  const names = tool.commands.map((each) => each.name);
  const all = `[subcommands: ${names.join(', ')}]`;
  if (first === undefined)
    throw usage(`'${titleOf(tool)}' requires a subcommand but one was not provided ${all}`);
  if (first.startsWith('-'))
    throw usage(`unexpected argument '${first}' found before a subcommand ${all}`);
  const near = nearest(first, names);
  throw usage(
    `unrecognized subcommand '${first}'${near ? `; a similar subcommand exists: '${near}'` : ` ${all}`}`,
  );
}

async function contextOf(
  tool: Tool,
  definition: Command,
  parsed: ParsedCommandLine,
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
    print: (record) => write(record, definition, context, '---\n'),
    style: definition.plain ? PLAIN : await styleFor(when, io.env, answerSink(io, options)),
    errStyle: definition.plain ? PLAIN : await styleFor(when, io.env, io.stderr),
  };
  return context;
}

/** With `--events`, stdout belongs to the audit records. */
function answerSink({ stdout, stderr }: Io, { events }: ParsedCommandLine['options']): Sink {
  return events === true ? stderr : stdout;
}

/** Writes an answer in the wanted format; `separator` begins a document of YAML. */
async function write(
  record: unknown,
  definition: Command,
  context: Context,
  separator = '',
): Promise<void> {
  const { io, format, options, style } = context;
  const sink = answerSink(io, options);
  if (format === 'json') sink.write(`${jsonLine(record)}\n`);
  else if (format === 'yaml') sink.write(separator + (await yamlText(record)));
  else sink.write((await definition.human?.(record as never, style, context)) ?? '');
}
