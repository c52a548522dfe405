/** The options of `runner notify setup` for e-mail. */
import type { Answers } from '../../service/contract.ts';

export const emailOptions: Answers = {
  'smtp-file': {
    kind: 'value',
    placeholder: 'FILE',
    about: 'E-mail: a file with the mail server, smtps://USER:PASSWORD@HOST:465',
    file: { variable: 'RUNNER_SMTP', what: 'the address of the mail server' },
    sets: { key: 'smtp', question: 'Mail server, smtps://USER:PASSWORD@HOST:465' },
  },
  'email-from': {
    kind: 'value',
    placeholder: 'ADDRESS',
    about: 'E-mail: the sender',
    sets: { key: 'from', question: 'Sender' },
  },
  'email-to': {
    kind: 'value',
    placeholder: 'ADDRESSES',
    about: 'E-mail: the recipients, separated by commas',
    sets: { key: 'to', question: 'Recipients, separated by commas' },
  },
};
