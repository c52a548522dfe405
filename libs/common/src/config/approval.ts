/** `require_approval` in config.yml: which commands of an app need the word of someone else, and whose. */
import { section } from '../yaml/schema.ts';
import { APPROVED_VERBS } from './approval-schema.ts';
import type { Config } from './file.ts';
import { problemAt, sectionOf } from './settings.ts';

/** What may need an approval; `contract` removes what older versions need of the database. */
export type ApprovedVerb = (typeof APPROVED_VERBS)[number];

/** Someone who may approve. */
export interface Approver {
  readonly user: string;
  /** With which they commit; empty: any whose local part is the user's name counts. */
  readonly emails: readonly string[];
}

/** What one app asks for. */
export type ApprovalRule = ReturnType<typeof approvalRuleOf>;

/** The rule of an app. Throws `config_invalid`, also where fewer users are listed than are needed. */
export function approvalRuleOf(config: Config, app: string) {
  const own = section(sectionOf(config, 'require_approval'), app) ?? new Map();
  const given = own.get('by') ?? [];
  /** Who may approve; empty: no one is listed. */
  const by: readonly Approver[] =
    given instanceof Map
      ? [...given].map(([user, emails]) => ({ user, emails: emails as string[] }))
      : [given].flat().map((user) => ({ user, emails: [] }));
  /** Approvals that a command needs; absent: none. */
  const counts: Readonly<Partial<Record<ApprovedVerb, number>>> = Object.fromEntries(
    APPROVED_VERBS.flatMap((verb) => (own.has(verb) ? [[verb, own.get(verb)]] : [])),
  );
  const short = APPROVED_VERBS.find(
    (verb) => (counts[verb] ?? 0) > new Set(by.map(({ user }) => user)).size,
  );
  if (short !== undefined)
    throw problemAt(
      config,
      ['require_approval', app, short],
      'must not be more than the users in by',
    );
  return { counts, by, notAuthor: own.get('not_author') === true };
}
