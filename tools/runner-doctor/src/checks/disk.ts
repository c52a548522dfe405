/** Whether there is room for the next releases. */

import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { type CheckResult, type Findings, orOk, problem, warning } from '../foundation/finding.ts';

const MIB = 1_048_576;
/** Less free space is a problem. A deploy needs 16 MiB plus four times the size of the repository. */
const LOW = 256 * MIB;
const LOW_INODES = 5_000;
/** A smaller free share of the disk is a warning, unless PLENTY bytes are free. */
const SHARE = 0.1;
const PLENTY = 10_240 * MIB;

export function disk({ paths }: Server): Findings {
  const at = existing(paths.root);
  const { bavail, blocks, bsize, ffree, files } = statfsSync(at);
  const free = bavail * bsize;
  const where = word(at);
  const fix = `du -xh --max-depth=2 ${where} | sort -h | tail`;
  const size =
    free < 10_240 * MIB ? `${Math.floor(free / MIB)} MiB` : `${Math.floor(free / MIB / 1024)} GiB`;
  const found: CheckResult[] = [];
  if (free < LOW) found.push(problem(`only ${size} are free on the disk of ${at}`, fix));
  else if (free < blocks * bsize * SHARE && free < PLENTY)
    found.push(warning(`only ${size} are free on the disk of ${at}, less than a tenth`, fix));
  // Some file systems do not count inodes.
  if (files > 0 && ffree < LOW_INODES) {
    const counting = `du -x --inodes --max-depth=2 ${where} | sort -n | tail`;
    found.push(problem(`only ${ffree} inodes are free on the disk of ${at}`, counting));
  }
  return orOk(found, `${size} are free`);
}

/** The nearest existing parent: the root would be created on its disk. */
function existing(path: string): string {
  try {
    statfsSync(path);
    return path;
  } catch (error) {
    const code = systemCode(error);
    if ((code === 'ENOENT' || code === 'ENOTDIR') && dirname(path) !== path)
      return existing(dirname(path));
    throw systemFailure(error, `look at the disk of ${path}`, 'file_unreadable');
  }
}
