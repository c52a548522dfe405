/** Files of a root by what they are, and the commands that read or write each. */
import { readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { DAMAGES, type Kind } from './damages.ts';
import { failedDeploy, NEW_TOKEN, queuedIn, record, type Server, TOKEN } from './server.ts';

/** A command on a damaged root. */
export interface Command {
  readonly tool: string;
  readonly args: (root: string, server: Server) => readonly string[];
  readonly stdin?: (server: Server) => string;
}

const plain = (tool: string, ...args: string[]): Command => ({ tool, args: () => args });
const fed = (stdin: string, tool: string, ...args: string[]): Command => ({
  ...plain(tool, ...args),
  stdin: () => stdin,
});

const EVENT = `${JSON.stringify(record('v9'))}\n`;
const firstQueued = (root: string) => queuedIn(root, 'discord')[0]?.split('.')[0] ?? 'none';
const queue = (action: string): Command => ({
  tool: 'runner-notify',
  args: (root) => ['queue', action, firstQueued(root)],
});

/** Every command that reads files of the root, by its name in the table. */
export const COMMANDS = {
  list: plain('runner-list'),
  status: plain('runner-status', 'shop'),
  'tokens list': plain('runner-tokens', 'list'),
  'tokens test': plain('runner-tokens', 'test', 'shop'),
  rekey: plain('runner-tokens', 'rekey'),
  'last-error': plain('runner-debug', 'last-error', 'shop'),
  'debug log': plain('runner-debug', 'log', 'shop'),
  emit: fed(EVENT, 'runner-audit', 'emit'),
  tail: plain('runner-audit', 'tail'),
  'audit list': plain('runner-audit', 'list'),
  verify: plain('runner-audit', 'verify'),
  doctor: plain('runner-doctor', '--offline'),
  'notify status': plain('runner-notify', 'status'),
  'notify preview': fed(EVENT, 'runner-notify', 'preview'),
  'notify test': plain('runner-notify', 'test'),
  send: fed(EVENT, 'runner-notify', 'send', '--wait', '1'),
  flush: plain('runner-notify', 'flush', '--now'),
  'queue list': plain('runner-notify', 'queue', 'list'),
  'queue show': queue('show'),
  'queue retry': queue('retry'),
  'queue drop': queue('drop'),
  setup: {
    ...plain('runner-notify', 'setup', '--channel', 'discord', '--webhook-file', '-'),
    stdin: ({ hook }) => hook.webhook,
  },
  add: fed(TOKEN, 'runner-add', '--repo', 'acme/new', '--branch', 'main', '--token', '-'),
  'add --token-from': plain(
    ...(['runner-add', '--repo', 'acme/new', '--branch', 'main'] as const),
    ...(['--token-from', 'shop'] as const),
  ),
  edit: plain('runner-edit', 'shop', '--branch', 'next'),
  'edit --token': fed(NEW_TOKEN, 'runner-edit', 'shop', '--token', '-'),
  remove: plain('runner-remove', 'shop', '--yes'),
  deploy: plain('runner-deploy', 'shop'),
  fetch: plain('runner-fetch', 'shop'),
  'fetch --deploy': plain('runner-fetch', '--deploy', 'shop'),
  rollback: plain('runner-rollback', 'shop'),
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;

/** A file of the root. */
export interface Subject {
  readonly path: (root: string) => string;
  readonly kind: Kind;
  readonly readers: readonly CommandName[];
}

const at =
  (path: string) =>
  (root: string): string =>
    join(root, path);

const only = (folder: string, end: string) => (root: string) => {
  const name = readdirSync(join(root, folder)).find((each) => each.endsWith(end));
  return join(root, folder, name ?? 'nothing');
};

const PIPELINE = ['deploy', 'fetch', 'fetch --deploy', 'rollback', 'remove'] as const;
const CHATS = ['send', 'flush', 'notify status', 'notify test', 'setup'] as const;
const TOKENS = ['tokens list', 'tokens test', 'rekey', 'add --token-from', 'edit --token'] as const;

/** Files by what they are, and who reads or writes each. */
export const SUBJECTS: Readonly<Record<string, Subject>> = {
  state: {
    path: at('state/shop.json'),
    kind: 'json',
    readers: [
      ...(['list', 'status', 'last-error', 'debug log', 'edit', 'send', 'notify preview'] as const),
      ...TOKENS,
      ...PIPELINE,
      'doctor',
    ],
  },
  'config.yml': {
    path: at('config.yml'),
    kind: 'yaml',
    readers: ['list', 'status', 'tokens test', 'notify preview', ...CHATS, ...PIPELINE, 'doctor'],
  },
  'the .deploy.yml of the active release': {
    path: (root) =>
      join(realpathSync(join(root, 'apps/shop/instances/default/current')), '.deploy.yml'),
    kind: 'yaml',
    readers: ['send', 'deploy', 'rollback', 'remove', 'status'],
  },
  mkey: {
    path: at('mkey'),
    kind: 'text',
    readers: ['add', 'doctor', ...TOKENS, 'deploy', 'fetch'],
  },
  'the audit log': {
    path: at('logs/deploy-events.jsonl'),
    kind: 'json',
    readers: [
      'audit list',
      'verify',
      'doctor',
      'emit',
      'tail',
      'last-error',
      'debug log',
      'status',
      'deploy',
      'rollback',
    ],
  },
  'an event that waits for the audit log': {
    path: only('spool/audit', '.jsonl'),
    kind: 'json',
    readers: ['emit', 'last-error', 'deploy', 'verify', 'doctor'],
  },
  'a message that waits': {
    path: (root) => join(root, 'spool/notify', queuedIn(root, 'discord').sort()[0] ?? 'nothing'),
    kind: 'json',
    readers: ['queue list', 'queue show', 'queue retry', 'queue drop', 'send', 'flush'],
  },
  'the state of a chat': {
    path: at('spool/notify/discord.json'),
    kind: 'json',
    readers: [...CHATS, 'queue list', 'doctor'],
  },
  "the registry's lock": {
    path: at('locks/registry.lock'),
    kind: 'json',
    readers: ['add', 'edit', 'rekey', 'remove', 'deploy'],
  },
  "an app's lock": {
    path: at('locks/shop.lock'),
    kind: 'json',
    readers: ['deploy', 'fetch --deploy', 'rollback', 'remove', 'status', 'list'],
  },
  "a chat's lock": {
    path: at('locks/.notify-discord.lock'),
    kind: 'json',
    readers: ['send', 'flush', 'queue retry', 'notify test', 'setup'],
  },
  'fetch.log': { path: at('logs/fetch.log'), kind: 'text', readers: ['fetch', 'fetch --deploy'] },
  'the kept log of a deploy': {
    path: (root) => join(root, 'logs/deploys/shop', `${failedDeploy(root)}.log`),
    kind: 'text',
    readers: ['debug log', 'last-error', 'deploy'],
  },
  'what good builds print': {
    path: at('apps/shop/baseline.json'),
    kind: 'json',
    readers: ['deploy', 'debug log'],
  },
};

/** One damage of one file, and one command that meets it. */
export interface Case {
  readonly subject: string;
  readonly damage: string;
  readonly command: CommandName;
}

/** All of them, in an order in which neighbours differ. */
export function allCases(): Case[] {
  return Object.entries(SUBJECTS).flatMap(([subject, { readers }]) =>
    Object.keys(DAMAGES).flatMap((damage) =>
      readers.map((command) => ({ subject, damage, command })),
    ),
  );
}

/** A twelfth of the damages for each file, one command each: every damage has its turn. */
export function someCases(): Case[] {
  return Object.entries(SUBJECTS).flatMap(([subject, { readers }], turn) =>
    Object.keys(DAMAGES)
      .filter((_, index) => index % 12 === turn % 12)
      .map((damage, index) => ({
        subject,
        damage,
        command: readers[index % readers.length] as CommandName,
      })),
  );
}
