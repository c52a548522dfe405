/** Shows text a screen at a time: `$PAGER`, else `less -R`; without one it is written as it is. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Io } from '@runner/common/foundation/io';

/** A shell's status for a program that is not there. */
const NOT_FOUND = 127;

/**
 * Writes the pieces through a pager when stdout is a terminal, else straight to it; stops when the
 * reader leaves. `note` gets a sentence when the pager cannot be run.
 */
export async function showPaged(
  io: Io,
  pieces: Iterable<string>,
  note: (text: string) => void,
): Promise<void> {
  const command = io.env.PAGER ?? 'less';
  if (!io.stdout.isTTY || ['', 'cat'].includes(command.trim())) return writeAll(io, pieces);
  // With no LESS of their own, colours pass and a text of one screen needs no key to leave.
  const env = { ...io.env, LESS: io.env.LESS ?? 'FRX', LV: io.env.LV ?? '-c' };
  const child = spawn('/bin/sh', ['-c', io.env.PAGER === undefined ? 'less -R' : command], {
    env,
    stdio: ['pipe', 'inherit', 'ignore'],
  });
  // Ctrl-C belongs to the pager, which is in our process group.
  const release = io.onSignal(() => {});
  try {
    const ended = new Promise<number | null>((resolve) => {
      child.once('error', () => resolve(NOT_FOUND));
      child.once('close', (status) => resolve(status));
    });
    const given = await feed(child.stdin, pieces, ended);
    if ((await ended) !== NOT_FOUND) return;
    if (io.env.PAGER !== undefined) note(`the pager '${command}' cannot be run`);
    writeAll(io, given);
  } finally {
    release();
  }
}

/** Gives the pager what it takes; returns all pieces again, for when it took none. */
async function feed(
  stdin: NodeJS.WritableStream,
  pieces: Iterable<string>,
  ended: Promise<unknown>,
): Promise<Iterable<string>> {
  let left = false;
  stdin.on('error', () => {
    left = true;
  });
  const gone = ended.then(() => {
    left = true;
  });
  const source = pieces[Symbol.iterator]();
  const first: string[] = [];
  let size = 0;
  for (let next = source.next(); !next.done; next = source.next()) {
    // A pager that is missing takes at most what the pipe holds.
    if (size < KEPT) first.push(next.value);
    size += next.value.length;
    if (!stdin.write(next.value)) await Promise.race([once(stdin, 'drain').catch(() => {}), gone]);
    if (left) break;
  }
  stdin.end();
  return (function* again() {
    yield* first;
    for (let next = source.next(); !next.done; next = source.next()) yield next.value;
  })();
}

/** Characters kept to be written again: more than the buffers of a pipe and of its stream. */
const KEPT = 1_048_576;

function writeAll(io: Io, pieces: Iterable<string>): void {
  for (const piece of pieces) {
    io.stdout.write(piece);
    if (io.stdout.closed) return;
  }
}
