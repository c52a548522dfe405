/**
 * The channels that deploys are announced in, and the section of config.yml that each of the newer
 * ones has: what it holds, which of its values are secret, what makes it active.
 */
import { failureIn, orElse } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';
import { httpAddress, smtpAddress, topicAddress } from '../http/address.ts';
import { Secret } from '../secrets/secret.ts';
import { choice, keys, list, matching, text } from '../yaml/keys.ts';
import type { Schema } from '../yaml/schema.ts';
import { TELEMETRY_NAMES } from './telemetry-schema.ts';

/** The channels, in the order in which results are printed. */
export const CHANNEL_NAMES = [
  'telegram',
  'discord',
  'slack',
  'ntfy',
  'email',
  // A new one comes last.
  'webhook',
] as const;
export type ChannelName = (typeof CHANNEL_NAMES)[number];

/**
 * What events are delivered to: the channels, the code host, which keeps the result on the commit, and the
 * services that record deploys.
 */
export const DESTINATION_NAMES = [...CHANNEL_NAMES, 'code-host', ...TELEMETRY_NAMES] as const;
/** A channel, the code host, or a service that records deploys. */
export type DestinationName = (typeof DESTINATION_NAMES)[number];

/** A name, or a list of names. */
export const CHANNEL_FORMS = [choice([...CHANNEL_NAMES, 'both']), list(choice(CHANNEL_NAMES))];

/** What `notify.channel` may hold. */
export type ChannelChoice = ChannelName | 'both' | readonly ChannelName[];

/** The channels of a choice; `both` are those of the first release. */
export function channelsOf(choice: ChannelChoice): readonly ChannelName[] {
  if (choice === 'both') return ['telegram', 'discord'];
  return typeof choice === 'string' ? [choice] : choice;
}

/** Words of `--channel` that are not names. */
const CHANNEL_WORDS = ['both', 'all', 'none'] as const;

/** Whether a text is what `--channel` takes: names and words, separated by commas. */
export function isChannelList(list: string): boolean {
  const known: readonly string[] = [...CHANNEL_NAMES, ...CHANNEL_WORDS];
  return list.split(',').every((name) => known.includes(name));
}

/** The channels in the text. */
export function channelsIn(list: string): readonly ChannelName[] {
  const words = list.split(',');
  return CHANNEL_NAMES.filter(
    (name) =>
      words.includes('all') ||
      words.includes(name) ||
      (words.includes('both') && channelsOf('both').includes(name)),
  );
}

/** The channels that a text names one by one; `all` and `both` mean those that are active. */
export function namedChannels(list: string): readonly ChannelName[] {
  const words = list.split(',');
  return CHANNEL_NAMES.filter((name) => words.includes(name));
}

/** What each section says once it is complete. */
export interface SectionSettings {
  readonly slack: { readonly webhook: Secret };
  readonly ntfy: { readonly url: Secret; readonly token?: Secret };
  readonly email: {
    readonly smtp: Secret;
    readonly from: string;
    readonly to: readonly string[];
  };
  readonly webhook: { readonly url: Secret; readonly secret: Secret };
}
/** A channel that has its own section. */
export type SectionName = keyof SectionSettings;

/** A key of a channel's section. An empty value switches the channel off. */
interface SectionKey {
  readonly schema: Schema;
  /** The channel works without it. */
  readonly optional?: true;
  /** Checks the value and makes it uniform; `where` names the key in the failure. */
  readonly checked?: (text: string, where: string) => string;
  /** Of a secret: the value and those of its parts that are secret on their own. */
  readonly secrets?: (value: string) => readonly string[];
}

type SectionKeys = Readonly<Record<string, SectionKey>>;

/** One address, with or without a name before it. */
const MAILBOX = '^\\s*(?:(?:[^<>@,\\r\\n]*<)?[^\\s<>@,]+@[^\\s<>@,]+>?)?\\s*$';
const mailbox = (description: string) =>
  matching(MAILBOX, 'an address such as ops@example.org', description);

/** An address, and what follows its host: anyone who knows that may post. */
const addressSecrets = (value: string) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const end = url ? `${url.pathname}${url.search}`.slice(1) : '';
  return [value, ...(end.length >= 16 ? [end] : [])];
};

function smtpSecrets(value: string): string[] {
  const password = URL.canParse(value) ? new URL(value).password : '';
  return [value, password, orElse(() => decodeURIComponent(password), password)];
}

