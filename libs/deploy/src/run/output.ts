/** The file that a step writes to, and copying it into the log while the step runs. */
import { closeSync, constants, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { readRange, removeIfThere } from '@runner/common/files/read';
import { writeFully } from '@runner/common/files/write';
import { Failure, systemCode, systemFailure } from '@runner/common/foundation/failure';
import { KeyStream } from '@runner/common/secrets/private-key-stream';
import type { Redactor } from '@runner/common/secrets/redactor';

/** How much is read at once, in bytes. */
export const BLOCK = 262_144;
export const NEWLINE = 0x0a;

/** How much one call copies while the step runs, in bytes: its time limit and Ctrl-C must be heard. */
const AT_ONCE = 1_048_576;
/** Of output that is this far ahead of the log, in bytes, only the end is copied; it may have holes. */
const AHEAD_MAX = 33_554_432;
const END = 4_194_304;
/** Longer than any key or secret that begins in what was left out, in bytes. */
const HIDDEN = 1_048_576;

/**
 * Returns what copies the whole lines written since the last call, redacted, or with `all` everything
 * left. A secret that the step has printed in part is held back until it is complete.
 */
function copierOf(
  raw: number,
  redact: Redactor,
  add: (text: string) => void,
): (all: boolean) => void {
  let position = 0;
  let hidden = 0;
  let held = '';
  const decoder = new StringDecoder('utf8');
  // The lines of a private key may arrive one at a time.
  const keys = new KeyStream();
  const show = (piece: string, cut: (text: string) => number) => {
    const text = held + piece;
    const at = cut(text);
    held = text.slice(at);
    if (at > 0 && hidden === 0) add(redact(text.slice(0, at)));
    hidden = Math.max(0, hidden - at);
  };
  const leaveOut = (to: number) => {
    show(decoder.end() + keys.end(), (text) => text.length);
    add(`\n… ${to + HIDDEN - position} bytes left out …\n`);
    position = to;
    hidden = HIDDEN;
  };
  return (all) => {
    const { size } = fstatSync(raw);
    // Emptied by the step, as `tee /dev/stderr` does.
    if (size < position) position = 0;
    if (size - position > AHEAD_MAX) {
      if (!all) return;
      leaveOut(size - END);
    }
    const end = all ? size : Math.min(size, position + AT_ONCE);
    while (position < end) {
      const bytes = readRange(raw, position, Math.min(BLOCK, end - position));
      const isFull = bytes.length === BLOCK;
      const lines = bytes.lastIndexOf(NEWLINE) + 1;
      const isCut = isFull && lines === 0;
      const length = all && !isFull ? bytes.length : lines || (isCut ? pieceOf(bytes) : 0);
      if (length === 0) break;
      position += length;
      const piece = keys.take(decoder.write(bytes.subarray(0, length)));
      show(piece, isCut ? (text) => cutOf(text, redact) : redact.unfinishedAt);
    }
    if (all) show(decoder.end() + keys.end(), (text) => text.length);
  };
}

/**
 * Runs `body` with a descriptor to write to; `add` gets what it writes, as `copierOf` passes it on, every
 * `every` ms, or at its end. Returns the last `most` characters of that.
 */
export async function captured<T>(
  { folder, id, redact, most, every }: Capture,
  body: (output: number) => Promise<T>,
  add: (text: string) => void = () => {},
): Promise<{ result: T; output: string }> {
  const raw = openOutput(folder, id);
  let output = '';
  const copy = copierOf(raw, redact, (text) => {
    add(text);
    output = (output + text).slice(-most);
  });
  const timer = every === undefined ? undefined : setInterval(() => copy(false), every);
  try {
    const result = await body(raw);
    copy(true);
    return { result, output };
  } finally {
    clearInterval(timer);
    closeSync(raw);
  }
}

interface Capture {
  readonly folder: string;
  readonly id: string;
  readonly redact: Redactor;
  readonly most: number;
  readonly every?: number;
}

/** No secret that we recognise is longer, in bytes. */
const SECRET_MAX = 32_768;
const SPACE = 0x20;

/**
 * How much of a line that exceeds a block to take, in bytes: up to a private key or a space, if there is
 * one near the end.
 */
function pieceOf(bytes: Buffer): number {
  const near = bytes.length - SECRET_MAX;
  const key = bytes.lastIndexOf('-----BEGIN ');
  if (key > near) return key;
  const space = bytes.lastIndexOf(SPACE) + 1;
  return space > near ? space : bytes.length;
}

/** How far a cut moves that would divide a secret, and how often. */
const MOVE = 4_093;
const MOVES = 16;

/** Where a line that continues can be cut without dividing a secret. */
function cutOf(text: string, redact: Redactor): number {
  const whole = redact(text);
  let at = Math.min(redact.unfinishedAt(text), text.length - SECRET_MAX);
  for (let moved = 0; moved < MOVES && at > 0; moved += 1) {
    if (redact(text.slice(0, at)) + redact(text.slice(at)) === whole) return at;
    at -= MOVE;
  }
  return Math.max(0, at);
}

/** Space that must be free before a step writes, in bytes. */
const ROOM = 65_536;

/**
 * Where a step writes to. On a full disk that is /dev/null: a program that cannot print would fail,
 * and with it a rollback.
 */
function openOutput(folder: string, id: string): number {
  let fd: number | undefined;
  try {
    fd = openNameless(folder, id);
    writeFully(fd, Buffer.alloc(ROOM));
    ftruncateSync(fd, 0);
    return fd;
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    else if (!(error instanceof Failure && error.code === 'disk_full')) throw error;
    return openSync('/dev/null', constants.O_RDWR);
  }
}

/** Attempts to create a file whose name other processes use at the same time. */
const TRIES = 1_000;

/**
 * A file whose name is removed before anything is written to it. Several processes may do this in one
 * folder at once: each gets its own file.
 */
export function openNameless(folder: string, id: string): number {
  const path = join(folder, `.${id}.raw`);
  const { O_APPEND, O_CREAT, O_EXCL, O_RDWR } = constants;
  for (let tried = 1; ; tried += 1) {
    // Left by a process that was killed, or in use by another one right now.
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
