/** The settings in config.yml: the retry limit, deploy windows, the section `notify`. */
import type { Failure } from '../foundation/failure.ts';
import type { Env } from '../foundation/io.ts';
import { httpAddress } from '../http/address.ts';
import { Secret } from '../secrets/secret.ts';
import { durationOf } from '../text/time.ts';
import { openKeys } from '../yaml/keys.ts';
import { check, problem, type Schema, type SectionEntry, section } from '../yaml/schema.ts';
import {
  CHANNEL_NAMES,
  type ChannelChoice,
  type ChannelName,
  channelsOf,
  SECTION_NAMES,
  type SectionSettings,
  sectionSettings,
} from './channels.ts';
import type { Config } from './file.ts';
import { CREDENTIALS, KEYS, NOTIFY_KEYS } from './schema.ts';
import { type Window, windowOf } from './windows.ts';

/** Checks only these keys of the file and of its section `notify`. */
export function pick(
  config: Config,
  top: readonly string[],
  notify: readonly string[],
): Map<string, unknown> {
  if (!config.tree) return new Map();
  const some = (all: Readonly<Record<string, Schema>>, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, all[name] as Schema]));
  const schema = openKeys({
    ...some(KEYS, top),
    ...(notify.length > 0 && { notify: openKeys(some(NOTIFY_KEYS, notify)) }),
  });
  return check(config.tree, schema, config.file) as Map<string, unknown>;
}

/** A section of the file; empty if it is absent, or a single value. Throws `config_invalid`. */
export const sectionOf = (config: Config, key: string): Map<string, unknown> =>
  section(pick(config, [key], []), key) ?? new Map();

/** Keys, and indexes from 0 of lists, that lead to a value. */
export type KeyPath = readonly (string | number)[];

/** The line of a value, and its key in messages: `deploy_windows[1].allow`. */
export function positionOf(
  { tree }: Config,
  path: KeyPath,
): { line: number | undefined; key: string } {
  let at = tree;
  let line: number | undefined;
  let key = '';
  for (const step of path) {
    // A list of one may be a single value.
    if (typeof step === 'number' && at && at.kind !== 'list') continue;
    const entry: SectionEntry | undefined =
      at?.kind === 'map' ? at.entries.find((each) => each.key === step) : undefined;
    at = at?.kind === 'list' ? at.items[Number(step)] : entry?.value;
    line = entry?.line ?? at?.line;
    key += typeof step === 'number' ? `[${step}]` : `${key && '.'}${step}`;
  }
  return { line, key };
}

/** `config.yml:3: notify.discord_webhook`: the place of a key, for messages. */
export function placeOf(config: Config, path: KeyPath): string {
  const { line, key } = positionOf(config, path);
  return `${config.file.name}${line === undefined ? '' : `:${line}`}: ${key}`;
}

/** What is wrong with a value of the file, with its line and key. */
export function problemAt(config: Config, path: KeyPath, words: string): Failure {
  const { line = 1, key } = positionOf(config, path);
  return problem(config.file, line, key, words);
}

/** Failures of one commit after which automatic deploys of it stop; default 3. */
export function maxDeployRetries(config: Config): number {
  const values = pick(config, ['max_deploy_retries'], ['max_deploy_retries']);
  const inner = section(values, 'notify')?.get('max_deploy_retries');
  return (inner ?? values.get('max_deploy_retries') ?? 3) as number;
}

/** When a failed commit is tried again. */
export interface RetryPolicy {
  /** Failures of one commit after which automatic deploys of it stop. */
  readonly max: number;
  /** Waits after each failed attempt, in milliseconds; the last one repeats. */
  readonly waits: readonly number[];
}

/** `max_deploy_retries` and `retry_after`. */
export function retryPolicyOf(config: Config): RetryPolicy {
  const texts = pick(config, ['retry_after'], []).get('retry_after') as string[] | undefined;
  const waits = (texts ?? ['1m', '10m']).map((text) => durationOf(text) ?? 0);
  return { max: maxDeployRetries(config), waits };
}

/** What decides about automatic deploys. */
export interface DeployPolicy extends RetryPolicy {
  readonly windows: readonly Window[];
}

/** The retry policy and `deploy_windows`. Throws `config_invalid`. */
export function deployPolicyOf(config: Config): DeployPolicy {
  const values = pick(config, ['deploy_windows'], []);
  const given = (values.get('deploy_windows') ?? []) as Map<string, unknown>[];
  const windows = given.map((each, index) =>
    windowOf(each, (path, words) => problemAt(config, ['deploy_windows', index, ...path], words)),
  );
  return { ...retryPolicyOf(config), windows };
}

/** A message that `notify.templates` can replace. */
export type TemplateKind = 'started' | 'success' | 'failure' | 'rollback';

/** A channel without credentials is undefined: it is not active. */
type Sections = { readonly [N in keyof SectionSettings]: SectionSettings[N] | undefined };
export type NotifySettings = ReturnType<typeof notifySettingsOf>;

/** Section `notify`; the earlier layout has its credentials at the top level. */
export function notifySettingsOf(config: Config, env: Env) {
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
  const sections = SECTION_NAMES.map((name) => {
    const where = (key: string) => placeOf(config, ['notify', name, key]);
    return [name, sectionSettings(name, section(notify, name) ?? new Map(), where)];
  });
  return {
    ...(Object.fromEntries(sections) as unknown as Sections),
    channel: notify.get('channel') as ChannelChoice | undefined,
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
    /** Whether the code host gets the result on the commit. */
    commitStatus: commitStatusOf(config),
    /** Whether changes of state are announced too. */
    events: (notify.get('events') ?? true) as boolean,
    digest: (notify.get('digest') ?? false) as boolean,
    /** One message a deploy, edited in place. */
    edit: (notify.get('edit') ?? false) as boolean,
    verboseErrors: (notify.get('verbose_errors') ?? true) as boolean,
    template: (kind: string, channel: ChannelName) =>
      section(templates ?? new Map(), kind)?.get(channel) as string | undefined,
  };
}

/** Channels whose credentials are set and that the global `notify.channel`, if set, includes. */
export function activeChannels(settings: NotifySettings): ChannelName[] {
  const { channel } = settings;
  return CHANNEL_NAMES.filter(
    (name) =>
      settings[name] !== undefined && (channel === undefined || channelsOf(channel).includes(name)),
  );
}

/** Whether the code host gets the result on the commit. */
export function commitStatusOf(config: Config): boolean {
  const notify = section(pick(config, [], ['commit_status']), 'notify');
  return (notify?.get('commit_status') ?? false) as boolean;
}

/** A warning that does not concern an app without a `notify` section. */
export const NO_CHANNEL = 'no channel is active';
/** What to do about it. */
export const SET_UP = 'run `runner notify setup`';
