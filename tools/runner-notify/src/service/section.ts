/** What channels with a section of config.yml of their own have in common. */
import type { Inspection, Message, Service } from './contract.ts';
import { messagesOf, type Writing } from './draft.ts';
import type { Reply } from './exchange.ts';
import type { Fields } from './fields.ts';

const DEFAULTS = {
  movingKey: undefined,
  codeEscapes: false,
  unhealthy: 'it does not accept messages',
  addressOf: () => ({}),
  shownOf: () => ({}),
  rows: () => [],
  reportOf: () => ({}),
} as const satisfies Partial<Service>;

type Own = Omit<Service, keyof typeof DEFAULTS | 'identityOf' | 'messages'> &
  Partial<Service> & { readonly writing: Writing };

/** A service that needs no more than its credentials: its destination never moves. */
export function sectionService({ writing, ...own }: Own): Service {
  return {
    ...DEFAULTS,
    identityOf: (credentials) => own.secretsOf(credentials).join('\n'),
    messages: (...given) => messagesOf(writing, ...given),
    ...own,
  };
}

/** `https://hooks.example.org/…`: an address whose path is secret, as it may be shown. */
export function maskedAddress(address: string): string {
  return URL.canParse(address) ? `${new URL(address).origin}/…` : '…';
}

/** An inspection by one request. */
export function inspectionOf(reply: Reply<Fields>): Inspection {
  return 'problem' in reply
    ? { healthy: false, facts: {}, advice: [], problem: reply.problem }
    : { healthy: true, facts: reply.value, advice: [] };
}

/** A message with one form. */
export function onlyForm(payload: Fields): Message {
  return { payload, instead: () => undefined };
}
