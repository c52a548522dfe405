/** Running the programs of the server: as the user who calls, or as the owner of runner's root. */
import { spawnSync } from 'node:child_process';
import { foreignOwner } from '@runner/common/files/foreign-root';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure, systemCode, usage } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { word } from '@runner/common/text/shell';
import { findProgram } from '@runner/deploy/sandbox/probe';

export type Argv = readonly [program: string, ...args: string[]];

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** A package's certificate can take a while, in milliseconds. */
const PATIENCE = 300_000;
const OUTPUT_MAX = 4_194_304;

/** An ordinary user's PATH lacks the programs of root; that of a test is whole. */
const pathOf = ({ PATH = '', RUNNER_ETC: isTest }: Env): string =>
  isTest ? PATH : `${PATH}:${SYSTEM_PATH}`;

/** Runs a program to its end, without a terminal. */
export function ended(env: Env, [program, ...args]: Argv, input = '', timeout = PATIENCE) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    // What answers in words is read; a proxy must not write into the home of another user.
    env: { ...env, PATH: pathOf(env), LC_ALL: 'C' },
    encoding: 'utf8',
    input,
    cwd: '/',
    timeout,
    maxBuffer: OUTPUT_MAX,
  });
  const isLate = error && systemCode(error) === 'ETIMEDOUT';
  const why = isLate ? `it did not end within ${timeout / 1000} s` : error?.message;
  return { status, stdout: stdout ?? '', stderr: stderr || (why ?? '') };
}

/** Runs a program that has to succeed. Throws `setup_failed` with the cause that nginx names, else the last line. */
export function succeed(env: Env, argv: Argv, timeout?: number): string {
  const { status, stdout, stderr } = ended(env, argv, '', timeout);
  if (status === 0) return stdout;
  const lines = `${stdout}\n${stderr}`.trim().split('\n');
  const cause = lines.find((each) => each.includes('[emerg]')) ?? lines.at(-1) ?? '';
  const line = argv.map(word).join(' ');
  throw new Failure('setup_failed', `\`${line}\` failed: ${harmlessLine(cause)}`);
}

export const isInstalled = (env: Env, program: string): boolean =>
  findProgram(program, pathOf(env)) !== undefined;

/** Throws `usage` for a command that the shell cannot read, or without a word. */
export function checkCommand(env: Env, command: string): void {
  const isEmpty = /^\s*(?:exec\s*)?$/.test(command);
  if (isEmpty || ended(env, ['sh', '-n', '-c', command]).status !== 0)
    throw usage(`--run ${word(command)} is not a whole shell command: check its quotes`);
}

/**
 * A command as the owner of runner's root, without root's terminal, which it could otherwise type into. Root
 * itself follows no link and runs nothing in a folder of another user.
 */
export function asOwner({ io, paths }: Server, argv: Argv): Argv {
  const owner = foreignOwner(io.uid, paths);
  if (owner === undefined) return argv;
  const [name = '', group = ''] = accountOf(io.env, String(owner));
  const rights = [`--reuid=${name}`, `--regid=${group}`, '--init-groups', '--inh-caps=-all'];
  return ['setsid', '--wait', 'setpriv', ...rights, '--', ...argv];
}

/** How a person types the same. */
export function typedAsOwner({ io, paths }: Server, argv: Argv): Argv {
  const owner = foreignOwner(io.uid, paths);
  if (owner === undefined) return argv;
  return ['sudo', '-u', accountOf(io.env, String(owner))[0] ?? `#${owner}`, ...argv];
}

/** Name, group and home of a user; empty if there is none. */
export function accountOf(env: Env, user: string): string[] {
  const line = orElse(() => ended(env, ['getent', 'passwd', user]).stdout.trim(), '');
  const [name, , , group, , home] = line.split(':');
  return name && group ? [name, group, home ?? '/'] : [];
}
