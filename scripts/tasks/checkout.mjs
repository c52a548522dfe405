import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the checkout. */
export const checkout = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** What the tasks write outside dist/ lies under node_modules. */
export const cacheFolder = join(checkout, 'node_modules', '.cache', 'runner');

/** One line of progress, on stderr. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * The environment of every program that a task starts: the checkout's own programs first on PATH,
 * telemetry off, and the XDG folders inside the checkout, so that nothing is left in the user's
 * home folder. NODE_EXTRA_CA_CERTS makes every start of Node 20 2.7
 * times slower and is needed by downloads alone: `{ network: true }` keeps it.
 */
export function childEnvironment({ network = false } = {}) {
  const xdg = join(cacheFolder, 'xdg');
  const environment = {
    ...process.env,
    PATH: `${join(checkout, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`,
    DO_NOT_TRACK: '1',
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
    NO_UPDATE_NOTIFIER: '1',
    XDG_CACHE_HOME: join(xdg, 'cache'),
    XDG_CONFIG_HOME: join(xdg, 'config'),
    XDG_DATA_HOME: join(xdg, 'data'),
    XDG_STATE_HOME: join(xdg, 'state'),
  };
  if (!network) delete environment.NODE_EXTRA_CA_CERTS;
  return environment;
}

/**
 * Runs a program in the checkout to its end and resolves its exit status (128 + the number of a
 * signal is not told apart: a signal counts as 1). `capture` collects stdout and stderr instead of
 * passing them on; `toStderr` passes stdout on to stderr.
 */
export function run(
  program,
  args,
  { env = childEnvironment(), capture = false, toStderr = false } = {},
) {
  return new Promise((resolve, reject) => {
    const out = capture ? 'pipe' : toStderr ? 2 : 'inherit';
    const child = spawn(program, args, {
      cwd: checkout,
      env,
      stdio: ['inherit', out, capture ? 'pipe' : 'inherit'],
    });
    // Ctrl-C reaches the program as well, which may have to clean up: it decides when to end.
    const patient = () => {};
    process.on('SIGINT', patient);
    // SIGTERM reaches this process alone.
    const end = () => child.kill('SIGTERM');
    process.on('SIGTERM', end);
    const output = [];
    child.stdout?.on('data', (chunk) => output.push(chunk));
    child.stderr?.on('data', (chunk) => output.push(chunk));
    child.on('error', reject);
    child.on('close', (status) => {
      process.off('SIGINT', patient);
      process.off('SIGTERM', end);
      resolve({ status: status ?? 1, output: Buffer.concat(output).toString() });
    });
  });
}
