/** Showing the output of an app, its end first, and what comes. */
import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { linesBackward } from '@runner/common/files/lines-backward';
import { readRange } from '@runner/common/files/read';
import { Failure, systemCode } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { poll } from '@runner/common/foundation/poll';
import { cutOff } from '../run/outside.ts';
import type { Shown } from './output.ts';

/** Gets text as it comes, whole lines but for the end. */
export type Show = (text: string) => void;

const NOTHING = new Uint8Array();
const BLOCK = 262_144;
/** Between two looks at a program's end, in milliseconds. */
const LOOK = 50;
/** Before a program is started again that shows nothing, in milliseconds. */
const AGAIN = 500;

/** Names that a file has been given when it is rotated, the newest first. */
const ROTATED = ['', '.1', '.2', '.3'] as const;

/** A file that is followed, also when it is replaced or rotated. */
class Followed {
  readonly #path: string;
  #fd: number | undefined;
  #position = 0;
  #decoder = new StringDecoder('utf8');

  constructor(path: string) {
    this.#path = path;
  }

  /** Its last lines, and those of the files before it; what follows them is read next. */
  last(count: number): string {
    this.#fd = openIfThere(this.#path);
    if (this.#fd === undefined) return '';
    this.#position = fstatSync(this.#fd).size;
    const own = fstatSync(this.#fd).ino;
    const older = ROTATED.slice(1).flatMap((name) => openIfThere(this.#path + name) ?? []);
    // One of them is the open file itself if it was renamed meanwhile.
    const before = older.filter((fd) => fstatSync(fd).ino !== own);
    const lines = lastLines([this.#fd, ...before], this.#position, count);
    older.forEach(closeSync);
    return lines.map((line) => `${line.replace(/\n$/, '')}\n`).join('');
  }

  /** What has come since. */
  next(): string {
    const text = this.#read();
    if (text !== '' || this.#fd === undefined) return text;
    const follower = this.#follower();
    if (follower === undefined) return '';
    // What was written before it was renamed, and after the last look.
    const rest = this.#read();
    if (rest !== '') {
      closeSync(follower);
      return rest;
    }
    closeSync(this.#fd);
    [this.#fd, this.#position] = [follower, 0];
    return this.#read();
  }

  #read(): string {
    this.#fd ??= openIfThere(this.#path);
    if (this.#fd === undefined) return '';
    // Truncated: it begins again.
    if (fstatSync(this.#fd).size < this.#position) this.#position = 0;
    const bytes = readRange(this.#fd, this.#position, BLOCK);
    this.#position += bytes.length;
    return this.#decoder.write(bytes);
  }

  /** The file that has replaced the open one: after a rotation the next newer, else what has its name. */
  #follower(): number | undefined {
    const { ino } = fstatSync(this.#fd as number);
    let newer: number | undefined;
    for (const name of ROTATED) {
      const fd = openIfThere(this.#path + name);
      if (fd === undefined) continue;
      if (fstatSync(fd).ino === ino) {
        closeSync(fd);
        return newer;
      }
      if (newer !== undefined) closeSync(newer);
      newer = fd;
    }
    if (newer !== undefined) closeSync(newer);
    return openIfThere(this.#path);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }
}

/** The last lines of files, the newest first, as if they were one: a line may begin in the file before. */
function lastLines(files: readonly number[], size: number, count: number): string[] {
  const lines: string[] = [];
  let last: string | undefined;
  for (const [index, fd] of files.entries()) {
    let isWhole = last === undefined || endsLine(fd);
    for (const line of linesBackward(fd, NOTHING, index === 0 ? { size } : {})) {
      const text = line.toString('utf8');
      if (isWhole && last !== undefined) lines.push(last);
      if (lines.length >= count) return lines.reverse();
      last = isWhole ? text : text + last;
      isWhole = true;
    }
  }
  if (last !== undefined) lines.push(last);
  return lines.slice(0, count).reverse();
}

function endsLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  return readRange(fd, Math.max(0, size - 1), 1)[0] === 0x0a;
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new Failure('file_unreadable', `cannot read ${path} (${systemCode(error)})`);
  }
}

/** Shows the end of files, and with `follow` what comes until a signal. Returns the exit status. */
export async function showFiles(
  io: Io,
  files: readonly { readonly path: string; readonly show: Show }[],
  lines: number,
  follow: boolean,
): Promise<number> {
  const followed = files.map(({ path, show }) => ({ file: new Followed(path), show }));
  for (const { file, show } of followed) show(file.last(lines));
  const step = async () => {
    let isMore = false;
    for (const { file, show } of followed) {
      const text = file.next();
      if (text !== '') show(text);
      isMore ||= text !== '';
    }
    return isMore ? ('more' as const) : ('wait' as const);
  };
  const status = follow ? await poll(io, step) : 0;
  for (const { file } of followed) file.close();
  return status;
}

/** Shows what a program prints, until it or a signal ends it. Returns the exit status. */
export async function showProgram(
  io: Io,
  first: Shown,
  follow: boolean,
  show: Show,
): Promise<number> {
  let running = started(first, show);
  let rest = 0;
  const stopped = await poll(io, async () => {
    await new Promise((resolve) => setTimeout(resolve, LOOK));
    if (running.status === undefined) return 'more';
    if (running.problem !== undefined) throw new Failure('log_not_found', running.problem);
    if (!follow || !first.again) return 'end';
    // Nothing runs at the moment: a container that is replaced.
    rest += LOOK;
    if (rest < AGAIN) return 'more';
    rest = 0;
    running = started(first.again(running.ended), show);
    return 'more';
  });
  running.end();
  return stopped || (running.status ?? 0);
}

/** A program whose output is shown as it comes. */
interface Running {
  readonly status: number | undefined;
  /** Why it could not be started. */
  readonly problem: string | undefined;
  /** When it ended. */
  readonly ended: string;
  end(): void;
}

function started({ file, args, cwd, env }: Shown, show: Show): Running {
  const child = cutOff(() =>
    spawn(file, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true }),
  );
  let status: number | undefined;
  let problem: string | undefined;
  let ended = '';
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder('utf8');
    stream.on('data', (chunk: Buffer) => show(decoder.write(chunk)));
  }
  child.once('error', (error: NodeJS.ErrnoException) => {
    problem = `${file} could not be started (${error.code})`;
    status ??= 1;
  });
  child.once('exit', () => {
    ended = new Date().toISOString();
  });
  child.once('close', (code) => {
    status ??= code ?? 0;
  });
  return {
    get status() {
      return status;
    },
    get problem() {
      return problem;
    },
    get ended() {
      return ended;
    },
    end() {
      if (status === undefined && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    },
  };
}
