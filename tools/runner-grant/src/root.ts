/** Grants are root's: what an agent can write must not say what it may do. */
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';

/** Throws `not_writable`. */
export function requireRoot({ uid }: Pick<Io, 'uid'>): void {
  if (uid !== 0) throw new Failure('not_writable', 'only root may change grants: run it with sudo');
}
