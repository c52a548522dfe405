/**
 * The log of one deploy: the full output of its steps, redacted. A step writes to a file without a
 * name; what it wrote is read from there, cleaned of secrets and appended, so that no secret of a
 * build stands in any file, even when the runner is killed.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, namesIn, readRange, removeIfThere } from '@runner/common/files/read';
import { writeFully } from '@runner/common/files/write';
import { systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { KeyStream } from '@runner/common/secrets/private-key-stream';

/** How many logs are kept per app. */
const KEPT = 20;
/** How often a running step's output is taken over, in milliseconds. */
const POLL = 100;
const BLOCK = 262_144;
const NEWLINE = 0x0a;
/** A step is told from others by this much of its name. */
const STEP_NAME_MAX = 200;
/** The tail of a step's output that an event's error carries, in bytes. */
const OUTPUT_MAX = 131_072;

/** The output of one step in the file of the log, in bytes. */
export interface Part {
  /** The step's name, the same in every deploy of the app. */
  readonly step: string;
  readonly from: number;
  readonly to: number;
}

/** A log that is open for writing. */
export interface DeployLog {
  /** Path of the file. */
  readonly path: string;
  /** The steps that were captured, in their order. */
  readonly parts: readonly Part[];
  /** Adds a line of our own. */
  line(text: string): void;
  /**
   * Runs `body` with a descriptor to write to; returns what it wrote, redacted, at most its end.
   * `step` names what it wrote among the parts.
   */
  capture<T>(
    step: string,
    body: (output: number) => Promise<T>,
  ): Promise<{ result: T; output: string }>;
  close(): void;
}

/**
 * Opens the log of a deploy. `redact` cleans text; `onOutput` gets each piece of a step's output
 * as it is appended. Throws `not_writable`, `disk_full`.
 */
export function openDeployLog(
  paths: Paths,
  app: string,
  deployId: string,
  redact: (text: string) => string,
  onOutput: (text: string) => void,
): DeployLog {
  const path = paths.deployLog(app, deployId);
  makeFolder(dirname(path));
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  let file: number;
  try {
    file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o640);
  } catch (error) {
    throw systemFailure(error, `write ${path}`);
  }
  let isLineOpen = false;
  const append = (text: string) => {
    if (text !== '') isLineOpen = !text.endsWith('\n');
    try {
      writeFully(file, Buffer.from(text, 'utf8'));
    } catch {
      // A full disk ends the log here; the step that filled it tells of it by its own status.
    }
  };
  // What a step printed last may have no newline: what comes next begins a line all the same.
  const endLine = () => {
    if (isLineOpen) append('\n');
  };
  const parts: Part[] = [];
  return {
    path,
    parts,
    line(text) {
      endLine();
      append(`${redact(text)}\n`);
    },
    async capture(step, body) {
      endLine();
      const from = fstatSync(file).size;
      const raw = openOutput(dirname(path), deployId);
      let position = 0;
      let kept = '';
      // The lines of a private key may come one at a time.
      const keys = new KeyStream();
      const add = (keyless: string) => {
        if (keyless === '') return;
        const text = redact(keyless);
        append(text);
        onOutput(text);
        kept = (kept + text).slice(-OUTPUT_MAX);
      };
      const take = (all: boolean) => {
        for (;;) {
          const bytes = readRange(raw, position, BLOCK);
          const isFull = bytes.length === BLOCK;
          const lines = bytes.lastIndexOf(NEWLINE) + 1;
          const length = all && !isFull ? bytes.length : lines || (isFull ? pieceOf(bytes) : 0);
          if (length === 0) break;
          position += length;
          add(keys.take(bytes.subarray(0, length).toString('utf8')));
        }
        if (all) add(keys.end());
      };
      const timer = setInterval(() => take(false), POLL);
      try {
        const result = await body(raw);
        take(true);
        return { result, output: kept };
      } finally {
        clearInterval(timer);
        closeSync(raw);
        parts.push({ step: redact(step).slice(0, STEP_NAME_MAX), from, to: fstatSync(file).size });
      }
    },
    close: () => closeSync(file),
  };
}

/** A longer word, or a longer key in one line, is no secret that we know. */
const SECRET_MAX = 32_768;
const SPACE = 0x20;

/**
 * How much of a line beyond a block is taken at once, in bytes: up to where no secret can be cut in
 * two, the beginning of a private key or else a space, as far as there is one near the end.
 */
function pieceOf(bytes: Buffer): number {
  const near = bytes.length - SECRET_MAX;
  const key = bytes.lastIndexOf('-----BEGIN ');
  if (key > near) return key;
  const space = bytes.lastIndexOf(SPACE) + 1;
  return space > near ? space : bytes.length;
}

/** Room that is asked for before a step writes, in bytes. */
const ROOM = 65_536;

/**
 * Where a step writes to. On a full disk that is nowhere: a program that cannot write a line would
 * fail, and a rollback with it.
 */
function openOutput(folder: string, id: string): number {
  const fd = openNameless(folder, id);
  try {
    writeFully(fd, Buffer.alloc(ROOM));
    ftruncateSync(fd, 0);
    return fd;
  } catch {
    closeSync(fd);
    return openSync('/dev/null', constants.O_RDWR);
  }
}

/** Most tries to make a file whose name another process keeps using in the same moment. */
const TRIES = 1_000;

/**
 * A file that has lost its name before anything is written to it. Several processes may do this in
 * one folder at once: each gets a file of its own, whoever takes its name away.
 */
export function openNameless(folder: string, id: string): number {
  const path = join(folder, `.${id}.raw`);
  const { O_APPEND, O_CREAT, O_EXCL, O_RDWR } = constants;
  for (let tried = 1; ; tried += 1) {
    // Of a process that was killed, or of one that is just here.
    removeIfThere(path);
    try {
      const fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND, 0o600);
      removeIfThere(path);
      return fd;
    } catch (error) {
      if (systemCode(error) !== 'EEXIST' || tried === TRIES)
        throw systemFailure(error, `write to ${folder}`);
    }
  }
}

/** Removes all but the newest logs of an app; `keep` is never removed. */
export function pruneLogs(
  paths: Paths,
  app: string,
  mtime: (path: string) => number,
  keep: string,
): void {
  const folder = paths.deployLogs(app);
  const logs = namesIn(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => join(folder, name))
    .filter((path) => path !== keep);
  if (logs.length < KEPT) return;
  const dated = logs.map((path) => ({ path, time: mtime(path) })).sort((a, b) => b.time - a.time);
  for (const { path } of dated.slice(KEPT - 1)) removeIfThere(path);
}
