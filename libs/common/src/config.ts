/**
 * Reads YAML safely, and config.yml: the layout of today and the earlier one. `.deploy.yml` is read
 * by deploy-file.ts through `readYaml`.
 */
import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { httpAddress } from './addresses.ts';
import { isThere, makeFolder, readIfThere, sweepStrays, writeWhole } from './files.ts';
import type { Io } from './io.ts';
import { requireLock } from './lock.ts';
import type { Paths } from './paths.ts';
import { check, type FileName, problem, type Schema, section, type Tree } from './schema.ts';
import { Secret } from './secret.ts';

/** Larger than any hand-written file; the parser's time grows faster than its input. */
const MAX_BYTES = 65_536;
const MAX_LINES = 2_000;
const MAX_BRACKETS = 32;
const MAX_INDICATORS = 16;
const MAX_INDENT = 200;

/**
 * Refuses text that makes the parser hang (a kilobyte of nested `? `) or abort the process (deep
 * brackets). Counts are over-cautious: brackets inside quotes count as well.
 */
function prescan(text: string, file: FileName): void {
  const lines = text.split('\n');
  if (Buffer.byteLength(text) > MAX_BYTES || lines.length > MAX_LINES) {
    throw problem(file, 1, '', `is larger than ${MAX_BYTES} bytes or ${MAX_LINES} lines`);
  }
  let depth = 0;
  lines.forEach((line, index) => {
    const indicators = /^[\s?:-]*/.exec(line)?.[0] ?? '';
    for (const character of line) {
      if (character === '[' || character === '{') depth += 1;
      else if (character === ']' || character === '}') depth = Math.max(0, depth - 1);
      if (depth > MAX_BRACKETS)
        throw problem(file, index + 1, '', 'has brackets nested too deeply');
    }
    if (indicators.replace(/\s/g, '').length > MAX_INDICATORS || indicators.length > MAX_INDENT) {
      throw problem(file, index + 1, '', 'is nested too deeply');
    }
    if (/[\x00-\x08\x0b\x0c\x0e-\x1f]/.test(line)) {
      throw problem(file, index + 1, '', 'has a control character');
    }
  });
}

/** Parses YAML 1.2 (core schema, no aliases) into a tree with lines. Throws the file's Failure. */
export function readYaml(bytes: Uint8Array, file: FileName): Tree {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw problem(file, 1, '', 'is not UTF-8 text');
  }
  prescan(text, file);
  const counter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    schema: 'core',
    version: '1.2',
    intAsBigInt: false,
    strict: true,
    // Its own check takes seconds for the keys that fit into MAX_BYTES; see `treeOf`.
    uniqueKeys: false,
    merge: false,
    stringKeys: true,
    // 'silent' would also drop a second document without a word.
    logLevel: 'error',
  });
  const lineAt = (offset: number) => counter.linePos(offset).line;
  const [error] = document.errors;
  if (error) {
    const what = WORDS_OF[error.code] ?? 'is not valid YAML';
    throw problem(file, lineAt(error.pos[0]), '', what);
  }
  return treeOf(document.contents, lineAt, file, 1);
}

/** The parser's own messages quote the file, which may hold a secret. */
const WORDS_OF: Readonly<Record<string, string>> = {
  BAD_INDENT: 'wrong indentation, or a bracket that is not closed',
  MISSING_CHAR: 'a closing quote, bracket or separator is missing',
  MULTIPLE_DOCS: 'holds more than one document',
  NON_STRING_KEY: 'a key is not a plain text',
  TAB_AS_INDENT: 'a tab is used for indentation: use spaces',
  BLOCK_AS_IMPLICIT_KEY: 'wrong nesting: a value cannot begin here',
  MULTILINE_IMPLICIT_KEY: 'a key spans several lines: is a colon or a quote missing?',
  UNEXPECTED_TOKEN: 'something stands where nothing is expected',
};

function treeOf(
  node: unknown,
  lineAt: (offset: number) => number,
  file: FileName,
  near: number,
): Tree {
  const line = lineOf(node, lineAt) ?? near;
  if (isAlias(node)) throw problem(file, line, '', 'uses an alias (*name): write the value out');
  if (isMap(node)) {
    const seen = new Set<string>();
    const entries = node.items.map((pair) => {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      const keyLine = lineOf(pair.key, lineAt) ?? line;
      if (seen.has(key)) throw problem(file, keyLine, '', 'the same key stands twice');
      seen.add(key);
      return { key, line: keyLine, value: treeOf(pair.value, lineAt, file, keyLine) };
    });
    return { kind: 'map', line, entries };
  }
  if (isSeq(node)) {
    return {
      kind: 'list',
      line,
      items: node.items.map((item) => treeOf(item, lineAt, file, line)),
    };
  }
  const value: unknown = isScalar(node) ? node.value : null;
  const source = isScalar(node) && typeof node.source === 'string' ? node.source : String(value);
  const simple =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return { kind: 'scalar', line, value: simple ? value : null, source };
}

