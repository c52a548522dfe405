/** Apps that may sleep, the process that wakes them, and requests by host. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request as ask } from 'node:http';
import { join } from 'node:path';
import { cleanEnvironment, executable, run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { REPO, TOKEN } from '../deploys/world.ts';

/** What a request got: status 0 without a whole answer. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly again: string | undefined;
}

/** Asks a host, at a port or a socket; the parts of a body come 30 ms apart. */
export function askHost(
  to: { readonly port: number } | { readonly socketPath: string },
  host: string,
  body: readonly string[] = [],
  path = '/',
): Promise<Answer> {
  return new Promise((resolve) => {
    const fail = () => resolve({ status: 0, text: '', again: undefined });
    const method = body.length > 0 ? 'POST' : 'GET';
    const sent = ask({ ...to, path, method, agent: false, headers: { host } }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('error', fail);
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, text, again: answer.headers['retry-after'] }),
      );
    });
    sent.on('error', fail);
    const parts = [...body];
    const next = () => {
      const part = parts.shift();
      if (part === undefined) sent.end();
      else sent.write(part, () => setTimeout(next, 30));
    };
    next();
  });
}

/** Registers the app that what is marked is a preview of: its token fetches. */
export async function addParent(root: string): Promise<void> {
  const args = ['--repo', REPO, '--branch', 'main', '--name', 'zoo', '--token', '-'];
  const { status, stderr } = await run('runner-add', args, { root, stdin: TOKEN });
  if (status !== 0) throw new Error(stderr);
  // What fetch finds of it is no matter here.
  await run('runner-pause', ['zoo'], { root });
}

/** Marks an app as a preview, as `runner preview` does. */
export function markPreview(root: string, app: string, preview: object): void {
  const path = join(root, 'state', `${app}.json`);
  const state = JSON.parse(readFileSync(path, 'utf8'));
  const { current } = state.instances.default;
  const mark = {
    of: 'zoo',
    key: 'pr-7',
    branch: 'main',
    ref: 'refs/heads/main',
    commit: current.commit,
    pushed_at: current.deployed_at,
    domain: new URL(current.url).hostname,
    tries: 1,
    ...state.preview,
    ...preview,
  };
  writeFileSync(path, JSON.stringify({ ...state, preview: mark }));
}

/** Starts the waker of a root. */
export async function startWaker(root: string) {
  const socket = join(root, 'waker/app.sock');
  const waker = start('runner-waker', [], { root });
  // Its file is there a moment before it listens.
  const answers = async () => (await askHost({ socketPath: socket }, 'nothing')).status !== 0;
  await until(answers, 'no waker');
  return waker;
}

/** A fetch, which puts to sleep what is idle. */
export const fetch = (root: string, ...args: string[]) =>
  run('runner-fetch', ['--deploy', ...args], { root });

/** Answers with what it gets, also after an upgrade; fails to start while `BAD` lies beside its release's folder. */
const SERVER = `const { existsSync, appendFileSync } = require('node:fs');
const { join } = require('node:path');
const shared = process.env.RUNNER_SHARED;
appendFileSync(join(shared, 'starts'), 'x');
if (existsSync(join(shared, 'bad'))) throw new Error('no database');
const server = require('node:http').createServer((request, response) => {
  if (request.url === '/slow') return void setTimeout(() => response.end('slow'), 1500);
  request.pipe(response);
  if (request.method === 'GET') response.write(process.env.RUNNER_APP + ' ' + process.env.RUNNER_VERSION);
});
server.on('upgrade', (request, socket, first) => {
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n');
  socket.write(first);
  socket.pipe(socket);
});
process.on('SIGTERM', () => process.exit());
server.listen(process.env.PORT);
`;

/** The files of an app with an address. */
export function sleepyFiles(domain: string, version: string): Record<string, string> {
  return {
    'server.js': SERVER,
    'package.json': '{ "private": true, "type": "commonjs" }\n',
    VERSION: version,
    '.deploy.yml': `instances: { default: { domain: ${domain} } }
start: { type: process, run: exec node server.js, stop_timeout: 2s }
health: { url: "http://unix/health", interval: 50ms, timeout: 2s, within: 20s }
traffic: { type: socket, drain: 5s }
`,
  };
}

/** What systemd does for a socket unit: it keeps the socket, and starts the program when a connection waits. */
const ACTIVATOR = `import os, select, signal, socket, subprocess, sys
path, program = sys.argv[1], sys.argv[2:]
os.makedirs(os.path.dirname(path), exist_ok=True)
s = socket.socket(socket.AF_UNIX)
s.bind(path)
os.chmod(path, 0o666)
s.listen(512)
os.dup2(s.fileno(), 3, inheritable=True)
child = None
def end(*_):
    if child: child.kill()
    os._exit(0)
signal.signal(signal.SIGTERM, end)
while True:
    select.select([s], [], [])
    child = subprocess.Popen(['sh', '-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh', *program], pass_fds=(3,), stdin=subprocess.DEVNULL)
    print(child.pid, flush=True)
    child.wait()
`;

export interface Activator {
  /** The process that serves now, or served last; undefined before the first. */
  pid(): number | undefined;
  close(): void;
}

/** Starts the waker of a root on demand, again after each end. */
export async function activateWaker(root: string): Promise<Activator> {
  const socket = join(root, 'waker/app.sock');
  const program = [process.execPath, executable('runner-waker')];
  const child = spawn('python3', ['-c', ACTIVATOR, socket, ...program], {
    env: cleanEnvironment({ root }),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let pid: number | undefined;
  child.stdout.on('data', (chunk) => {
    pid = Number(String(chunk).trim().split('\n').at(-1));
  });
  await until(() => existsSync(socket), 'no socket');
  return { pid: () => pid, close: () => child.kill('SIGTERM') };
}
