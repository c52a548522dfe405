/** Who signed a commit or tag, by root's files. Nothing that the commit says of its signer counts. */
import type { SignedBy } from '@runner/common/apps/signed';
import { isNamespaceAllowed, type ListedKey } from './allowed-signers.ts';
import { PGP_ARMOUR, pgpSigner } from './openpgp.ts';
import type { SignedPart } from './parse-object.ts';
import type { CommitSigners } from './signers.ts';
import { isGoodSignature, SSH_ARMOUR, sshSignature } from './sshsig.ts';

/** Git signs in this namespace. */
const NAMESPACE = 'git';

/** Who signed it, or why it is refused, in words that follow the name of the commit. */
export type Verdict = { readonly signed_by: SignedBy } | { readonly why: string };

/**
 * Judges a signature. A key with a validity counts if it was valid when the commit was made, by the
 * commit's own date, and is valid `now`: else an ended key could sign with an earlier date.
 */
export async function judge(
  signers: CommitSigners,
  { payload, signature, date }: SignedPart,
  now: Date,
  namespace = NAMESPACE,
): Promise<Verdict> {
  if (signature === undefined) return { why: 'is not signed' };
  if (signature.startsWith(PGP_ARMOUR)) return judgePgp(signers, signature, payload);
  const parsed = signature.startsWith(SSH_ARMOUR) ? sshSignature(signature) : undefined;
  if (!parsed) return { why: 'has a malformed signature' };
  const { fingerprint } = parsed;
  const listed = signers.keys.get(fingerprint);
  const [first] = listed ?? [];
  if (signers.revoked.has(fingerprint))
    return { why: `is signed by the revoked key ${fingerprint}` };
  if (!listed || !first)
    return { why: `is signed by ${fingerprint}, which ${signers.path} does not list` };
  if (parsed.namespace !== namespace)
    return { why: `has a signature that was not made for ${namespace}` };
  if (!isGoodSignature(parsed, first, payload)) return { why: 'has a signature of other content' };
  const named = listed.filter(({ namespaces }) => isNamespaceAllowed(namespaces, namespace));
  const times = [date, now.getTime() / 1_000];
  const good = named.find((key) => times.every((time) => isWithin(key, time)));
  if (good) return { signed_by: { principal: good.principal, key: fingerprint, kind: 'ssh' } };
  const of = `the key ${fingerprint} of ${first.principal}`;
  if (named.length === 0)
    return { why: `is signed by ${of}, which is not listed for ${namespace}` };
  const isNow = namespace !== NAMESPACE || named.some((key) => isWithin(key, date));
  const when = isNow ? 'now' : 'at the date of the commit';
  return { why: `is signed by ${of}, which is not valid ${when}` };
}

/** Both ends are included, as in ssh-keygen. */
function isWithin({ after, before }: ListedKey, time: number): boolean {
  if (after === undefined && before === undefined) return true;
  return time >= (after ?? 0) && time <= (before ?? Number.POSITIVE_INFINITY);
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
