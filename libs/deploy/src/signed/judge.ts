/** Who signed a commit or tag, by root's files. Nothing that the commit says of its signer counts. */
import type { SignedBy } from '@runner/common/apps/signed';
import { GIT_NAMESPACE, judgeSsh } from '@runner/common/signed/judge-ssh';
import { PGP_ARMOUR, pgpSigner } from './openpgp.ts';
import type { SignedPart } from './parse-object.ts';
import type { CommitSigners } from './signers.ts';

/** Who signed it, or why it is refused, in words that follow the name of the commit. */
export type Verdict = { readonly signed_by: SignedBy } | { readonly why: string };

/** Judges a signature; the date is the commit's own. */
export async function judge(
  signers: CommitSigners,
  { payload, signature, date }: SignedPart,
  now: Date,
): Promise<Verdict> {
  if (signature === undefined) return { why: 'is not signed' };
  if (signature.startsWith(PGP_ARMOUR)) return judgePgp(signers, signature, payload);
  const verdict = judgeSsh(signers, { payload, signature, date }, now, GIT_NAMESPACE);
  return 'why' in verdict ? verdict : { signed_by: { ...verdict, kind: 'ssh' } };
}

async function judgePgp(
  { path, openpgp }: CommitSigners,
  signature: string,
  payload: Buffer,
): Promise<Verdict> {
  if (!openpgp) return { why: `is signed with OpenPGP, and there is no ${path}.gpg` };
  const signer = await pgpSigner(openpgp.bytes, signature, payload);
  if (signer) return { signed_by: { ...signer, kind: 'openpgp' } };
  return { why: `is signed with OpenPGP, but with no key of ${path}.gpg that is good` };
}
