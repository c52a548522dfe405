/** A command in the active release of an app; terminal, signals, input and status pass through. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { isThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { ReleaseTarget } from '../instances/target.ts';
import { insideOf } from '../run/inside.ts';
import { cutOff } from '../run/outside.ts';
import { hasTerminal, onOwnTerminal } from './terminal.ts';

/**
 * Runs the command to its end, and returns its status: 128 and the signal's number after a signal. Throws
 * `version_not_found` without the release's folder, and `usage` when the command cannot be run.
 */
export function execIn(
  io: Io,
  target: ReleaseTarget,
  [file = '', ...args]: readonly string[],
): Promise<number> {
  const { release: cwd, confine } = target;
  if (!isThere(cwd)) {
    const problem = `${cwd} is missing: run runner deploy ${target.env.RUNNER_APP}`;
    throw new Failure('version_not_found', problem);
  }
  const confinement = confine('hook');
  const plain = { file, args, env: {} };
  // The sandbox is a session of its own, without the operator's terminal.
  const command = confinement && hasTerminal(io) ? onOwnTerminal(plain, target.env) : plain;
  const wrapped = confinement?.wrap(command, cwd);
  const program = wrapped ? { ...wrapped, args: ['--info-fd', '3', ...wrapped.args] } : command;
  const env = { ...target.env, ...command.env };
  let forward = (_: NodeJS.Signals) => {};
  // Before the start: the command may run before this process continues.
  const remove = io.onSignal((signal) => {
    // The terminal has sent Ctrl-C to the command as well.
    if (signal !== 'SIGINT' || wrapped || !io.stdin.isTTY) forward(signal);
  });
  return new Promise((resolve, reject) => {
    const stdio = [
      'inherit',
      'inherit',
      'inherit',
      ...(wrapped ? (['pipe'] as const) : []),
    ] as const;
    const child = cutOff(() =>
      spawn(program.file, [...program.args], { cwd, env, stdio: [...stdio] }),
    );
    const inside = wrapped ? insideOf(child) : undefined;
    forward = (signal) => {
      if (inside) void inside.first.then(() => inside.signal(signal));
      else child.kill(signal);
    };
    // The kernel sends it only to the session whose terminal it is.
    const resize = () => forward('SIGWINCH');
    if (inside) process.on('SIGWINCH', resize);
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
      process.off('SIGWINCH', resize);
      resolve(signal ? 128 + constants.signals[signal] : (code ?? 1));
    });
  });
}
