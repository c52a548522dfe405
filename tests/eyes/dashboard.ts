/** The dashboard as a member of the group runs it, and what a viewer of it receives. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { get, request } from 'node:http';
import type { Socket } from 'node:net';
import { freePort } from '@runner/testing/app';
import { atExit } from '@runner/testing/cleanup';
import { asNobody, cleanEnvironment } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { GROUP } from './root.ts';

/** Whether another user can be given a look: as root, with access lists. */
export const canShare: boolean =
  process.getuid?.() === 0 && spawnSync('setfacl', ['--version']).error === undefined;

export interface Dashboard {
  readonly port: number;
  readonly child: ChildProcess;
  stderr(): string;
}

/** Starts it on a root; it ends with the test. */
export async function startDashboard(root: string): Promise<Dashboard> {
  const port = await freePort();
  const line = `exec ${asNobody('runner-dashboard', GROUP)} --listen 127.0.0.1:${port}`;
  const child = spawn('sh', ['-c', line], {
    env: cleanEnvironment({ root }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // It must not keep the test alive.
  child.unref();
  (child.stderr as unknown as Socket).unref();
  atExit(() => child.kill('SIGKILL'));
  await until(
    () => stderr.includes('listening'),
    () => `it does not listen: ${stderr}`,
  );
  return { port, child, stderr: () => stderr };
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Asks once; a stream is read for 100 ms. Status 0: the connection was closed. */
export function ask(port: number, path: string, method = 'GET', body?: string): Promise<Answered> {
  return new Promise((resolve) => {
    const closed = () => resolve({ status: 0, headers: {}, text: '' });
    const sent = request({ port, path, method, agent: false, setHost: true }, (response) => {
      let text = '';
      const done = () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        response.destroy();
      };
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      response.once('end', done).once('error', done);
      if (response.headers['content-type'] === 'text/event-stream') setTimeout(done, 100);
    });
    sent.once('connect', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: '' });
    });
    sent
      .once('error', closed)
      .setTimeout(20_000, () => resolve({ status: -1, headers: {}, text: 'hangs' }));
    sent.end(body);
  });
}

/** A viewer of a stream: what came so far. */
export interface Viewer {
  text(): string;
  close(): void;
}

/** Opens the stream of an address. */
export function view(port: number, path: string, heard: (text: string) => void = () => {}): Viewer {
  let text = '';
  const sent = get({ port, path, agent: false }, (response) => {
    response.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      heard(more);
    });
    response.on('error', () => {});
  });
  sent.on('error', () => {});
  return { text: () => text, close: () => sent.destroy() };
}
