/** What the definitions of services have in common. */
import { CHANNEL_SECTIONS, type SectionName } from '@runner/common/config/channels';
import { Secret } from '@runner/common/secrets/secret';
import type { ChatService, Credentials, Inspection, Message } from './contract.ts';
import { messagesOf, type Writing } from './draft.ts';
import type { Reply } from './exchange.ts';
import type { Fields } from './fields.ts';

const DEFAULTS = {
  movingKey: undefined,
  unhealthy: 'it does not accept messages',
  addressOf: () => ({}),
  shownOf: () => ({}),
  rows: () => [],
  reportOf: () => ({}),
} as const satisfies Partial<ChatService>;

type Derived = keyof typeof DEFAULTS | 'codeEscapes' | 'identityOf' | 'messages';
type Own = Omit<ChatService, Derived> & Partial<ChatService> & { readonly writing: Writing };
type OwnOfSection = Omit<Own, 'credentials' | 'secretsOf'> & Partial<Own>;

/** Unless it says otherwise, a service never moves and is known by its secrets. */
export function defineService({ writing, ...own }: Own): ChatService {
  return {
    ...DEFAULTS,
    codeEscapes: writing.codeEscapes,
    identityOf: (credentials) => own.secretsOf(credentials).join('\n'),
    messages: (...given) => messagesOf(writing, ...given),
    ...own,
  };
}

/** A service with a section of config.yml of its own, which declares the keys and their secrets. */
export function sectionService(
  name: SectionName,
  own: OwnOfSection & { readonly writing: Writing },
): ChatService {
  const keys = Object.entries(CHANNEL_SECTIONS[name]);
  const needed = keys.filter(([, { optional }]) => !optional).map(([key]) => `${name}.${key}`);
  const secretsOf = (credentials: Credentials) => {
    const values: Readonly<Record<string, unknown>> = { ...credentials[name] };
    return keys.flatMap(([key, { secrets }]) => {
      const value = values[key];
      return value instanceof Secret ? (secrets?.(value.reveal()) ?? []) : [];
    });
  };
  return defineService({ credentials: needed as [string], secretsOf, ...own });
}

/** `https://hooks.example.org/…`: an address whose path is secret, as it may be shown. */
export function maskedAddress(address: string): string {
  return URL.canParse(address) ? `${new URL(address).origin}/…` : '…';
}

/** An inspection by one request; `factsOf` takes the body of the answer apart. */
export function inspectionOf(
  reply: Reply<Fields>,
  factsOf: (body: Fields) => Fields = () => ({}),
): Inspection {
  return 'problem' in reply
    ? { healthy: false, facts: {}, advice: [], problem: reply.problem }
    : { healthy: true, facts: factsOf(reply.value), advice: [] };
}

/** A message with one form. */
export function onlyForm(payload: Fields): Message {
  return { payload, instead: () => undefined };
}
