/** A statement on another machine: nothing of a root is read. */
import { resolve } from 'node:path';
import { hashOf } from '@runner/common/audit/chain';
import { readGiven, refuseTwoReaders } from '@runner/common/files/read';
import { Failure, systemFailure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { opened, publicKeyFrom } from '@runner/deploy/statement/envelope';
import { claimsOf, type ReleaseClaims } from '@runner/deploy/statement/seal';
import { type Difference, treeText } from '@runner/deploy/statement/tree';

/** Bytes of a statement or key. */
const GIVEN_MAX = 1_048_576;

/** Which statement, with which key, and of which folder. */
export interface GivenStatement {
  readonly io: Io;
  readonly file: string;
  readonly key: string;
  readonly tree: string | undefined;
  readonly signal: AbortSignal;
}

/** What a statement says, and what of it does not hold. */
export interface VerifiedStatement
  extends Pick<
    ReleaseClaims,
    'app' | 'version' | 'commit' | 'deploy_id' | 'built_at' | 'signed_by' | 'tree'
  > {
  readonly file: string;
  /** Whether a release was compared with it; without one only the signature is known. */
  readonly compared: boolean;
  readonly differences: readonly Difference[];
  readonly differing: number;
}

/** Verifies it. Throws `signature_invalid` for what is no statement or key, `file_unreadable`. */
export async function verifyElsewhere(given: GivenStatement): Promise<VerifiedStatement> {
  const { io, file, key, tree: folder, signal } = given;
  refuseTwoReaders({ file, '--key': key });
  const text = readGiven(io, file, GIVEN_MAX, 'the statement');
  const publicKey = publicKeyFrom(readGiven(io, key, GIVEN_MAX, 'the key'), key);
  const envelope = opened(text, publicKey);
  const claims = envelope && claimsOf(envelope.value);
  if (!claims) throw new Failure('signature_invalid', `${file} is no statement about a release`);
  const differences: Difference[] = [];
  if (!envelope.isSigned) differences.push({ what: 'statement', path: file, change: 'unsigned' });
  if (folder !== undefined) {
    const path = resolve(io.cwd, folder);
    const now = await treeOr(path, signal);
    if (hashOf(now) !== claims.tree)
      differences.push({ what: 'release', path: folder, change: 'changed' });
  }
  const { app, version, commit, deploy_id, built_at, signed_by, tree } = claims;
  const about = { file, app, version, commit, deploy_id, built_at, signed_by, tree };
  const compared = folder !== undefined;
  return { ...about, compared, differences, differing: differences.length };
}

async function treeOr(path: string, signal: AbortSignal): Promise<string> {
  try {
    return await treeText(path, signal);
  } catch (error) {
    throw systemFailure(error, `read ${path}`, 'file_unreadable');
  }
}
