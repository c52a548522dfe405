/** The schema of config.yml, for the current layout and the earlier one. */
import {
  choice,
  flag,
  keys,
  list,
  matching,
  named,
  numeric,
  openKeys,
  text,
  whole,
} from '../yaml/keys.ts';
import type { Schema } from '../yaml/schema.ts';
import { REQUIRE_APPROVAL } from './approval-schema.ts';
import { LIMIT_KEYS } from './build-limits.ts';
import { CHANNEL_FORMS, SECTION_NAMES, SECTION_SCHEMAS } from './channels.ts';
import { CODE_HOSTS, SUBMODULES } from './code-hosts-schema.ts';
import { networkSchema } from './network.ts';
import { MIN_PACKAGE_AGE } from './package-age.ts';
import { TELEMETRY } from './telemetry-schema.ts';

// An empty value switches the channel off.
const BOT_TOKEN = matching(
  '^\\s*(?:\\d{1,17}:[A-Za-z0-9_-]+)?\\s*$',
  'a bot token: digits, a colon, letters and digits',
  'Telegram: token of the bot; empty turns the channel off',
);
const CHAT_ID = numeric(
  '^\\s*(?:-?\\d{1,19}|@[A-Za-z0-9_]{4,64})?\\s*$',
  'a chat id: a whole number or @name of 4 or more characters',
  [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  'Telegram: the chat, negative for groups and channels, or @name of a public one',
);
const WEBHOOK = text('Discord: address of the webhook, a secret; empty turns the channel off');
/** The message of one kind of event, per channel. */
const templates = (what: string) =>
  keys(
    {
      telegram: text('Text for Telegram, MarkdownV2, with ${NAME} variables'),
      discord: text('Text for Discord, with ${NAME} variables'),
      ...Object.fromEntries(
        SECTION_NAMES.map((name) => [name, text(`Text for ${name}, with \${NAME} variables`)]),
      ),
    },
    `Message ${what}`,
  );
const RETRIES = whole(
  1,
  1000,
  'Failures after which a commit is no longer deployed automatically [default: 3]',
);
/** `1m` or `0s`, for no wait. */
const RETRY_AFTER = list(
  numeric('^[0-9]{1,9}(?:ms|s|m|h)?$', 'a time like 30s, 5m or 1h', [0, 999_999_999]),
  'How long fetch waits after each failed attempt to deploy a commit; 0s: not at all [default: [1m, 10m]]',
);
/** When `fetch` deploys; windows.ts reads the texts. */
const textOrList = (description: string): Schema => ({
  anyOf: [{ type: 'string' }, list({ type: 'string' })],
  description,
});
const WINDOWS = list(
  keys({
    app: text('The app [default: all]'),
    allow: textOrList('Days and times such as "mon-thu 08:00-17:00" [default: always]'),
    freeze: textOrList('Days such as 2026-12-24, or 2026-12-20..2027-01-06, without deploys'),
    zone: text('Time zone such as Europe/Berlin [default: UTC]'),
  }),
  'When fetch --deploy deploys; rules for the same app all apply [default: always]',
);
const SANDBOX_MODE = choice(
  ['auto', 'required', 'off'],
  'For all apps: if it works, always (else nothing is run), or never [default: auto]',
);
const SANDBOX: Schema = {
  description: 'Whether commands of a repository run in a sandbox [default: auto]',
  anyOf: [
    SANDBOX_MODE,
    keys({
      mode: SANDBOX_MODE,
      apps: named(SANDBOX_MODE, 'The mode of single apps, by app'),
      allow: named(
        list(matching('^(?!.*/\\.{1,2}(?:/|$))/+[^/]', 'an absolute path below /')),
        'Further paths that the commands of an app may use, by app, e.g. /run/docker.sock',
      ),
      network: named(
        networkSchema('Hosts that commands of the app may reach at most'),
        'Hosts that the commands of an app may reach at most, by app',
      ),
    }),
  ],
};
const signers = (what: string, path: string) =>
  matching(
    '^/[^/]',
    'an absolute path',
    `The keys that may sign ${what}, as in allowed_signers of ssh-keygen [default: ${path}]`,
  );
/** The top-level keys; each command checks only those that it uses. */
export const KEYS = {
  code_host_api_url: text('API of the code host [default: https://api.github.com]'),
  code_host_git_url: text('git of the code host [default: https://github.com]'),
  code_hosts: CODE_HOSTS,
  submodules: SUBMODULES,
  max_deploy_retries: RETRIES,
  retry_after: RETRY_AFTER,
  deploy_windows: WINDOWS,
  require_approval: REQUIRE_APPROVAL,
  proxy_user: matching(
    '^[a-z_][a-z0-9_-]*\\$?$',
    'the name of a user',
    'The user of the proxy, for sockets of units with their own user [default: that of the running proxy]',
  ),
  sandbox: SANDBOX,
  commit_signers: signers('commits', '/etc/runner/commit_signers'),
  approvers: signers('approvals', '/etc/runner/approvers'),
  build: keys({ ...LIMIT_KEYS, min_package_age: MIN_PACKAGE_AGE }, 'Limits of every build'),
  telemetry: TELEMETRY,
  updates: keys(
    { url: text('JSON with version and url, or a release of the API of GitHub or Gitea') },
    'Where runner doctor looks for a newer package [default: nowhere]',
    ['url'],
  ),
  telegram_bot_token: BOT_TOKEN,
  telegram_chat_id: CHAT_ID,
  discord_webhook: WEBHOOK,
} as const;
export const NOTIFY_KEYS = {
  channel: {
    anyOf: CHANNEL_FORMS,
    description:
      'Which channels are used: a name, a list, or both for Telegram and Discord [default: every one with credentials]',
  },
  telegram_bot_token: BOT_TOKEN,
  telegram_chat_id: CHAT_ID,
  telegram_thread_id: whole(
    1,
    Number.MAX_SAFE_INTEGER,
    'Telegram: the topic of a group with topics',
  ),
  telegram_api_url: text('Telegram: the Bot API server [default: https://api.telegram.org]'),
  discord_webhook: WEBHOOK,
  ...SECTION_SCHEMAS,
  verbose_errors: flag('Send the full log of a long error as a second message [default: true]'),
  max_deploy_retries: RETRIES,
  commit_status: flag(
    'Write the result of each deploy on its commit at the code host [default: false]',
  ),
  edit: flag(
    'One message per deploy, edited in place if the service can; failures also reply [default: false]',
  ),
  digest: flag('Weekly message about the deploys, sent by the timer [default: false]'),
  events: flag('Messages when an app goes down, checks recover or a token expires [default: true]'),
  templates: keys(
    {
      started: templates('of DeployStarted'),
      success: templates('of DeploySuccess'),
      failure: templates('of DeployFailure'),
      rollback: templates('of RollbackSuccess'),
    },
    'Your own messages instead of the built-in ones',
  ),
} as const satisfies Record<string, Schema>;

/** The whole of config.yml, for its manual page and the published JSON Schema. */
export const CONFIG_SCHEMA = openKeys({
  ...KEYS,
  notify: openKeys(
    NOTIFY_KEYS,
    'Where deploys are announced; without it no notifications are sent',
  ),
});

/** Credentials of the channels; in the earlier layout at the top level. */
export const CREDENTIALS = ['telegram_bot_token', 'telegram_chat_id', 'discord_webhook'] as const;
