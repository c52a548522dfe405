/** Whether the logs are rotated before they fill the disk. */

import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { namesIn } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { DEFAULT_ROOT, type Paths, type Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import {
  type CheckResult,
  type Findings,
  ok,
  orOk,
  problem,
  warning,
} from '../foundation/finding.ts';

/** A log that is rotated daily is far smaller, in bytes. */
const LARGE = 67_108_864;
/** A larger log needs rotation, in bytes. */
const GROWING = 1_048_576;
/** Installed by the package. */
const LOGROTATE = '/etc/logrotate.d/runner';

/** A command that writes a logrotate file for this root. */
function rotating({ root, auditLog, fetchLog }: Paths): string {
  const how =
    'daily minsize_1M rotate_12 nocreate nodateext compress delaycompress missingok notifempty';
  const lines = how.split(' ').map((line) => `  ${line.replace('_', ' ')}\\n`);
  const file = root === DEFAULT_ROOT ? LOGROTATE : `${LOGROTATE}${root.replace(/[^\w]+/g, '-')}`;
  const names = word(`"${auditLog}" "${fetchLog}"`);
  const owner = `"$(stat -c '%U %G' ${word(root)})"`;
  return `printf '%s {\\n  su %s\\n${lines.join('')}}\\n' ${names} ${owner} > ${file}`;
}

export function logs({ paths }: Server): Findings {
  const folder = dirname(LOGROTATE);
  const file = namesIn(folder)
    .map((name) => join(folder, name))
    .find((each) => orElse(() => readFileSync(each, 'utf8').includes(`${paths.logsDir}/`), false));
  const rotated = file !== undefined;
  const found: CheckResult[] = [paths.auditLog, paths.fetchLog].flatMap((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    // Links are reported by the `folders` check.
    if (stat === undefined || stat.isSymbolicLink()) return [];
    if (!stat.isFile())
      return problem(`${path} is not a regular file`, `mv ${word(path)} ${word(path)}.aside`);
    if (stat.size < (rotated ? LARGE : GROWING)) return [];
    const size = `${path} has grown to ${Math.floor(stat.size / 1_048_576)} MiB`;
    return rotated
      ? [warning(`${size}: logrotate is not running`, `logrotate --force ${file}`)]
      : [warning(`${size}: nothing rotates it`, rotating(paths))];
  });
  if (found.length > 0) return found;
  if (rotated) return ok(`${file} rotates the logs`);
  return orOk(found, 'the logs are small; nothing rotates them');
}
