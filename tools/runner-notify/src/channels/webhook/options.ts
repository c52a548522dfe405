/** The options of `runner notify setup` for a webhook of any program. */
import type { Answers } from '../../service/contract.ts';

export const webhookOptions: Answers = {
  'webhook-url-file': {
    kind: 'value',
    placeholder: 'FILE',
    about: 'Webhook: a file with the address that gets the events',
    file: { variable: 'RUNNER_WEBHOOK_URL', what: 'the address of the webhook' },
    sets: { key: 'url', question: 'Address that gets the events' },
  },
  'webhook-secret-file': {
    kind: 'value',
    placeholder: 'FILE',
    about: 'Webhook: a file with the key that signs, whsec_ and base64',
    file: { variable: 'RUNNER_WEBHOOK_SECRET', what: 'the key of the webhook' },
    sets: { key: 'secret', question: 'Key that signs, whsec_ and base64' },
  },
};
