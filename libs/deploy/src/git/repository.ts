/**
 * Which repository git reads, and with what configuration. A build may have written any file under the
 * root: what it planted must neither run nor answer.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readTextIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';

/** What `git init --bare` writes; every other setting is an option of the call. */
const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n';

/** For a call that needs no repository: none is searched for in the folders above. */
export const NO_REPOSITORY = { GIT_DIR: '/dev/null' };

/**
 * Environment for a call on a mirror, whose `config` is reset. A planted `commondir` would lead to
 * another configuration, planted replacements to other contents. Throws `git_failed` for the mirror of
 * another user: git does not check that of a repository it is given.
 */
export function onMirror(mirror: string): Record<string, string> {
  if (isOwn(mirror)) {
    const path = join(mirror, 'config');
    // Anything but a small file, such as a link, is replaced too.
    const content = unlessFailure(() => readTextIfThere(path, CONFIG.length), undefined);
    if (content !== CONFIG) writeWhole(path, CONFIG, 0o640);
  }
  return { GIT_DIR: mirror, GIT_COMMON_DIR: mirror, GIT_NO_REPLACE_OBJECTS: '1' };
}

/** Whether the mirror is there and this user's. */
function isOwn(mirror: string): boolean {
  const uid = statSync(mirror, { throwIfNoEntry: false })?.uid;
  if (uid === undefined || uid === process.geteuid?.()) return uid !== undefined;
  throw new Failure(
    'git_failed',
    `${mirror} belongs to another user (uid ${uid}): run the command as that user, sudo -u '#${uid}' runner …`,
  );
}
