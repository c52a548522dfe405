/** Whose root it is: what root starts for another user, that user could replace. */
import { statSync } from 'node:fs';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';

/** Throws `not_writable` for root on the root of another user. */
export function requireOwnRoot({ uid }: Pick<Io, 'uid'>, { root }: Paths): void {
  const owner = statSync(root, { throwIfNoEntry: false })?.uid;
  if (uid !== 0 || owner === undefined || owner === 0) return;
  throw new Failure(
    'not_writable',
    `${root} belongs to another user (uid ${owner}): run the command as that user, sudo -u '#${owner}' runner …`,
  );
}
