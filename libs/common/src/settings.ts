/** What config.yml says: the code host, the block, the section `notify`; today's layout and the earlier one. */
import { httpAddress } from './addresses.ts';
import { type Config, CREDENTIALS } from './config.ts';
import { Failure } from './failure.ts';
import { check, type Entry, type ObjectSchema, type Schema, section } from './schema.ts';
import { Secret } from './secret.ts';

// Empty values are legal: they switch the channel off.
const BOT_TOKEN: Schema = {
  type: 'string',
  pattern: '^\\s*(?:\\d{1,17}:[A-Za-z0-9_-]+)?\\s*$',
  wanted: 'a bot token: digits, a colon, letters and digits',
  description: 'Telegram: token of the bot; empty switches the channel off',
};
const CHAT_ID: Schema = {
  type: ['string', 'integer'],
  pattern: '^\\s*(?:-?\\d{1,19}|@[A-Za-z0-9_]{4,64})?\\s*$',
  wanted: 'a chat id: a whole number or @name',
  numbers: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  description: 'Telegram: the chat, negative for groups and channels, or @name of a public one',
};
const WEBHOOK: Schema = {
  type: 'string',
  description: 'Discord: address of the webhook, a secret; empty switches the channel off',
};
/** The message of one kind of event, per channel. */
const templates = (what: string): Schema => ({
  type: 'object',
  additionalProperties: false,
  description: `Message ${what}`,
  properties: {
    telegram: {
      type: 'string',
      description: 'Text for Telegram, MarkdownV2, with ${NAME} variables',
    },
    discord: { type: 'string', description: 'Text for Discord, with ${NAME} variables' },
  },
});
const RETRIES: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: 1000,
  description: 'Failures of one commit after which automatic deploys of it stop [default: 3]',
};
const address = (description: string): Schema => ({ type: 'string', description });

/** The keys of config.yml that commands use; each command checks those that it uses. */
const KEYS = {
  code_host_api_url: address('API of the code host [default: https://api.github.com]'),
  code_host_git_url: address('git of the code host [default: https://github.com]'),
  max_deploy_retries: RETRIES,
  telegram_bot_token: BOT_TOKEN,
  telegram_chat_id: CHAT_ID,
  discord_webhook: WEBHOOK,
} as const;
const NOTIFY_KEYS = {
  channel: {
    type: 'string',
    enum: ['telegram', 'discord', 'both'],
    description: 'Which channels are used [default: every one with credentials]',
  },
  telegram_bot_token: BOT_TOKEN,
  telegram_chat_id: CHAT_ID,
  telegram_thread_id: {
    type: 'integer',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Telegram: the topic of a group with topics',
  },
  telegram_api_url: address('Telegram: the Bot API server [default: https://api.telegram.org]'),
  discord_webhook: WEBHOOK,
  verbose_errors: {
    type: 'boolean',
    description: 'A second message with the whole log of a long error [default: true]',
  },
  max_deploy_retries: RETRIES,
  templates: {
    type: 'object',
    additionalProperties: false,
    description: 'Messages of your own in place of the built-in ones',
    properties: {
      started: templates('of DeployStarted'),
      success: templates('of DeploySuccess'),
      failure: templates('of DeployFailure'),
      rollback: templates('of RollbackSuccess'),
    },
  },
} as const satisfies Record<string, Schema>;

/** The whole of config.yml: for its manual page and its published JSON Schema. */
export const CONFIG_SCHEMA: ObjectSchema = {
  type: 'object',
  additionalProperties: true,
  properties: {
    ...KEYS,
    notify: {
      type: 'object',
      additionalProperties: true,
      description: 'Messages in Telegram and Discord; without it nobody is told',
      properties: NOTIFY_KEYS,
    },
  },
};

/** Checks only the named keys of the file and of its section `notify`. */
function pick(
  config: Config,
  top: readonly string[],
  notify: readonly string[],
): Map<string, unknown> {
  if (!config.tree) return new Map();
  const some = (all: Readonly<Record<string, Schema>>, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, all[name] as Schema]));
  const schema: Schema = {
    type: 'object',
    additionalProperties: true,
    properties: {
      ...some(KEYS, top),
      ...(notify.length > 0 && {
        notify: {
          type: 'object',
          additionalProperties: true,
          properties: some(NOTIFY_KEYS, notify),
        },
      }),
    },
  };
  return check(config.tree, schema, config.file) as Map<string, unknown>;
}

type Env = Readonly<Record<string, string | undefined>>;

/** `config.yml:3: notify.discord_webhook`: where a key stands, for people. */
export function placeOf(config: Config, path: readonly string[]): string {
  let tree = config.tree;
  let line = '';
  for (const key of path) {
    const entry: Entry | undefined =
      tree?.kind === 'map' ? tree.entries.find((each) => each.key === key) : undefined;
    line = entry ? `:${entry.line}` : '';
    tree = entry?.value;
  }
  return `${config.file.name}${line}: ${path.join('.')}`;
}

