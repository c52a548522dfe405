/** Runs one of our executables. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Server } from '@runner/common/foundation/paths';

/** Characters of its output that are kept. */
const OUTPUT_MAX = 16_777_216;
/** How long it may take, in ms; what acts goes on after that, without this session. */
const PATIENCE = { looks: 60_000, acts: 45_000 };
/** All that it gets of the environment. */
const PASSED = [
  'PATH',
  'HOME',
  'LANG',
  'TZ',
  'RUNNER_ETC',
  'RUNNER_MKEY_FILE',
  'CREDENTIALS_DIRECTORY',
];

/** What to run, for whom. */
export interface Execution {
  readonly argv: readonly [tool: string, ...args: string[]];
  readonly grant: string | undefined;
  /** It acts: it outlives this session, which ends nothing that was begun. */
  readonly acts: boolean;
  /** The session ends. */
  readonly signal: AbortSignal;
}

/** Its exit status and stdout; null: it was ended, or goes on. */
export function execute(
  { io, paths }: Server,
  { argv, grant, acts, signal }: Execution,
): Promise<{ status: number | null; output: string }> {
  const [tool, ...args] = argv;
  const given = PASSED.flatMap((name) => (io.env[name] ? [[name, io.env[name]] as const] : []));
  const env = {
    ...Object.fromEntries(given),
    ...(grant !== undefined && { RUNNER_GRANT: grant, RUNNER_INITIATOR: `grant ${grant}` }),
  };
  const child = spawn(join(dirname(io.program), tool), [...args, '--json', '--root', paths.root], {
    cwd: '/',
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    output += piece;
    // Its end is what matters of lines, and half of one line is nothing.
    if (output.length > OUTPUT_MAX) output = output.slice(output.length - OUTPUT_MAX);
  });
  return new Promise((resolve, reject) => {
    const leave = () => {
      if (!acts) end(child.pid);
      resolve({ status: null, output });
    };
    const timer = setTimeout(leave, acts ? PATIENCE.acts : PATIENCE.looks);
    signal.addEventListener('abort', leave, { once: true });
    child.once('error', reject).once('close', (status) => resolve({ status, output }));
    child.once('close', () => clearTimeout(timer));
    child.once('close', () => signal.removeEventListener('abort', leave));
    if (signal.aborted) leave();
  });
}

/** Ends it with all that it has started. */
function end(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
