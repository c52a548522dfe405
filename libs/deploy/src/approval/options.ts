import { invalidValue } from '@runner/common/foundation/failure';
import { durationOf } from '@runner/common/text/time';

/** The options of commands that may need an approval. */
export const APPROVAL_OPTIONS = {
  plan: {
    placeholder: 'ID',
    about: 'Do what this plan says, or nothing: runner apply gives it',
  },
  emergency: {
    placeholder: 'REASON',
    about: 'Go on without an approval; for root alone, recorded and announced',
    conflicts: ['plan'],
  },
} as const;

/** Their values, as given. */
export interface ApprovalChoice {
  readonly plan?: string | undefined;
  readonly emergency?: string | undefined;
}

export const WAIT_OPTION = {
  placeholder: 'TIME',
  about: 'Wait up to this long (30s, 10m) for another command of the app to end',
} as const;

/** In milliseconds. Throws `usage`. */
export function waitOf(text: string | undefined): number | undefined {
  const wait = text === undefined ? undefined : durationOf(text);
  if (text === undefined || wait !== undefined) return wait;
  throw invalidValue(text, '--wait <TIME>', 'it must be a time such as 30s, 10m, 1h');
}

/** What an operator answers when a deploy has refused. */
export const ANSWER_OPTIONS = {
  migrated: {
    placeholder: 'yes|no',
    about: 'Whether a migration that was killed is in the database',
  },
  'accept-rewrite': {
    about: 'Deploy a commit that does not descend from the last accepted one; it is recorded',
  },
} as const;

/** Their values, as given. */
export interface AnswerValues {
  readonly migrated?: string | undefined;
  readonly 'accept-rewrite'?: boolean | undefined;
}

/** Throws `usage`. */
export function answersOf({ migrated, 'accept-rewrite': acceptRewrite = false }: AnswerValues): {
  readonly migrated: 'yes' | 'no' | undefined;
  readonly acceptRewrite: boolean;
} {
  if (migrated === undefined || migrated === 'yes' || migrated === 'no')
    return { migrated, acceptRewrite };
  throw invalidValue(migrated, '--migrated <yes|no>', 'it must be yes or no');
}
