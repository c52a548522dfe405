/** What has to hold whatever a file has become: a sentence, a status, and nothing lost. */
import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Ended, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import * as assert from 'uvu/assert';
import { DAMAGES } from './damages.ts';
import {
  type Case,
  COMMANDS,
  type Command,
  type CommandName,
  SUBJECTS,
  type Subject,
} from './hostile-files.ts';
import { BOT_TOKEN, NEW_TOKEN, type Server, TOKEN } from './server.ts';

function runOn(root: string, name: CommandName, server: Server): Promise<Ended> {
  const command: Command = COMMANDS[name];
  const stdin = command.stdin?.(server) ?? '';
  // Even when the file has lost its addresses, no real host is asked.
  const env = {
    RUNNER_CODE_HOST_API_URL: server.host.url,
    RUNNER_CODE_HOST_GIT_URL: server.git.url,
    RUNNER_TELEGRAM_API_URL: server.bot.url,
  };
  return run(command.tool, command.args(root, server), { root, stdin, env });
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

/** An error names the damaged file by its path, its name, or the app or message. */
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
async function check(server: Server, each: Case): Promise<string | null> {
  const root = server.copy();
  try {
    return await checkOn(root, server, each);
  } finally {
    // With thousands of them the end would take minutes.
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function checkOn(
  root: string,
  server: Server,
  { subject, damage, command }: Case,
): Promise<string | null> {
  const { path: pathIn, kind } = SUBJECTS[subject] as Subject;
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
    // With one app unreadable, rekey seals the others again and keeps the old key.
    const rekeyed = command === 'rekey' && /^(mkey|state\/blog\.json)$/.test(file);
    if (rekeyed && (file !== 'mkey' || after.get(file)?.endsWith(bytes))) continue;
    // When an app was looked at, and why that failed, may be noted; the rest of it stays.
    const noted = /^(fetch|deploy|rollback)/.test(command) && file === 'state/shop.json';
    if (noted && identityOf(after.get(file)) === identityOf(bytes)) continue;
    // A deploy goes on without the line in fetch.log: only the status shows that it is missing.
    if (noted && path.endsWith('/fetch.log')) continue;
    return `${file} has changed: ${stderr}`;
  }
  // With the file repaired by hand everything is as it was.
  rmSync(path, { force: true, recursive: true });
  writeFileSync(path, content, { mode: 0o600 });
  const again = await runOn(root, command, server);
  return again.status === usual.status ? null : `after the fix: ${again.stderr}`;
}

/** Checks two cases at a time; reports all that fail. */
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
