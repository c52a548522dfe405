/**
 * What a command may touch: streams, environment, clock, randomness. It is handed in by `main.ts`;
 * nothing below takes any of these from the air, so a test can hand in its own.
 */
import { fstatSync, readSync, realpathSync, writeSync } from 'node:fs';
import { Failure, systemCode, systemWords } from './failure.ts';

/** A stream to write to. Writes are synchronous: what was written has left the process. */
export interface Sink {
  readonly isTTY: boolean;
  /** Width in character cells; 80 when unknown. */
  readonly columns: number;
  /** The reader has left (EPIPE): later writes do nothing. Long-running commands stop then. */
  readonly closed: boolean;
  write(data: string | Uint8Array): void;
}

/** A stream that is read, such as standard input. */
export interface Source {
  readonly fd: number;
  readonly isTTY: boolean;
  /** Reads the next bytes; null at the end. Blocks. */
  read(): Uint8Array | null;
}

/** Variables of the environment by their names. */
export type Env = Readonly<Record<string, string | undefined>>;

/** All that a command may touch of the world outside its files. */
export interface Io {
  readonly stdin: Source;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Env;
  readonly cwd: string;
  /** Effective user id. */
  readonly uid: number;
  readonly pid: number;
  /** Absolute path of the running executable, symbolic links resolved; its siblings stand beside it. */
  readonly program: string;
  now(): Date;
  /** Milliseconds of a clock that never steps back. */
  elapsed(): number;
  /** From 0 up to 1, without 1: for ids and pauses, never for what has to stay secret. */
  random(): number;
  /** Calls `handler` instead of dying when SIGINT, SIGTERM or SIGHUP comes; returns a remover. */
  onSignal(handler: (signal: NodeJS.Signals) => void): () => void;
}

/** Blocks this thread; only for a descriptor that asks to be tried again. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Whether a descriptor is a terminal. node:tty loads node:net, which is slow: not for a pipe or file. */
function isTerminal(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd);
  } catch {
    return false;
  }
}

function openSink(fd: number, name: string): Sink {
  let closed = false;
  return {
    get isTTY() {
      return isTerminal(fd);
    },
    get columns() {
      const stream = fd === 1 ? process.stdout : process.stderr;
      return (isTerminal(fd) && stream.columns) || 80;
    },
    get closed() {
      return closed;
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
          // What stderr does not take must not keep a command from its work.
          else if (fd === 2 || code === 'EPIPE' || code === 'EBADF' || code === 'EIO')
            closed = true;
          else throw new Failure('output_failed', `cannot write to ${name}: ${systemWords(error)}`);
          if (closed) return;
        }
      }
    },
  };
}

function openSource(fd: number): Source {
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
            throw new Failure('file_unreadable', 'standard input is a directory');
          else throw error;
        }
      }
    },
  };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The real world, for `main.ts`. */
export function processIo(): Io {
  let stdin: Source | undefined;
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
        throw new Failure('file_unreadable', 'the current folder does not exist any more');
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
    onSignal(handler) {
      for (const signal of SIGNALS) process.on(signal, handler);
      return () => {
        for (const signal of SIGNALS) process.removeListener(signal, handler);
      };
    },
  };
}

/** Reads a source to its end as UTF-8 text, at most `limit` bytes. Throws `file_unreadable` beyond. */
export function readAll(source: Source, limit: number, what: string): string {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = source.read(); chunk; chunk = source.read()) {
    size += chunk.length;
    if (size > limit) throw new Failure('file_unreadable', `${what} is larger than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
