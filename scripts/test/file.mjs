import { spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { judge } from './counts.mjs';

/** The environment of a test: its own home and folder for temporary files, no colours. `dist`: the built executables. */
function testEnvironment(home, temporary, dist) {
  const environment = { ...process.env, HOME: home, TMPDIR: temporary, NO_COLOR: '1' };
  for (const name of Object.keys(environment)) {
    if (/^(XDG_|RUNNER_|npm_|GIT_)/.test(name)) delete environment[name];
  }
  for (const name of ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'FORCE_COLOR', 'CI']) {
    delete environment[name];
  }
  if (dist !== undefined) environment.RUNNER_DIST = dist;
  // npm and the tasks put the programs of the checkout on PATH: a user has none of them.
  const path = (process.env.PATH ?? '').split(delimiter);
  environment.PATH = path.filter((part) => !/node_modules|node-gyp-bin/.test(part)).join(delimiter);
  return environment;
}

/** Seconds that a test file has to clean up after its time limit. */
const GRACE = 5;

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group is gone, as it should be.
  }
}

/**
 * Runs one bundled test file with `node` in a process group of its own, for at most `limit`
 * seconds, and resolves judge()'s verdict with `output` and `seconds`. The output goes to a file:
 * a pipe would stay open as long as a process that the test left behind holds it.
 */
export async function runTestFile(file, { node = process.execPath, limit = 900, cwd, dist } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'test-'));
  // Tests that give up root must still reach their own folders.
  chmodSync(folder, 0o755);
  const home = join(folder, 'home');
  const temporary = join(folder, 'tmp');
  mkdirSync(home);
  mkdirSync(temporary);
  const outputFile = join(folder, 'output');
  const descriptor = openSync(outputFile, 'a');
  const started = performance.now();
  const child = spawn(node, ['--enable-source-maps', file], {
    cwd,
    env: testEnvironment(home, temporary, dist),
    stdio: ['ignore', descriptor, descriptor],
    detached: true,
  });
  closeSync(descriptor);
  const stop = () => killGroup(child.pid);
  process.on('exit', stop);
  try {
    let timedOut = false;
    const end = await new Promise((resolve, reject) => {
      const timers = [
        // At SIGTERM a test ends what it has started outside its own process group.
        setTimeout(() => {
          timedOut = true;
          child.kill('SIGTERM');
        }, limit * 1000),
        setTimeout(() => killGroup(child.pid), (limit + GRACE) * 1000),
      ];
      const forget = () => timers.forEach(clearTimeout);
      child.on('error', (error) => {
        forget();
        reject(error);
      });
      child.on('exit', (status, signal) => {
        forget();
        resolve({ status, signal });
      });
    });
    killGroup(child.pid);
    const output = readFileSync(outputFile, 'utf8');
    const seconds = (performance.now() - started) / 1000;
    return { ...judge({ ...end, timedOut, limit, output }), output, seconds };
  } finally {
    process.off('exit', stop);
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // What a test that was ended has left running still writes there: the other files go on.
    }
  }
}