/** The keys of each section, the secret that stands for the channel first. */
export const CHANNEL_SECTIONS: Readonly<Record<SectionName, SectionKeys>> = {
  slack: {
    webhook: {
      schema: text('Slack: address of the incoming webhook, a secret; empty: off'),
      checked: httpAddress,
      secrets: addressSecrets,
    },
  },
  ntfy: {
    url: {
      schema: text('ntfy: address of the topic, e.g. https://ntfy.sh/TOPIC; empty: off'),
      checked: topicAddress,
      secrets: (value) => [value],
    },
    token: {
      schema: text('ntfy: access token of a protected topic, a secret'),
      optional: true,
      secrets: (value) => [value],
    },
  },
  email: {
    smtp: {
      schema: text(
        'E-mail: the mail server, smtps://USER:PASSWORD@HOST:465, or smtp:// with STARTTLS; empty: off',
      ),
      checked: smtpAddress,
      secrets: smtpSecrets,
    },
    from: { schema: mailbox('E-mail: the sender') },
    to: {
      schema: {
        anyOf: [mailbox('The recipient'), list(mailbox('A recipient'))],
        description: 'E-mail: the recipients',
      },
    },
  },
  webhook: {
    url: {
      schema: text('Webhook: the address that gets each event as JSON; empty: off'),
      checked: httpAddress,
      secrets: addressSecrets,
    },
    secret: {
      schema: matching(
        '^\\s*(?:whsec_[A-Za-z0-9+/]{32,88}={0,2})?\\s*$',
        'whsec_ and 24 to 64 random bytes in base64',
        'Webhook: the signing key (whsec_ followed by base64), a secret',
      ),
      secrets: (value) => [value, value.replace(/^whsec_/, '')],
    },
  },
};

export const SECTION_NAMES = Object.keys(CHANNEL_SECTIONS) as SectionName[];

/** The section of each channel, for the schema of config.yml. */
export const SECTION_SCHEMAS: Readonly<Record<string, Schema>> = Object.fromEntries(
  SECTION_NAMES.map((name) => {
    const own = Object.entries(CHANNEL_SECTIONS[name]).map(([key, { schema }]) => [key, schema]);
    return [name, keys(Object.fromEntries(own), `Messages by ${name}`)];
  }),
);

/** What is wrong with a value for a key; undefined when it is valid. The failure does not quote it. */
export function sectionProblem(name: SectionName, key: string, value: string): Failure | undefined {
  const { schema, checked } = CHANNEL_SECTIONS[name][key] as SectionKey;
  const [form] = 'anyOf' in schema ? schema.anyOf : [schema];
  const { pattern, wanted } = form as { pattern?: string; wanted?: string };
  const where = `notify.${name}.${key}`;
  const texts = textsOf('anyOf' in schema ? value.split(',') : value);
  if (texts.length === 0) return new Failure('usage', `${where} must not be empty`);
  if (pattern !== undefined && !texts.every((each) => new RegExp(pattern, 'u').test(each)))
    return new Failure('usage', `${where} must be ${wanted}`);
  return failureIn(() => {
    for (const each of texts) checked?.(each, where);
  });
}

/** The texts of a key; empty texts are left out. */
function textsOf(value: unknown): string[] {
  return [value ?? []]
    .flat()
    .map((each) => String(each).trim())
    .filter(Boolean);
}

/**
 * The settings of a channel; undefined unless all its keys are set. `where` names a key in messages.
 * Throws `insecure_address`.
 */
export function sectionSettings<N extends SectionName>(
  name: N,
  values: ReadonlyMap<string, unknown>,
  where: (key: string) => string,
): SectionSettings[N] | undefined {
  const keys = Object.entries(CHANNEL_SECTIONS[name]);
  const settings = keys.flatMap(([key, { checked, secrets }]) => {
    const texts = textsOf(values.get(key)).map((each) => checked?.(each, where(key)) ?? each);
    const [first] = texts;
    if (first === undefined) return [];
    return [[key, secrets ? new Secret(first) : key === 'to' ? texts : first] as const];
  });
  const set = new Set(settings.map(([key]) => key));
  const complete = keys.every(([key, { optional }]) => optional || set.has(key));
  return complete ? (Object.fromEntries(settings) as unknown as SectionSettings[N]) : undefined;
}
