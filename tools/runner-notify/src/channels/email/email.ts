/** E-mail through an existing mail server, which is responsible for DKIM. */
import { domainToASCII } from 'node:url';
import { hashOf } from '@runner/common/audit/chain';
import type { SectionSettings } from '@runner/common/config/channels';
import { type Announcement, TEST_TEXT, TEST_TITLE } from '../../message/announcement.ts';
import type { Notice } from '../../message/notice.ts';
import type { Channel, Rate, RequestLine } from '../../service/contract.ts';
import { type Fields, wordOf } from '../../service/fields.ts';
import { inspectionOf, onlyForm, sectionService } from '../../service/section.ts';
import { PLAIN, phraseText, textWriting } from '../../service/text.ts';
import { converse } from './smtp.ts';

type Settings = SectionSettings['email'];

/** No limit is published; mailbox providers commonly allow this much. */
const RATES: readonly Rate[] = [{ count: 20, per: 60_000 }];
/** In characters; e-mail has no limit in this range. */
const TEXT_MAX = 100_000;
const METHOD = 'SMTP';
/** In a queued message the domain of message ids, instead of the sender's; RFC 2606 reserves it. */
const DOMAIN = 'runner.invalid';

/** A message id with the sender's domain: mail filters distrust one that cannot exist. */
function idOf(id: unknown, from: string): string {
  const domain = /@([\w.-]+)>?\s*$/.exec(from)?.[1] ?? DOMAIN;
  return wordOf(id).replace(`@${DOMAIN}>`, `@${domain}>`);
}

/**
 * The id of a mail is the same in every attempt, so that a repeated one is recognised. All mails of a
 * deploy refer to one id that was never sent: they become one conversation.
 */
function headersOf(notice: Notice, text: string): Fields {
  const about = JSON.stringify([notice.eventType, notice.project, notice.timestamp, text]);
  const digest = hashOf(about).slice(0, 24);
  const thread = `<deploy.${notice.deployId.replace(/[^\w-]/g, '')}@${DOMAIN}>`;
  return { message_id: `<${digest}@${DOMAIN}>`, references: thread };
}

/** A name may hold what separates addresses elsewhere: it is never parsed again. */
function mailboxOf(text: string) {
  const [, name = '', address = text] = /^([^<]*)<(.*)>\s*$/.exec(text) ?? [];
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address: address.trim() };
}

/** An address in one form: its domain in lower case, of a-z, unless it is an IP address. */
function uniform(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  return address.slice(0, at) + (domainToASCII(domain) || domain);
}

const subjectOf = ({ icon, title, headline }: Announcement) =>
  `${icon} ${title}: ${phraseText(headline)}`;

const writing = textWriting({
  ...PLAIN,
  channel: 'email',
  titled: true,
  max: TEXT_MAX,
  fits: (text) => text.length <= TEXT_MAX,
  payload: ({ text, about, notice }) => ({
    subject: subjectOf(about),
    text,
    ...headersOf(notice, text),
  }),
});

/** Sends through one server, to all recipients at once. */
function connectEmail({ smtp, from, to }: Settings, line: RequestLine): Channel {
  const call = { ...line, method: METHOD };
  const recipients = to.map(mailboxOf);
  const send: Channel['send'] = async ({ payload, only }, timeout) => {
    const asked = only?.map(uniform);
    const left = recipients.filter(({ address }) => asked?.includes(uniform(address)) ?? true);
    const { subject, text, message_id: messageId, references } = payload;
    const mail = {
      from: mailboxOf(from),
      to: recipients,
      // The others have it; one that was removed from the configuration gets nothing.
      envelope: { from: mailboxOf(from).address, to: left.map(({ address }) => address) },
      subject: wordOf(subject),
      text: wordOf(text),
      ...(messageId !== undefined && { messageId: idOf(messageId, from) }),
      ...(references !== undefined && { references: idOf(references, from) }),
      // RFC 3834: no answering machine replies.
      headers: { 'Auto-Submitted': 'auto-generated' },
    };
    if (left.length === 0) return { class: 'delivered', rest: 0 };
    const outcome = await converse(call, smtp.reveal(), mail, timeout);
    const refused = 'left' in outcome ? outcome.left?.length : undefined;
    // No one has it: the next messages of the deploy wait.
    return refused === to.length ? { ...outcome, left: undefined } : outcome;
  };
  return {
    rates: RATES,
    send,
    async inspect() {
      const outcome = await converse(call, smtp.reveal(), undefined);
      return inspectionOf(outcome.class === 'delivered' ? { value: {} } : outcome);
    },
    sendTest: () => send(onlyForm({ subject: `🔔 ${TEST_TITLE}`, text: TEST_TEXT })),
  };
}

export const email = sectionService('email', {
  title: 'E-mail',
  secret: 'server',
  unhealthy: 'the mail server does not accept messages',
  method: METHOD,
  mask(address) {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    return url ? `${url.protocol}//${url.host}` : '…';
  },
  identityOf: ({ email: mail }) =>
    mail ? [mail.smtp.reveal(), mail.from, ...mail.to].join('\n') : '',
  addressOf: ({ email: mail }) => (mail ? { from: mail.from, to: mail.to } : {}),
  shownOf: ({ email: mail }) => (mail ? { from: mail.from, to: mail.to } : {}),
  rows: ({ from, to }) =>
    from === undefined
      ? []
      : [
          ['from', wordOf(from)],
          ['to', [to].flat().map(wordOf).join(', ')],
        ],
  placeOf: () => 'the mailboxes',
  writing,
  connect: ({ email: mail }, line) => mail && connectEmail(mail, line),
  placeholders: {
    'email.smtp': 'smtps://mail.example.org',
    'email.from': 'a@example.org',
    'email.to': ['a@example.org'],
  },
});
