/** What channels with a section of config.yml of their own have in common. */
import type { ConfigValues, Inspection, Message, Service } from './contract.ts';
import type { Reply } from './exchange.ts';
import type { Fields } from './fields.ts';

type Common =
  | 'movingKey'
  | 'codeEscapes'
  | 'placeholders'
  | 'identityOf'
  | 'addressOf'
  | 'shownOf'
  | 'rows'
  | 'reportOf'
  | 'unhealthy';

/** A service that needs no more than its credentials: its destination never moves. */
export function sectionService(
  own: Omit<Service, Common> & Partial<Pick<Service, Common>>,
  placeholders: ConfigValues,
): Service {
  return {
    movingKey: undefined,
    codeEscapes: false,
    unhealthy: 'it does not accept messages',
    placeholders,
    identityOf: (credentials) => own.secretsOf(credentials).join('\n'),
    addressOf: () => ({}),
    shownOf: () => ({}),
    rows: () => [],
    reportOf: () => ({}),
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