function lineOf(node: unknown, lineAt: (offset: number) => number): number | undefined {
  const range = (node as { range?: [number, number, number] } | null)?.range;
  return range ? lineAt(range[0]) : undefined;
}

// Empty values are legal: they switch the channel off.
const BOT_TOKEN: Schema = {
  type: 'string',
  pattern: '^\\s*(?:\\d{1,17}:[A-Za-z0-9_-]+)?\\s*$',
  wanted: 'a bot token: digits, a colon, letters and digits',
};
const CHAT_ID: Schema = {
  type: ['string', 'integer'],
  pattern: '^\\s*(?:-?\\d{1,19}|@[A-Za-z0-9_]{4,64})?\\s*$',
  wanted: 'a chat id: a whole number or @name',
};
const WEBHOOK: Schema = { type: 'string' };
const TEMPLATES: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: { telegram: { type: 'string' }, discord: { type: 'string' } },
};
const RETRIES: Schema = { type: 'integer', minimum: 1, maximum: 1000 };
const ADDRESS: Schema = { type: 'string' };

/** The keys of config.yml that commands use; each command checks those that it uses. */
const KEYS = {
  code_host_api_url: ADDRESS,
  code_host_git_url: ADDRESS,
  max_deploy_retries: RETRIES,
  telegram_bot_token: BOT_TOKEN,
  telegram_chat_id: CHAT_ID,
  discord_webhook: WEBHOOK,
} as const;
const NOTIFY_KEYS = {
  channel: { type: 'string', enum: ['telegram', 'discord', 'both'] },
  telegram_bot_token: BOT_TOKEN,
  telegram_chat_id: CHAT_ID,
  telegram_thread_id: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  telegram_api_url: ADDRESS,
  discord_webhook: WEBHOOK,
  verbose_errors: { type: 'boolean' },
  max_deploy_retries: RETRIES,
  templates: {
    type: 'object',
    additionalProperties: false,
    properties: { started: TEMPLATES, success: TEMPLATES, failure: TEMPLATES, rollback: TEMPLATES },
  },
} as const satisfies Record<string, Schema>;

/** config.yml as it stands, not yet checked beyond its syntax. */
export interface Config {
  readonly file: FileName;
  readonly tree: Tree | undefined;
}

/** Reads config.yml; a missing file is an empty one. Throws `config_invalid` or `file_unreadable`. */
export function readConfig(paths: Paths): Config {
  const file: FileName = { name: paths.config, code: 'config_invalid' };
  const bytes = readIfThere(paths.config, MAX_BYTES);
  return { file, tree: bytes && readYaml(bytes, file) };
}

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
      env[variable] ? variable : `${config.file.name}: ${key}`,
    );
  return {
    apiUrl: choose('RUNNER_CODE_HOST_API_URL', 'code_host_api_url', 'https://api.github.com'),
    gitUrl: choose('RUNNER_CODE_HOST_GIT_URL', 'code_host_git_url', 'https://github.com'),
  };
}

/** Failures of one commit after which automatic deploys of it stop; REQUIREMENTS 2.7: default 3. */
export function maxDeployRetries(config: Config): number {
  const values = pick(config, ['max_deploy_retries'], ['max_deploy_retries']);
  const inner = section(values, 'notify')?.get('max_deploy_retries');
  return (inner ?? values.get('max_deploy_retries') ?? 3) as number;
}

export type ChannelName = 'telegram' | 'discord';
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

const CREDENTIALS = ['telegram_bot_token', 'telegram_chat_id', 'discord_webhook'] as const;

