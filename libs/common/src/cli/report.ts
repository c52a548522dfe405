/** How a tool reports that it failed. It is loaded only then: the redaction of text is large. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { orElse } from '../foundation/attempt.ts';
import { EXIT, Failure, systemCode, systemFailure } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import { chooseRoot, DEFAULT_ROOT } from '../foundation/paths.ts';
import { redactor } from '../secrets/redactor.ts';
import { harmless, harmlessLine, jsonLine } from '../text/harmless.ts';
import { word } from '../text/shell.ts';
import { type Tool, titleOf } from './command.ts';
import { yamlText } from './output.ts';
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
  thrown: unknown,
): Promise<number> {
  const error = asFailure(thrown);
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
  // The root may be out of reach, and the current folder deleted.
  const hint = orElse(() => sudoHint(io, title, args, error), '');
  const clean = (text: string) => withoutTokens(text, argv, definition?.positionals);
  const message = harmlessLine(clean(redact(error.message + hint)));
  const line =
    error.code === 'usage' ? `error: ${message}` : `${title}: ${message} (${error.code})`;
  const facts = JSON.parse(JSON.stringify(error.facts ?? {}), (_, fact) =>
    typeof fact === 'string' ? clean(fact) : fact,
  ) as object;
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

/** What the system refuses for a reason outside of this program. */
const REFUSALS = 'EACCES EAGAIN EDQUOT EIO EMFILE ENFILE ENOMEM ENOSPC EPERM EROFS ESTALE'.split(
  ' ',
);

/** A refusal that no caller expected is a Failure too, not a bug. */
function asFailure(thrown: unknown): unknown {
  const { syscall, path } = (thrown ?? {}) as Partial<NodeJS.ErrnoException>;
  if (!syscall || !REFUSALS.includes(systemCode(thrown) ?? '')) return thrown;
  return systemFailure(thrown, path ? `use ${path} (${syscall})` : syscall, 'file_unreadable');
}

/** The format that was asked for, also on a command line that cannot be parsed. */
function wantedFormat(argv: readonly string[]): string | undefined {
  const typed = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  if (typed.includes('--json')) return 'json';
  return /(?:^| )(?:-o[= ]?|--output[= ])(json|yaml)(?: |$)/.exec(typed.join(' '))?.[1];
}

/**
 * What an ordinary user types who may not read the files of an installed server: `; use: sudo runner deploy
 * shop`, or where runner is not installed for the server; and what the owner of the root does about a file of another
 * user in it. '' if the failure is another one.
 */
function sudoHint(io: Io, title: string, args: readonly string[], error: Failure): string {
  const isDenied = error.code === 'file_unreadable' || error.code === 'not_writable';
  if (!isDenied || systemCode(error.cause) !== 'EACCES' || io.uid === 0) return '';
  const at = args.indexOf('--root');
  const named = args.find((each) => each.startsWith('--root='))?.slice('--root='.length);
  const option = named ?? (at < 0 ? undefined : args[at + 1]);
  const root = chooseRoot(option, io.env, () => io.cwd);
  const owner = statSync(root, { throwIfNoEntry: false })?.uid;
  const { path = '' } = error.cause as NodeJS.ErrnoException;
  const isIn = (folder: string) => `${path}/`.startsWith(`${folder}/`);
  if (owner === undefined && root === DEFAULT_ROOT && isIn(root))
    return '; to use a folder of your own: export RUNNER_ROOT=~/runner';
  if (owner === io.uid && isIn(root)) {
    const foreign = foreignAt(path, root, owner);
    if (!foreign) return '';
    const what = foreign.path === path ? 'it' : foreign.path;
    return `; ${what} belongs to user ${foreign.uid}: runner doctor shows how to fix that`;
  }
  if (owner === undefined || owner === io.uid) return '';
  // sudo becomes the owner of the root, who may not read or write what is the caller's own.
  if (isIn(io.cwd) && !isIn(root)) return '';
  // sudo drops RUNNER_ROOT.
  const own = option === undefined && io.env.RUNNER_ROOT ? ['--root', root] : [];
  const holdsSecret = args.some((each) => /^--token(?:=|$)/.test(each));
  // With `--root` the installed server's launcher stays root, which is refused in another user's root.
  const isNamed = own.length > 0 || option !== undefined;
  const sudo = isNamed && owner !== 0 ? `sudo -u '#${owner}'` : 'sudo';
  return `; use: ${sudo} ${[title, ...[...(holdsSecret ? [] : args), ...own].map(word)].join(' ')}`;
}

/** A path in a root, or the folder above it, that is not of the root's owner. */
function foreignAt(
  path: string,
  root: string,
  owner: number,
): { path: string; uid: number } | undefined {
  if (!path.startsWith(`${root}/`)) return undefined;
  const uid = orElse(() => statSync(path).uid, owner);
  return uid === owner ? foreignAt(dirname(path), root, owner) : { path, uid };
}
