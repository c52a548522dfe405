/** The options of `runner notify setup` for Discord. */
import type { Answers } from '../../service/contract.ts';

export const discordOptions: Answers = {
  'webhook-file': {
    kind: 'value',
    placeholder: 'FILE',
    about: 'Discord: a file with the webhook address',
    file: { variable: 'RUNNER_DISCORD_WEBHOOK', what: 'the webhook address' },
  },
};
