/** A command in the active release of an app; terminal, signals, input and status pass through. */

import { spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { isThere } from '@runner/common/files/read';
import { Failure, systemFailure } from '@runner/common/foundation/failure';
import { ENDING_SIGNALS, type Io } from '@runner/common/foundation/io';
import { word } from '@runner/common/text/shell';
import type { Target } from '../instances/drivers/driver.ts';
import { insideOf, REPORT } from '../run/inside.ts';
import { startCutOff } from '../run/outside.ts';
import { isExecutable, USUAL_PATH } from '../sandbox/probe.ts';
import type { Program } from '../sandbox/sandbox.ts';

/** Signals that the command gets: those that end programs, and those that programs define. */
const PASSED_ON = [...ENDING_SIGNALS, 'SIGQUIT', 'SIGALRM', 'SIGUSR1', 'SIGUSR2'] as const;

/**
 * Runs the command to its end, and returns its status: 128 and the signal's number after a signal. Throws
 * `version_not_found` without the release's folder, `program_not_found`, `program_not_executable`.
 */
export function execIn(
  io: Io,
  target: Target,
  [file = '', ...args]: readonly string[],
): Promise<number> {
  const { release: cwd, confine } = target;
  if (!isThere(cwd)) {
    const problem = `${cwd} is missing: run runner deploy ${target.env.RUNNER_APP}`;
    throw new Failure('version_not_found', problem);
  }
  requireProgram(file, cwd, target.env.PATH ?? USUAL_PATH);
  const confinement = confine('hook');
  const plain = { file, args, env: {} };
  // The sandbox is a session of its own, without the operator's terminal.
  const { env, ...program } =
    confinement && hasTerminal(io) ? onOwnTerminal(plain, target.env) : plain;
  // Programs ask it what the terminal can do.
  const { TERM } = io.stdout.isTTY ? io.env : {};
  const terminal = TERM === undefined ? {} : { TERM };
  const command = { ...program, cwd, env: { ...terminal, ...target.env, ...env } };
  let forward = (_: NodeJS.Signals) => {};
  // Before the start: the command may run before this process continues.
  const remove = io.onSignal((signal) => {
    // The terminal has sent Ctrl-C and Ctrl-\ to the command as well.
    const isTyped = signal === 'SIGINT' || signal === 'SIGQUIT';
    if (!isTyped || confinement || !io.stdin.isTTY) forward(signal);
  }, PASSED_ON);
  return new Promise((resolve, reject) => {
    const child = startCutOff(command, confinement, (started, descriptors) =>
      spawn(started.file, [...(confinement ? REPORT : []), ...started.args], {
        cwd,
        env: started.env,
        stdio: [
          ...(['inherit', 'inherit', 'inherit'] as const),
          ...descriptors,
          ...(confinement ? (['pipe'] as const) : []),
        ],
      }),
    );
    const inside = confinement ? insideOf(child) : undefined;
    forward = (signal) => {
      if (inside) void inside.first.then(() => inside.signal(signal));
      else child.kill(signal);
    };
    // The kernel sends it only to the session whose terminal it is.
    const resize = () => forward('SIGWINCH');
    if (inside) process.on('SIGWINCH', resize);
    child.once('error', (error) => {
      remove();
      reject(systemFailure(error, running(file), 'program_not_executable'));
    });
    child.once('exit', (code, signal) => {
      remove();
      process.off('SIGWINCH', resize);
      resolve(signal ? 128 + constants.signals[signal] : (code ?? 1));
    });
  });
}

const running = (file: string) => `run '${file.slice(0, 80)}'`;

/** bubblewrap fails with 1 where a shell says 126 and 127. */
function requireProgram(file: string, cwd: string, path: string): void {
  const isPath = file.includes('/');
  const folders = isPath || file === '' ? [] : path.split(delimiter);
  const places = (isPath ? [file] : folders.map((folder) => join(folder, file)))
    .map((place) => resolve(cwd, place))
    .filter(isThere);
  const problem = (why: string) => `cannot ${running(file)}: ${why}`;
  if (places.length === 0) {
    const where = isPath ? 'there is no such file' : 'there is no such program on PATH';
    throw new Failure('program_not_found', problem(where));
  }
  if (!places.some(isExecutable))
    throw new Failure('program_not_executable', problem('it is not an executable file'));
}

const SCRIPT = '/usr/bin/script';

/** Whether there is a terminal to pass on, and script(1), which makes one. */
function hasTerminal({ stdin, stdout, stderr }: Io): boolean {
  if (!stdin.isTTY || !stdout.isTTY || !stderr.isTTY) return false;
  const { stdout: version } = spawnSync(SCRIPT, ['--version'], { env: {}, encoding: 'utf8' });
  return version?.includes('util-linux') ?? false;
}

/**
 * The program on a terminal of its own, and the variable that script(1) needs for it: it has job control,
 * and cannot type into the operator's.
 */
function onOwnTerminal(
  { file, args }: Program,
  { SHELL: shell }: Readonly<Record<string, string>>,
): Program & { readonly env: Readonly<Record<string, string>> } {
  // It starts $SHELL, which may be one that refuses.
  const own = shell === undefined ? 'unset SHELL' : `SHELL=${word(shell)}`;
  const line = `${own}; exec ${[file, ...args].map(word).join(' ')}`;
  return {
    file: SCRIPT,
    args: ['--quiet', '--return', '--command', line, '/dev/null'],
    env: { SHELL: '/bin/sh' },
  };
}
