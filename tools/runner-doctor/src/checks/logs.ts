/** Whether the logs are rotated before they fill the disk. */
import { existsSync, lstatSync } from 'node:fs';
import { type Found, ok, orWell, type Patient, problem, warning } from '../finding.ts';

/** Rotated every day, a log stays far below, in bytes. */
const LARGE = 67_108_864;
/** Where nothing rotates the logs, this is the time to see to it. */
const GROWING = 1_048_576;
/** What the package brings. */
const LOGROTATE = '/etc/logrotate.d/runner';

export function logs({ paths }: Patient): readonly Found[] {
  const rotated = existsSync(LOGROTATE);
  const found: Found[] = [paths.auditLog, paths.fetchLog].flatMap((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    if (!stat.isFile()) return [problem(`${path} is not a regular file`, `ls -l ${path}`)];
    if (stat.size < (rotated ? LARGE : GROWING)) return [];
    const size = `${path} has grown to ${Math.floor(stat.size / 1_048_576)} MiB`;
    return rotated
      ? [warning(`${size}: logrotate does not run`, `logrotate --force ${LOGROTATE}`)]
      : [warning(`${size}: nothing rotates it`, 'apt-get install --reinstall runner logrotate')];
  });
  if (found.length > 0) return found;
  if (rotated) return [ok(`${LOGROTATE} rotates the logs`)];
  return orWell(found, `the logs are small; nothing rotates them (${LOGROTATE} is missing)`);
}
