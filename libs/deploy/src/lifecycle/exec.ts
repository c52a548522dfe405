/** A command in the active release of an app; terminal, signals, input and status pass through. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { ReleaseTarget } from '../instances/target.ts';
import { insideOf } from '../run/inside.ts';
import { cutOff } from '../run/outside.ts';

/** Runs the command to its end, and returns its status: 128 and the signal's number after a signal. */
export function execIn(
  io: Io,
  { release: cwd, env, confine }: ReleaseTarget,
  [file = '', ...args]: readonly string[],
): Promise<number> {
  const confinement = confine('hook');
  const wrapped = confinement?.wrap({ file, args }, cwd);
  const program = wrapped ? { ...wrapped, args: sessionOf(io, wrapped.args) } : { file, args };
  const all = wrapped ? ['--info-fd', '3', ...program.args] : program.args;
  const isShared = io.stdin.isTTY && !program.args.includes('--new-session');
  let forward = (_: NodeJS.Signals) => {};
  // Before the start: the command may run before this process goes on.
  const remove = io.onSignal((signal) => {
    // The terminal has sent Ctrl-C to the command as well.
    if (signal !== 'SIGINT' || !isShared) forward(signal);
  });
  return new Promise((resolve, reject) => {
    const stdio = [
      'inherit',
      'inherit',
      'inherit',
      ...(wrapped ? (['pipe'] as const) : []),
    ] as const;
    const child = cutOff(() => spawn(program.file, [...all], { cwd, env, stdio: [...stdio] }));
    const inside = wrapped ? insideOf(child) : undefined;
    forward = (signal) => {
      if (inside) void inside.first.then(() => inside.signal(signal));
      else child.kill(signal);
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      remove();
      const missing = error.code === 'ENOENT';
      reject(
        new Failure(
          'usage',
          `cannot run '${file.slice(0, 80)}': ${missing ? 'there is no such program on PATH' : error.code}`,
        ),
      );
    });
    child.once('exit', (code, signal) => {
      remove();
      resolve(signal ? 128 + constants.signals[signal] : (code ?? 1));
    });
  });
}

/**
 * A sandbox has a session of its own so that it cannot type into the terminal. Where the kernel
 * forbids that, a terminal is passed on as it is: with job control and Ctrl-C.
 */
function sessionOf(io: Io, args: readonly string[]): readonly string[] {
  if (!io.stdin.isTTY || !isTypingForbidden()) return args;
  return args.filter((arg, at) => arg !== '--new-session' || args.slice(0, at).includes('--'));
}

function isTypingForbidden(): boolean {
  try {
    return readFileSync('/proc/sys/dev/tty/legacy_tiocsti', 'latin1').trim() === '0';
  } catch {
    return false;
  }
}