/** Section `notify`, and its three credentials at the top level: the earlier layout. */
export function notifySettingsOf(config: Config, env: Env): NotifySettings {
  const values = pick(config, CREDENTIALS, Object.keys(NOTIFY_KEYS));
  const notify = section(values, 'notify') ?? new Map<string, unknown>();
  const credential = (key: string) => String(notify.get(key) ?? values.get(key) ?? '').trim();
  const botToken = credential('telegram_bot_token');
  const chatId = credential('telegram_chat_id');
  const webhook = credential('discord_webhook');
  const at = (key: string) => `${config.file.name}: notify.${key}`;
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

/** A key of config.yml, from the top, e.g. `['notify', 'channel']`; without a value it is removed. */
export interface ConfigChange {
  readonly path: readonly string[];
  readonly value: string | number | boolean | undefined;
}

/** Longest wait for another command's change, in seconds; a change takes milliseconds. */
const EDIT_WAIT = 20;

/**
 * Changes keys of config.yml under the registry's lock, from what is on disk at that moment, and
 * writes it whole, readable by its owner alone. Comments, order and unknown keys stay; a credential
 * of `notify` is changed where it stands, at the top level in the earlier layout. Without a change
 * nothing is written. Throws `config_invalid`, `file_unreadable`, `locked`, `not_writable` or
 * `disk_full`; the file is untouched then.
 */
export function editConfig(
  paths: Paths,
  io: Pick<Io, 'now' | 'pid'>,
  command: string,
  changes: readonly ConfigChange[],
): void {
  const holder = { pid: io.pid, command, since: io.now().toISOString() };
  const lock = requireLock(paths.registryLock, 'the registry', EDIT_WAIT, holder);
  try {
    const file: FileName = { name: paths.config, code: 'config_invalid' };
    const before = readIfThere(paths.config, MAX_BYTES)?.toString('utf8') ?? '';
    const after = editedYaml(before, changes, file);
    if (after === before) return;
    // What was written must be readable again, and legal.
    notifySettingsOf({ file, tree: readYaml(Buffer.from(after), file) }, {});
    makeFolder(dirname(paths.config));
    sweepStrays(dirname(paths.config), io.now());
    if (isThere(paths.config)) chmodSync(paths.config, 0o600);
    writeWhole(paths.config, after);
  } finally {
    lock.release();
  }
}

function editedYaml(text: string, changes: readonly ConfigChange[], file: FileName): string {
  // Refuses what the parser must not see, and aliases.
  readYaml(Buffer.from(text), file);
  // Big integers keep the digits of ids that nobody changes.
  const options = { intAsBigInt: true, uniqueKeys: false, stringKeys: true } as const;
  const document: Document = parseDocument(text, options);
  const top = document.contents;
  if (top !== null && !isMap(top) && !(isScalar(top) && top.value === null)) {
    throw problem(file, 1, '', 'must be a section, not a single value or a list');
  }
  const style = {
    lineWidth: 0,
    indent: indentOf(text),
    flowCollectionPadding: /[[{] /.test(text),
  };
  const before = isMap(top) ? document.toString(style) : undefined;
  if (!isMap(top)) document.contents = document.createNode({});
  for (const { path, value } of changes.flatMap((change) => placed(document, change))) {
    if (value === undefined) {
      if (document.hasIn(path)) document.deleteIn(path);
      continue;
    }
    for (let depth = 1; depth < path.length; depth += 1) {
      const above = path.slice(0, depth);
      const node = document.getIn(above, true);
      if (node === undefined || (isScalar(node) && node.value === null)) {
        document.setIn(above, document.createNode({}));
      } else if (!isMap(node)) {
        throw problem(file, 1, above.join('.'), 'must be a section');
      }
    }
    document.setIn(path, value);
  }
  const after = document.toString(style);
  // The file's own spacing stays as it is when nothing else changes.
  return after === before ? text : after;
}

/** Where a change takes effect. */
function placed(document: Document, change: ConfigChange): ConfigChange[] {
  const { path, value } = change;
  const [section, key = ''] = path;
  if (section !== 'notify' || path.length !== 2 || !CREDENTIALS.some((name) => name === key)) {
    return [change];
  }
  const top = { path: [key], value };
  if (value === undefined) return [change, top];
  if (document.hasIn(path)) return [change];
  const earlier = CREDENTIALS.some((name) => document.hasIn([name]));
  const today = CREDENTIALS.some((name) => document.hasIn(['notify', name]));
  return earlier && !today ? [top] : [change];
}

/** The indentation that the file has; 2 when it has none. */
function indentOf(text: string): number {
  const lines = text.split('\n').filter((line) => /^ *[^\s#-]/.test(line));
  const inner = lines.find((line, index) => index > 0 && /^ {1,8}[^ ]/.test(line));
  return inner === undefined ? 2 : inner.search(/[^ ]/);
}
