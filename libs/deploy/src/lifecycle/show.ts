/** Showing the output of an app, its end first, and what comes. */
import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { linesBackward } from '@runner/common/files/lines-backward';
import { readRange } from '@runner/common/files/read';
import { Failure, systemCode } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { poll } from '@runner/common/foundation/poll';

/** Gets text as it comes, whole lines but for the end. */
export type Show = (text: string) => void;

const NOTHING = new Uint8Array();
const BLOCK = 262_144;
/** Between two looks at a program's end, in milliseconds. */
const LOOK = 50;

/** A file that is followed: also when it is replaced. */
class Followed {
  readonly #path: string;
  #fd: number | undefined;
  #inode = 0;
  #position = 0;
  #decoder = new StringDecoder('utf8');

  constructor(path: string) {
    this.#path = path;
  }

  /** Its last lines; what follows them is read next. */
  last(count: number): string {
    this.#open();
    if (this.#fd === undefined) return '';
    const { size } = fstatSync(this.#fd);
    this.#position = size;
    const lines: string[] = [];
    if (count > 0)
      for (const line of linesBackward(this.#fd, NOTHING, { size })) {
        lines.push(line.toString('utf8'));
        if (lines.length === count) break;
      }
    return lines
      .reverse()
      .map((line) => `${line.replace(/\n$/, '')}\n`)
      .join('');
  }

  /** What has come since. */
  next(): string {
    const text = this.#read();
    return text === '' && this.#isReplaced() ? this.#read() : text;
  }

  #read(): string {
    if (this.#fd === undefined) this.#open();
    if (this.#fd === undefined) return '';
    // Truncated: it begins again.
    if (fstatSync(this.#fd).size < this.#position) this.#position = 0;
    const bytes = readRange(this.#fd, this.#position, BLOCK);
    this.#position += bytes.length;
    return this.#decoder.write(bytes);
  }

  #isReplaced(): boolean {
    if (this.#fd === undefined) return false;
    const fd = openIfThere(this.#path);
    if (fd === undefined) return false;
    const { ino } = fstatSync(fd);
    if (ino === this.#inode) {
      closeSync(fd);
      return false;
    }
    closeSync(this.#fd);
    [this.#fd, this.#inode, this.#position] = [fd, ino, 0];
    return true;
  }

  #open(): void {
    this.#fd = openIfThere(this.#path);
    if (this.#fd !== undefined) this.#inode = fstatSync(this.#fd).ino;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }
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
  {
    file,
    args,
    cwd,
    env,
  }: { file: string; args: readonly string[]; cwd: string; env: Record<string, string> },
  show: Show,
): Promise<number> {
  const child = spawn(file, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let status: number | undefined;
  let problem = '';
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder('utf8');
    stream.on('data', (chunk: Buffer) => show(decoder.write(chunk)));
  }
  child.once('error', (error: NodeJS.ErrnoException) => {
    problem = `${file} could not be started (${error.code})`;
    status ??= 1;
  });
  child.once('close', (code) => {
    status ??= code ?? 0;
  });
  const stopped = await poll(io, async () => {
    if (status !== undefined) return 'end';
    await new Promise((resolve) => setTimeout(resolve, LOOK));
    return 'more';
  });
  child.kill();
  if (problem !== '') throw new Failure('log_not_found', problem);
  return stopped || (status ?? 0);
}
