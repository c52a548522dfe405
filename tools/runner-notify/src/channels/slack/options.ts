/** The options of `runner notify setup` for Slack. */
import type { Answers } from '../../service/contract.ts';

export const slackOptions: Answers = {
  'slack-webhook-file': {
    kind: 'value',
    placeholder: 'FILE',
    about: 'Slack: a file with the address of the incoming webhook',
    file: { variable: 'RUNNER_SLACK_WEBHOOK', what: "Slack's webhook address" },
    sets: { key: 'webhook', question: 'Address of the incoming webhook' },
  },
};
