/** A headless Chromium that opens pages from files, by its protocol on a pipe; without one a test skips. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { atExit } from './cleanup.ts';
import { temporaryFolder } from './temp.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where Chromium is installed; undefined without it. */
export const chromiumPath: string | undefined = PLACES.find((path) => existsSync(path));

/** How a page is shown. */
export interface Screen {
  readonly width: number;
  /** Default: 900. */
  readonly height?: number;
  readonly dark?: boolean;
  readonly print?: boolean;
}

/** An open page. */
export interface Page {
  /** Addresses that it requested, its own included. */
  readonly requests: readonly string[];
  show(screen: Screen): Promise<void>;
  /** The value of an expression; a promise is awaited. */
  evaluate(expression: string): Promise<unknown>;
  /** The whole page, or what of it is above this many pixels. */
  picture(upTo?: number, format?: 'png' | 'webp'): Promise<Buffer>;
}

type ProtocolReply = Record<string, unknown>;

/** Sends commands of the DevTools protocol and hears events. */
class Connection {
  readonly #waiting = new Map<number, (answer: ProtocolReply) => void>();
  readonly #to: Writable;
  readonly #listeners: ((method: string, params: ProtocolReply) => void)[] = [];
  #next = 1;

  constructor(to: Writable, from: Readable) {
    this.#to = to;
    let rest = '';
    from.setEncoding('utf8').on('data', (chunk: string) => {
      const messages = (rest + chunk).split('\0');
      rest = messages.pop() ?? '';
      for (const message of messages) this.#receive(JSON.parse(message));
    });
  }

  #receive({ id, method, params, result, error }: ProtocolReply): void {
    if (typeof id !== 'number') {
      for (const listener of this.#listeners) listener(String(method), params as ProtocolReply);
      return;
    }
    this.#waiting.get(id)?.((error ? { error } : result) as ProtocolReply);
    this.#waiting.delete(id);
  }

  on(listener: (method: string, params: ProtocolReply) => void): void {
    this.#listeners.push(listener);
  }

  async send(method: string, params: object = {}, sessionId?: string): Promise<ProtocolReply> {
    const id = this.#next;
    this.#next += 1;
    const answer = new Promise<ProtocolReply>((resolve) => this.#waiting.set(id, resolve));
    this.#to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const result = await answer;
    if (result.error) throw new Error(`${method}: ${JSON.stringify(result.error)}`);
    return result;
  }
}

/** A browser; close it. */
export interface Browser {
  /** A file, or a page that this machine serves. */
  open(file: string): Promise<Page>;
  close(): void;
}

/** Starts Chromium, which reaches no network but loopback. */
export function startChromium(): Browser {
  if (chromiumPath === undefined) throw new Error('Chromium is not installed');
  const child: ChildProcess = spawn(
    chromiumPath,
    [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe'],
      ...['--hide-scrollbars', '--force-color-profile=srgb', '--disable-dev-shm-usage'],
      ...[
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
        '--disable-background-networking',
      ],
      `--user-data-dir=${temporaryFolder('chromium')}`,
    ],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true },
  );
  const close = () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
  };
  atExit(close);
  const connection = new Connection(child.stdio[3] as Writable, child.stdio[4] as Readable);
  return { open: (file) => openPage(connection, file), close };
}

async function openPage(connection: Connection, file: string): Promise<Page> {
  const { targetId } = await connection.send('Target.createTarget', { url: 'about:blank' });
  const attached = await connection.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method: string, params: object = {}) =>
    connection.send(method, params, String(attached.sessionId));
  const requests: string[] = [];
  const loaded = new Promise<void>((resolve) => {
    connection.on((method, params) => {
      if (method === 'Network.requestWillBeSent')
        requests.push((params.request as { url: string }).url);
      if (method === 'Page.loadEventFired') resolve();
    });
  });
  await send('Page.enable');
  await send('Network.enable');
  const url = file.startsWith('http:') ? file : pathToFileURL(file).href;
  await send('Page.navigate', { url });
  await loaded;
  return {
    requests,
    async show({ width, height = 900, dark = false, print = false }) {
      await send('Emulation.setDeviceMetricsOverride', {
        width,
        height,
        deviceScaleFactor: 1,
        mobile: false,
      });
      const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }];
      await send('Emulation.setEmulatedMedia', { media: print ? 'print' : 'screen', features });
    },
    async evaluate(expression) {
      const given = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await send('Runtime.evaluate', given);
      if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
      return (result as { value: unknown }).value;
    },
    async picture(upTo = Number.POSITIVE_INFINITY, format = 'png') {
      const { cssContentSize: size } = (await send('Page.getLayoutMetrics')) as {
        cssContentSize: { width: number; height: number };
      };
      const height = Math.min(upTo, size.height);
      const clip = { x: 0, y: 0, width: size.width, height, scale: 1 };
      const how = { clip, captureBeyondViewport: true, format };
      const { data } = await send('Page.captureScreenshot', how);
      return Buffer.from(String(data), 'base64');
    },
  };
}
