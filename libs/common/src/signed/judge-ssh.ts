/** Who made an ssh signature, by root's files. Nothing that the signed text says of its signer counts. */
import { isNamespaceAllowed, type ListedKey } from './allowed-signers.ts';
import type { ListedKeys } from './listed.ts';
import { isGoodSignature, SSH_ARMOUR, sshSignature } from './sshsig.ts';

/** Git signs in this namespace. */
export const GIT_NAMESPACE = 'git';

/** What is said to be signed, and when it was made, in seconds since 1970. */
export interface SshSigned {
  readonly payload: Buffer;
  readonly signature: string;
  readonly date: number;
}

/** Whose key signed it, or why it does not count, in words that follow its name. */
export type SshVerdict =
  | { readonly principal: string; readonly key: string }
  | { readonly why: string };

/**
 * Judges a signature. A key with a validity counts if it was valid at the date of what is signed, and is
 * valid `now`: else an ended key could sign with an earlier date.
 */
export function judgeSsh(
  signers: ListedKeys,
  { payload, signature, date }: SshSigned,
  now: Date,
  namespace: string,
): SshVerdict {
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
  if (good) return { principal: good.principal, key: fingerprint };
  const of = `the key ${fingerprint} of ${first.principal}`;
  if (named.length === 0)
    return { why: `is signed by ${of}, which is not listed for ${namespace}` };
  const isNow = namespace !== GIT_NAMESPACE || named.some((key) => isWithin(key, date));
  const when = isNow ? 'now' : 'at the date of the commit';
  return { why: `is signed by ${of}, which is not valid ${when}` };
}

/** Both ends are included, as in ssh-keygen. */
function isWithin({ after, before }: ListedKey, time: number): boolean {
  if (after === undefined && before === undefined) return true;
  return time >= (after ?? 0) && time <= (before ?? Number.POSITIVE_INFINITY);
}