/** Where the code host answers: addresses without a slash at the end. */
export interface CodeHost {
  readonly apiUrl: string;
  readonly gitUrl: string;
}

/** The code host's addresses: environment, then config.yml, then GitHub. Throws `insecure_address`. */
export function codeHostOf(config: Config, env: Env): CodeHost {
  const values = pick(config, ['code_host_api_url', 'code_host_git_url'], []);
  const choose = (variable: string, key: string, fallback: string) =>
    httpAddress(
      env[variable] || (values.get(key) as string | undefined) || fallback,
      env[variable] ? variable : placeOf(config, [key]),
    );
  return {
    apiUrl: choose('RUNNER_CODE_HOST_API_URL', 'code_host_api_url', 'https://api.github.com'),
    gitUrl: choose('RUNNER_CODE_HOST_GIT_URL', 'code_host_git_url', 'https://github.com'),
  };
}

/** Failures of one commit after which automatic deploys of it stop; 3 if not given. */
export function maxDeployRetries(config: Config): number {
  const values = pick(config, ['max_deploy_retries'], ['max_deploy_retries']);
  const inner = section(values, 'notify')?.get('max_deploy_retries');
  return (inner ?? values.get('max_deploy_retries') ?? 3) as number;
}

/** A service that deploys can be announced in. */
export type ChannelName = 'telegram' | 'discord';
/** A message that can be worded by `notify.templates`. */
export type TemplateKind = 'started' | 'success' | 'failure' | 'rollback';

/** Section `notify`. A channel without its credentials is undefined: it is not active. */
export interface NotifySettings {
  readonly channel: ChannelName | 'both' | undefined;
  readonly telegram:
    | { botToken: Secret; chatId: string; threadId: number | undefined; apiUrl: string }
    | undefined;
  readonly discord: { webhook: Secret } | undefined;
  readonly verboseErrors: boolean;
  template(kind: TemplateKind, channel: ChannelName): string | undefined;
}

const SECRET_KEYS = ['telegram_bot_token', 'discord_webhook'];

/**
 * The bot's token and the webhook that config.yml holds, in either layout and also where a channel is
 * not active, with their secret ends alone: what is cleaned from text. None from a wrong value.
 */
export function chatSecretsOf(config: Config): Secret[] {
  let values: Map<string, unknown>;
  try {
    values = pick(config, SECRET_KEYS, SECRET_KEYS);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
  return [values, section(values, 'notify')].flatMap((each) => {
    const text = (key: string) => String(each?.get(key) ?? '').trim();
    const token = text('telegram_bot_token');
    const webhook = text('discord_webhook').replace(/[?#].*$/, '');
    const all = [token, token.replace(/^.*:/, ''), webhook, webhook.replace(/^.*\//, '')];
    return all.filter((secret) => secret !== '').map((secret) => new Secret(secret));
  });
}

/** Section `notify`, and its three credentials at the top level: the earlier layout. */
export function notifySettingsOf(config: Config, env: Env): NotifySettings {
  const values = pick(config, CREDENTIALS, Object.keys(NOTIFY_KEYS));
  const notify = section(values, 'notify') ?? new Map<string, unknown>();
  const credential = (key: string) => String(notify.get(key) ?? values.get(key) ?? '').trim();
  const botToken = credential('telegram_bot_token');
  const chatId = credential('telegram_chat_id');
  const webhook = credential('discord_webhook');
  const at = (key: string) => placeOf(config, notify.has(key) ? ['notify', key] : [key]);
  const apiUrl =
    env.RUNNER_TELEGRAM_API_URL || (notify.get('telegram_api_url') as string | undefined);
  const templates = section(notify, 'templates');
  return {
    channel: notify.get('channel') as NotifySettings['channel'],
    telegram:
      botToken && chatId
        ? {
            botToken: new Secret(botToken),
            chatId,
            threadId: notify.get('telegram_thread_id') as number | undefined,
            apiUrl: httpAddress(
              apiUrl || 'https://api.telegram.org',
              env.RUNNER_TELEGRAM_API_URL ? 'RUNNER_TELEGRAM_API_URL' : at('telegram_api_url'),
            ),
          }
        : undefined,
    discord: webhook
      ? { webhook: new Secret(httpAddress(webhook, at('discord_webhook'))) }
      : undefined,
    verboseErrors: (notify.get('verbose_errors') ?? true) as boolean,
    template: (kind, channel) =>
      section(templates ?? new Map(), kind)?.get(channel) as string | undefined,
  };
}

/** Words of a warning that is no news where an app has not asked to be announced. */
export const NO_CHANNEL = 'no channel is active';
export const SET_UP = 'run `runner notify setup`';
