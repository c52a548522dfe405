/**
 * The log of one deploy: the full output of its steps, redacted and safe for a terminal. A step writes
 * to a nameless file, whose contents are redacted and appended to the log. So no file contains a secret
 * of a build, even if the runner is killed.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, namesIn, readRange } from '@runner/common/files/read';
import { writeFully, writeWhole } from '@runner/common/files/write';
import { closing, orFail, unlessFailure } from '@runner/common/foundation/attempt';
import { Failure, systemCode } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import type { Redactor } from '@runner/common/secrets/redactor';
import { withPictures } from '@runner/common/text/pictures';
import { BLOCK, captured, NEWLINE } from './output.ts';

const KEPT = 20;
/** How often the output of a running step is copied, in milliseconds. */
const POLL = 100;
/** Limit of the name of a step, in characters. */
const STEP_NAME_MAX = 200;
/** How much of the end of a step's output an event's error contains, in bytes. */
const OUTPUT_MAX = 131_072;

/** Where the output of one step is in the log, in bytes. */
export interface LogPart {
  /** The step's name, the same in every deploy of the app. */
  readonly step: string;
  readonly from: number;
  readonly to: number;
}

/** A log; its file is made with the first line. */
export interface DeployLog {
  readonly path: string;
  /** Makes the file now. Throws `not_writable`, `disk_full`. */
  open(): void;
  readonly parts: readonly LogPart[];
  /** Writes a line of our own. */
  line(text: string): void;
  /**
   * Runs `body` with a descriptor to write to; returns the end of its output, redacted. `step` names
   * its part of the log.
   */
  capture<T>(
    step: string,
    body: (output: number) => Promise<T>,
  ): Promise<{ result: T; output: string }>;
  close(): void;
}

/** Whose log it is. */
export interface LogRequest {
  readonly paths: Paths;
  readonly app: string;
  readonly deployId: string;
  readonly redact: Redactor;
  /** Gets each piece of a step's output as it is appended. */
  onOutput(text: string): void;
}

export function openDeployLog({ paths, app, deployId, redact, onOutput }: LogRequest): DeployLog {
  const path = paths.deployLog(app, deployId);
  let opened: number | undefined;
  const file = () => {
    opened ??= openFile(path);
    return opened;
  };
  let isLineOpen = false;
  const append = (text: string) => {
    if (text !== '') isLineOpen = !text.endsWith('\n');
    try {
      writeFully(file(), Buffer.from(withPictures(text), 'utf8'));
    } catch {
      // A full disk ends the log here, and must not prevent a rollback.
    }
  };
  // The output of a step may lack a final newline: what comes next starts on its own line.
  const endLine = () => isLineOpen && append('\n');
  const sizeNow = () => unlessFailure(() => fstatSync(file()).size, 0);
  const parts: LogPart[] = [];
  return {
    path,
    parts,
    open: () => void file(),
    line(text) {
      endLine();
      append(`${redact(text)}\n`);
    },
    async capture(step, body) {
      endLine();
      const from = sizeNow();
      const place = { folder: dirname(path), id: deployId, redact };
      try {
        return await captured({ ...place, most: OUTPUT_MAX, every: POLL }, body, (text) => {
          append(text);
          onOutput(text);
        });
      } finally {
        parts.push({ step: redact(step).slice(0, STEP_NAME_MAX), from, to: sizeNow() });
      }
    },
    close() {
      if (opened === undefined) return;
      closeSync(opened);
      opened = undefined;
      shorten(path);
    },
  };
}

function openFile(path: string): number {
  makeFolder(dirname(path));
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const how = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW;
  return orFail(() => openSync(path, how, 0o640), `write ${path}`);
}

/** Limit of a kept log, in bytes; half of it for its head, half for its tail. */
const SIZE_MAX = 20_000_000;

/** Leaves out the middle of a log that is too long. On a full disk the log stays whole. */
function shorten(path: string): void {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    using _file = closing(fd);
    const { size } = fstatSync(fd);
    if (size <= SIZE_MAX) return;
    const half = SIZE_MAX / 2 - BLOCK;
    const head = readRange(fd, 0, half);
    const tail = readRange(fd, size - half, half);
    const end = head.lastIndexOf(NEWLINE) + 1 || head.length;
    const start = tail.indexOf(NEWLINE) + 1;
    const left = size - end - (tail.length - start);
    const note = Buffer.from(`… ${left} bytes left out …\n`);
    // Renamed into place: followers of the log keep reading the whole one.
    writeWhole(path, Buffer.concat([head.subarray(0, end), note, tail.subarray(start)]), 0o640);
  } catch (error) {
    if (!(error instanceof Failure) && systemCode(error) === undefined) throw error;
  }
}

/** Paths of all but the newest logs of an app; `keep` is one of the newest. */
export function oldLogs(paths: Paths, app: string, keep?: string): string[] {
  const folder = paths.deployLogs(app);
  const logs = namesIn(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => join(folder, name))
    .filter((path) => path !== keep);
  const kept = keep === undefined ? KEPT : KEPT - 1;
  if (logs.length <= kept) return [];
  const dated = logs.map((path) => ({ path, time: lstatSync(path).mtimeMs }));
  dated.sort((a, b) => b.time - a.time);
  return dated.slice(kept).map(({ path }) => path);
}
