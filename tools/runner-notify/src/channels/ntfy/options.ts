/** The options of `runner notify setup` for ntfy. */
import type { Answers } from '../../service/contract.ts';

export const ntfyOptions: Answers = {
  'ntfy-url-file': {
    kind: 'value',
    placeholder: 'FILE',
    about: 'ntfy: a file with the address of the topic, e.g. https://ntfy.sh/TOPIC',
    file: { variable: 'RUNNER_NTFY_URL', what: 'the address of the ntfy topic' },
    sets: { key: 'url', question: 'Address of the topic, e.g. https://ntfy.sh/TOPIC' },
  },
  'ntfy-token-file': {
    kind: 'value',
    placeholder: 'FILE',
    about: 'ntfy: a file with the access token of a protected topic',
    file: { variable: 'RUNNER_NTFY_TOKEN', what: 'the access token of ntfy' },
    optional: true,
    sets: { key: 'token', question: 'Access token, empty for a topic without one' },
  },
};
