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
