/** What successful builds print: from a log file, or from an app's last successful deploy. */
import { closeSync, openSync, readSync } from 'node:fs';
import { requireApp } from '@runner/common/apps/store';
import { systemFailure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { readBaseline } from '@runner/extract/baseline-file';
import { type Baseline, baselineOf, createShapeReader } from '@runner/extract/extract';

const BLOCK = 65_536;

/** Undefined without `file` and `app`. Throws `file_unreadable`, `app_not_found`. */
export function baselineFor(
  paths: Paths,
  file: string | undefined,
  app: string | undefined,
  redact: (text: string) => string,
): Baseline | undefined {
  if (app !== undefined) return readBaseline(paths, requireApp(paths, app).app);
  if (file === undefined) return undefined;
  let fd: number | undefined;
  try {
    // Read in blocks: the file may be a pipe.
    fd = openSync(file, 'r');
    const reader = createShapeReader(redact);
    const block = Buffer.alloc(BLOCK);
    for (let count = -1; count !== 0; ) {
      count = readSync(fd, block);
      reader.push(block.subarray(0, count));
    }
    return baselineOf(reader.end());
  } catch (error) {
    throw systemFailure(error, `read ${file}`, 'file_unreadable');
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
