/** The keys of `require_approval` in config.yml. */
import type { Schema } from '../yaml/schema.ts';

/** The keys that count approvals. */
export const APPROVED_VERBS = [
  ...(['deploy', 'rollback', 'restart', 'start', 'stop'] as const),
  'contract',
] as const;
const USER = {
  type: 'string',
  pattern: '^[A-Za-z0-9._@+-]{1,64}$',
  wanted: 'the name of a user, or of a signer in /etc/runner/approvers',
} as const satisfies Schema;
const EMAIL: Schema = {
  type: 'string',
  pattern: '^[^\\s@]{1,64}@[^\\s@]{1,190}$',
  wanted: 'an e-mail address',
};
const COUNT = {
  type: 'integer',
  minimum: 0,
  maximum: 9,
  description: 'How many approvals it needs [default: 0]',
} as const satisfies Schema;

/** The section, by app. */
export const REQUIRE_APPROVAL: Schema = {
  type: 'object',
  description: 'Which commands of an app need approvals, and by whom, by app',
  // An operator who writes '*' must not believe that it is for all apps.
  propertyPattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$',
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...Object.fromEntries(APPROVED_VERBS.map((verb) => [verb, COUNT])),
      by: {
        anyOf: [
          USER,
          { type: 'array', items: USER },
          {
            type: 'object',
            propertyPattern: USER.pattern,
            additionalProperties: { type: 'array', items: EMAIL },
          },
        ],
        description: 'Who may approve: users, or by user the e-mail addresses of their commits',
      },
      not_author: {
        type: 'boolean',
        description:
          'Neither an author of the commits nor who made the plan counts [default: false]',
      },
    },
  },
};
