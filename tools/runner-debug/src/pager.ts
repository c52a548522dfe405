/** Shows text in `$PAGER`, or else in `less -R`; without a pager it is written directly. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Io } from '@runner/common/foundation/io';

/** A shell's status for a missing program. */
const NOT_FOUND = 127;

/**
 * Writes the pieces through a pager if stdout is a terminal, otherwise directly; stops when the reader
 * leaves. Reports through `note` that the pager cannot be run.
 */
export async function showPaged(
  io: Io,
  pieces: Iterable<string>,
  note: (text: string) => void,
): Promise<void> {
  const command = io.env.PAGER ?? 'less';
  if (!io.stdout.isTTY || ['', 'cat'].includes(command.trim())) return writeAll(io, pieces);
  // Like git: keep colours, and quit at once if the text fits on one screen.
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

/** Feeds the pager; returns all pieces again, in case it could not be run. */
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
    // A missing pager takes at most what the pipe holds.
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

/** Characters kept for writing again: more than a pipe and its stream buffer. */
const KEPT = 1_048_576;

function writeAll(io: Io, pieces: Iterable<string>): void {
  for (const piece of pieces) {
    io.stdout.write(piece);
    if (io.stdout.closed) return;
  }
}
