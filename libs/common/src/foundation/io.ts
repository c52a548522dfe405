/**
 * The outside world of a command: streams, environment, clock, randomness. It is passed down from
 * cli/main.ts, so that a test can pass its own.
 */
import { fstatSync, readSync, realpathSync, writeSync } from 'node:fs';
import { Failure, systemCode, systemFailure, systemWords } from './failure.ts';

/** An output stream. Writes are synchronous: once `write` returns, the data has left the process. */
export interface Sink {
  readonly isTTY: boolean;
  /** Width in character cells; 80 if unknown. */
  readonly columns: number;
  /** Height in lines; 24 if unknown. */
  readonly rows: number;
  /** Nothing more can be written: later writes do nothing, and long-running commands stop. */
  readonly closed: boolean;
  /** Why, unless the reader has left: `output_failed`, with which the command ends. */
  readonly failure: Failure | undefined;
  /** Never throws: what a command does counts for more than what it prints. */
  write(data: string | Uint8Array): void;
}

export interface InputStream {
  readonly fd: number;
  readonly isTTY: boolean;
  /** Blocks until the next bytes; null at the end. */
  read(): Uint8Array | null;
}

/** Environment variables. */
export type Env = Readonly<Record<string, string | undefined>>;

/** What a command may use outside its files. */
export interface Io {
  readonly stdin: InputStream;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Env;
  readonly cwd: string;
  /** Effective user id. */
  readonly uid: number;
  readonly pid: number;
  /** Absolute path of the running executable without symbolic links; its siblings are beside it. */
  readonly program: string;
  now(): Date;
  /** A monotonic clock, in ms. */
  elapsed(): number;
  /** From 0 up to, not including, 1: for ids and pauses, never for secrets. */
  random(): number;
  /** Handles signals, by default SIGINT, SIGTERM and SIGHUP; returns a function that removes the handler. */
  onSignal(
    handler: (signal: NodeJS.Signals) => void,
    signals?: readonly NodeJS.Signals[],
  ): () => void;
}

/** Blocks this thread, while a descriptor is not ready. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** The device number of /dev/null on Linux. */
const NULL_DEVICE = 0x103;

/** node:tty loads node:net, which is slow: not for a pipe, a file or /dev/null. */
function isTerminal(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    if (!stats.isCharacterDevice() || stats.rdev === NULL_DEVICE) return false;
    return process.getBuiltinModule('node:tty').isatty(fd);
  } catch {
    return false;
  }
}

function openSink(fd: number, name: string): Sink {
  let closed = false;
  let failure: Failure | undefined;
  const stream = () => (fd === 1 ? process.stdout : process.stderr);
  return {
    get isTTY() {
      return isTerminal(fd);
    },
    get columns() {
      return (isTerminal(fd) && stream().columns) || 80;
    },
    get rows() {
      return (isTerminal(fd) && stream().rows) || 24;
    },
    get closed() {
      return closed;
    },
    get failure() {
      return failure;
    },
    write(data) {
      if (closed) return;
      const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
      for (let done = 0; done < bytes.length; ) {
        try {
          done += writeSync(fd, bytes, done);
        } catch (error) {
          const code = systemCode(error);
          if (code === 'EAGAIN') sleep(2);
          else {
            closed = true;
            if (code !== 'EPIPE' && code !== 'EBADF' && code !== 'EIO')
              failure = new Failure(
                'output_failed',
                `cannot write to ${name}: ${systemWords(error)}`,
              );
            return;
          }
        }
      }
    },
  };
}

/** An open descriptor as a source. */
export function openSource(fd: number, name = 'standard input'): InputStream {
  const buffer = Buffer.allocUnsafeSlow(65_536);
  return {
    fd,
    get isTTY() {
      return isTerminal(fd);
    },
    read() {
      for (;;) {
        try {
          const length = readSync(fd, buffer, 0, buffer.length, null);
          return length === 0 ? null : Buffer.from(buffer.subarray(0, length));
        } catch (error) {
          const code = systemCode(error);
          if (code === 'EAGAIN') sleep(5);
          else if (code === 'EOF' || code === 'EBADF') return null;
          else if (code === 'EISDIR')
            throw new Failure('file_unreadable', `${name} is a directory`);
          else throw systemFailure(error, `read ${name}`, 'file_unreadable');
        }
      }
    },
  };
}

export const ENDING_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The world of this process. */
export function processIo(): Io {
  let stdin: InputStream | undefined;
  return {
    get stdin() {
      stdin ??= openSource(0);
      return stdin;
    },
    stdout: openSink(1, 'standard output'),
    stderr: openSink(2, 'standard error'),
    env: process.env,
    get cwd() {
      try {
        return process.cwd();
      } catch {
        throw new Failure('file_unreadable', 'the current directory no longer exists');
      }
    },
    uid: process.geteuid?.() ?? 0,
    pid: process.pid,
    get program() {
      return realpathSync(process.argv[1] ?? process.execPath);
    },
    now: () => new Date(),
    elapsed: () => performance.now(),
    random: Math.random,
    onSignal(handler, signals = ENDING_SIGNALS) {
      for (const signal of signals) process.on(signal, handler);
      return () => {
        for (const signal of signals) process.removeListener(signal, handler);
      };
    },
  };
}

/** Reads a source to its end as UTF-8 text. Throws `file_unreadable` beyond `limit` bytes. */
export function readAll(source: InputStream, limit: number, what: string): string {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = source.read(); chunk; chunk = source.read()) {
    size += chunk.length;
    if (size > limit) throw new Failure('file_unreadable', `${what} is larger than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Reads a source to its end as UTF-8 text. Of a longer one only the first and last `half` bytes or a little
 * more are kept; `omitted` counts the bytes between them.
 */
export function readEnds(source: InputStream, half: number): { text: string; omitted: number } {
  const head: Uint8Array[] = [];
  const tail: Uint8Array[] = [];
  let [headSize, tailSize, omitted] = [0, 0, 0];
  for (let chunk = source.read(); chunk; chunk = source.read()) {
    if (headSize < half) {
      head.push(chunk);
      headSize += chunk.length;
      continue;
    }
    tail.push(chunk);
    tailSize += chunk.length;
    for (let first = tail[0]; first && tailSize - first.length >= half; first = tail[0]) {
      tail.shift();
      tailSize -= first.length;
      omitted += first.length;
    }
  }
  return { text: Buffer.concat([...head, ...tail]).toString('utf8'), omitted };
}
