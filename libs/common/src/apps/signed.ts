/** Whose signature an app's commits need, and which commit had it last. */

/** What is asked of: the commit that is deployed, or every one since the last accepted. */
export type RequireSigned = 'head' | 'strict';

/** Who signed a commit, by root's list of keys. */
export interface SignedBy {
  /** As the list names the signer. */
  principal: string;
  /** Fingerprint: `SHA256:…`, or the hex digits of an OpenPGP key. */
  key: string;
  kind: 'ssh' | 'openpgp';
}

/** The last commit that was accepted: the next one descends from it. */
export interface AcceptedCommit {
  commit: string;
  version: string;
  at: string;
  /** As in the record of its deploy, which a kill may have prevented. */
  rewrite_of?: string;
}

/** What the check of a commit found, in the records of its deploy. */
export interface SignedFacts {
  signed_by?: SignedBy;
  /** The last accepted commit, which this one does not descend from, as an operator accepted. */
  rewrite_of?: string;
}

/** A signer in words; they may have control characters. */
export function signerWords({ principal, key }: SignedBy): string {
  return `${principal} (${key})`;
}
