/** The keys of `require_approval` in config.yml. */
import { flag, keys, list, matching, named, whole } from '../yaml/keys.ts';

/** The keys that count approvals. */
export const APPROVED_VERBS = [
  ...(['deploy', 'rollback', 'restart', 'start', 'stop'] as const),
  'contract',
] as const;
const NAME = '^[A-Za-z0-9._@+-]{1,64}$';
const USER = matching(NAME, 'the name of a user, or of a signer in /etc/runner/approvers');
const EMAIL = matching('^[^\\s@]{1,64}@[^\\s@]{1,190}$', 'an e-mail address');
const COUNT = whole(0, 9, 'How many approvals it needs [default: 0]');

/** The section, by app: an operator who writes '*' must not believe that it is for all apps. */
export const REQUIRE_APPROVAL = named(
  keys({
    ...Object.fromEntries(APPROVED_VERBS.map((verb) => [verb, COUNT])),
    by: {
      anyOf: [USER, list(USER), named(list(EMAIL), undefined, NAME)],
      description: 'Who may approve: users, or by user the e-mail addresses of their commits',
    },
    not_author: flag(
      'Neither an author of the commits nor who made the plan counts [default: false]',
    ),
  }),
  'Which commands of an app need approvals, and by whom, by app',
  '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$',
);
