/** Approvals of a plan: those by signature count as long as root lists their keys. */
import { Failure } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import { judgeSsh, type SshVerdict } from '../signed/judge-ssh.ts';
import { listedKeys } from '../signed/listed.ts';

export interface Approval {
  by: string;
  at: string;
  how: 'user' | 'signature' | 'fleet';
  /** Fingerprint of the key that signed it, and its signature. */
  key?: string;
  signature?: string;
  /** Why it no longer counts, in words that follow the name of who gave it; found when the plan is read. */
  lapsed?: string;
  reason?: string;
  /** It leaves the plan to `runner apply`. */
  leaves?: true;
}

/** Those that still count. */
export const countingOf = (approvals: readonly Approval[]) =>
  approvals.filter(({ lapsed }) => lapsed === undefined);

/** A sentence for each approval that no longer counts. */
export const lapsedWords = (approvals: readonly Approval[]) =>
  approvals.flatMap(({ by, lapsed }) =>
    lapsed === undefined ? [] : [`the approval by ${by} no longer counts: it ${lapsed}`],
  );

/** What is said now of the signatures over the text of a plan. */
export function judged(paths: Paths, text: string, approvals: readonly Approval[]): Approval[] {
  return approvals.map((each) => {
    if (each.how !== 'signature') return each;
    const found = approvalSigner(paths, text, each.signature ?? '');
    if ('why' in found) return { ...each, lapsed: found.why };
    const isSame = found.principal.split(',').includes(each.by);
    return isSame ? each : { ...each, lapsed: `is by a key of ${found.principal} now` };
  });
}

/** The namespace of `ssh-keygen -Y sign -n` for approvals. */
const NAMESPACE = 'runner-approval';

/** Who signed the text of a plan, by root's files as they are now. */
export function approvalSigner(paths: Paths, text: string, signature: string): SshVerdict {
  const now = new Date();
  const part = { payload: Buffer.from(text), signature, date: now.getTime() / 1_000 };
  try {
    const { signers, problems, isThere } = listedKeys(paths, 'approvers');
    const [problem = isThere ? undefined : `there is no ${signers.path}`] = problems;
    if (problem !== undefined) return { why: `cannot be verified: ${problem}` };
    return judgeSsh(signers, part, now, NAMESPACE);
  } catch (error) {
    if (error instanceof Failure) return { why: `cannot be verified: ${error.message}` };
    throw error;
  }
}
