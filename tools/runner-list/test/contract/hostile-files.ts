/** Files of a root, the commands that read them, and what has to hold whatever a file has become. */
import { lstatSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Ended, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import * as assert from 'uvu/assert';
import { DAMAGES, type Kind } from './damages.ts';
import {
  BOT_TOKEN,
  failedDeploy,
  NEW_TOKEN,
  queuedIn,
  record,
  type Server,
  TOKEN,
} from './server.ts';

interface Command {
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

/** Every command that reads files of the root, by the name under which the table tells it. */
const COMMANDS = {
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

type CommandName = keyof typeof COMMANDS;

interface Subject {
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

/** A third of the damages for each file, one command each: every damage and command has its turn. */
export function someCases(): Case[] {
  return Object.entries(SUBJECTS).flatMap(([subject, { readers }], turn) =>
    Object.keys(DAMAGES)
      .filter((_, index) => index % 3 === turn % 3)
      .map((damage, index) => ({
        subject,
        damage,
        command: readers[index % readers.length] as CommandName,
      })),
  );
}

function runOn(root: string, name: CommandName, server: Server): Promise<Ended> {
  const command: Command = COMMANDS[name];
  const stdin = command.stdin?.(server) ?? '';
  // Also where the file has lost its addresses nobody outside is asked.
  const env = {
    RUNNER_CODE_HOST_API_URL: server.host.url,
    RUNNER_CODE_HOST_GIT_URL: server.git.url,
    RUNNER_TELEGRAM_API_URL: server.bot.url,
  };
  return run(command.tool, command.args(root, server), { root, stdin, env, timeout: 30_000 });
}

/** Regular files below a folder that are not too large to be compared, with their bytes. */
function contentOf(root: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || lstatSync(path).size > 1_000_000) continue;
    found.set(path.slice(root.length + 1), readFileSync(path, 'latin1'));
  }
  return found;
}

/** A sentence tells a user which file is meant by its path, its name or the app or message. */
function names(stderr: string, path: string): boolean {
  const file = basename(path);
  const words = [
    file,
    basename(file, '.json'),
    file.split('.')[0] ?? file,
    basename(dirname(path)),
  ];
  return words.some((word) => word.length > 2 && stderr.includes(word));
}

const SECRETS = [TOKEN, NEW_TOKEN, BOT_TOKEN];

/** What no output may have: a stack, what moves a terminal, a secret. */
const UNSOUND: readonly RegExp[] = [
  /^\s+at .*:\d+:\d+|this is a bug|node:internal/m,
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/,
];

/** What is wrong with how a command ended, whatever it was asked; null when nothing is. */
function unsound({ stdout, stderr, signal }: Ended): string | null {
  if (signal !== null) return `ended by ${signal}`;
  const text = stdout + stderr;
  if (UNSOUND.some((pattern) => pattern.test(text))) return `unsound: ${JSON.stringify(text)}`;
  return SECRETS.some((secret) => findSecret(text, secret).length > 0) ? `secret: ${text}` : null;
}

/** How each command ends where nothing is damaged; found out once. */
const undamaged = new Map<CommandName, Promise<Ended>>();

function baseline(server: Server, command: CommandName): Promise<Ended> {
  let ended = undamaged.get(command);
  if (ended === undefined) {
    ended = runOn(server.copy(), command, server);
    undamaged.set(command, ended);
  }
  return ended;
}

/** What a command may change although it fails. */
const MAY_CHANGE = /^(locks|spool|logs|apps)\//;

/** What an app must not lose. */
function identityOf(text = '{}'): string {
  const { repo, branch, state, instances } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify([repo, branch, state, instances]);
}

/** Damages a file of a new root and runs a command there; null when all holds that has to. */
async function check(server: Server, { subject, damage, command }: Case): Promise<string | null> {
  const { path: pathIn, kind } = SUBJECTS[subject] as Subject;
  const root = server.copy();
  const path = pathIn(root);
  const content = readFileSync(path);
  DAMAGES[damage]?.(path, content, kind);
  const before = contentOf(root);

  const usual = await baseline(server, command);
  const ended = await runOn(root, command, server);
  const wrong = unsound(ended);
  if (wrong !== null) return wrong;
  const { status, stderr } = ended;
  // A damage can also take away what made the command fail.
  if (status === usual.status || status === 0) return null;
  if (![1, 3, 75].includes(status ?? -1)) return `status ${status}: ${stderr}`;
  // These have one line an app, or a finding, on stdout.
  const answers = /^(fetch|doctor|verify)/.test(command);
  const told = answers ? ended.stdout + stderr : stderr;
  if (told === stderr && !/^runner [^\n]+\n/m.test(stderr)) return `no sentence: ${stderr}`;
  if (!names(told, path)) return `not named: ${told}`;
  const after = contentOf(root);
  for (const [file, bytes] of before) {
    if (after.get(file) === bytes) continue;
    if (MAY_CHANGE.test(file) && file !== path.slice(root.length + 1)) continue;
    // With one app unreadable, rekey seals the others anew and keeps the old key.
    const rekeyed = command === 'rekey' && /^(mkey|state\/blog\.json)$/.test(file);
    if (rekeyed && (file !== 'mkey' || after.get(file)?.endsWith(bytes))) continue;
    // When an app was looked at, and why that failed, may be noted; the rest of it stays.
    const noted = /^(fetch|deploy|rollback)/.test(command) && file === 'state/shop.json';
    if (noted && identityOf(after.get(file)) === identityOf(bytes)) continue;
    // A deploy goes on without the line in fetch.log: only the status tells that it is missing.
    if (noted && path.endsWith('/fetch.log')) continue;
    return `${file} has changed: ${stderr}`;
  }
  // With the file mended by hand everything is as it was.
  rmSync(path, { force: true, recursive: true });
  writeFileSync(path, content, { mode: 0o600 });
  const again = await runOn(root, command, server);
  return again.status === usual.status ? null : `mended: ${again.stderr}`;
}

/** Checks cases two at a time, as there are processors; tells all that fail. */
export async function checkAll(server: Server, cases: readonly Case[]): Promise<void> {
  const waiting = [...cases];
  const failed: string[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const what = `${next.subject}: ${next.damage}: ${next.command}`;
      const wrong = await check(server, next).catch((error: Error) => String(error));
      if (wrong === null) continue;
      failed.push(`${what}: ${wrong}`);
      process.stdout.write(`${what}: ${wrong}\n`);
    }
  };
  await Promise.all([work(), work()]);
  assert.is(failed.join('\n'), '');
}
