/**
 * Reads a file that decides what runs, or where a secret goes. Only root, the user, and for root the
 * owner of the installation may have written it.
 */
import { type Stats, statSync } from 'node:fs';
import { orElse } from '../foundation/attempt.ts';
import { Failure, systemCode } from '../foundation/failure.ts';
import { word } from '../text/shell.ts';
import { readIfThere } from './read.ts';

/**
 * `readIfThere`; throws `guard_tripped` for a file of another user, or a root that others may write. `folder` is the
 * root, where it was looked at for many files.
 */
export function readTrusted(
  path: string,
  limit: number,
  root: string,
  folder?: Stats,
): Buffer | undefined {
  try {
    return readIfThere(path, limit, (stat) => refuseForeign(path, stat, root, folder));
  } catch (error) {
    const isDenied = error instanceof Failure && systemCode(error.cause) === 'EACCES';
    const [uid, own] = [path, root].map((each) => orElse(() => statSync(each).uid, undefined));
    if (!isDenied || own !== process.geteuid?.() || uid === undefined || uid === own) throw error;
    const fix = `sudo chown --reference=${word(root)} ${word(path)}`;
    throw new Failure(error.code, `${error.message}: it belongs to user ${uid}: run ${fix}`);
  }
}

/** Members of its group and other users. */
const OTHERS = 0o022;

function refuseForeign(
  path: string,
  { uid }: Stats,
  root: string,
  folder = statSync(root, { throwIfNoEntry: false }),
): void {
  const user = process.geteuid?.() ?? 0;
  const account = folder?.uid ?? user;
  const may = account === user || user === 0 ? '' : 'sudo ';
  const trusted = user === 0 ? [0, account] : [0, user];
  if (!trusted.includes(uid)) {
    const ours = account === user || user === 0;
    const fix = ours
      ? `${user === 0 ? '' : 'sudo '}chown ${account || 'root'} ${word(path)}`
      : `the command as that user, sudo -u '#${uid}' runner …`;
    throw refused(`${path} belongs to another user (uid ${uid}): run ${fix}`);
  }
  if (folder && (folder.mode & OTHERS) !== 0)
    throw refused(`${root} can be written by others: run ${may}chmod go-w ${word(root)}`);
}

function refused(why: string): Failure {
  return new Failure('guard_tripped', `not to be trusted: ${why}`);
}
