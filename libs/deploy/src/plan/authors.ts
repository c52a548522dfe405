/** Whether someone wrote commits of a plan: it keeps fingerprints of their authors, which redaction cannot change. */

import type { CommandPlan } from '@runner/common/apps/plans';
import { hashOf } from '@runner/common/audit/chain';
import type { Approver } from '@runner/common/config/approval';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Env } from '@runner/common/foundation/io';
import { readGrant } from '../approval/grants.ts';

/** Authors whose fingerprints are kept. With more of them anyone may be one. */
const AUTHORS_MAX = 1_000;
const ANYONE = 'anyone';

/** Of a name, an address, or the part of one before its `@`. */
function printOf(plan: string, kind: 'name' | 'address' | 'account', text: string): string {
  const value = JSON.stringify([plan, kind, text.trim().toLowerCase()]);
  return hashOf(value).slice(0, 16);
}

/** Fingerprints of authors, who are given as `name <address>`, for one plan; undefined: of too many to know. */
export function authorPrints(plan: string, authors: readonly string[] | undefined): string[] {
  if (authors === undefined || authors.length > AUTHORS_MAX) return [ANYONE];
  const prints = authors.flatMap((author) => {
    const [, name = author, address = ''] = /^(.*)<([^<>]*)>\s*$/s.exec(author) ?? [];
    const account = address.split('@')[0] ?? '';
    return [
      printOf(plan, 'name', name),
      printOf(plan, 'address', address),
      printOf(plan, 'account', account),
    ];
  });
  return [...new Set(prints)];
}

/** Why the approval of a user does not count with `not_author`, in words that follow the name. */
export function barredWords(
  env: Env,
  { id, by, grant, authors }: Pick<CommandPlan, 'id' | 'by' | 'grant' | 'authors'>,
  approver: Approver,
): string | undefined {
  const agent = grant === null ? undefined : unlessFailure(() => readGrant(env, grant), undefined);
  if ([by, agent?.user].includes(approver.user))
    return `made ${id}: someone else has to approve it`;
  if (authors.includes(ANYONE))
    return `may not approve ${id}: its commits have too many authors to know them all`;
  if (isAuthor(id, authors, approver))
    return `wrote commits of ${id}: someone else has to approve it`;
  return undefined;
}

/**
 * Whether a user is one of them: by the addresses that config.yml lists, else by an address or a name that is
 * the user's.
 */
export function isAuthor(
  plan: string,
  prints: readonly string[],
  { user, emails }: Approver,
): boolean {
  const own =
    emails.length > 0
      ? emails.map((each) => printOf(plan, 'address', each))
      : (['name', 'address', 'account'] as const).map((kind) => printOf(plan, kind, user));
  return prints.includes(ANYONE) || own.some((each) => prints.includes(each));
}
