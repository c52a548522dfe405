/**
 * A server on which everything has happened once: three apps, deploys that worked and one that did
 * not, two chats, messages and an audit record that wait. Its root is copied for each case.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCodeHost } from '@runner/testing/code-host';
import { startDiscord } from '@runner/testing/discord';
import { startGitServer } from '@runner/testing/git-server';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { startTelegram } from '@runner/testing/telegram';
import { temporaryFolder } from '@runner/testing/temp';

export const TOKEN = 'ghp_c0ntr4ctc0ntr4ctc0ntr4ctc0ntr4ctc0nt';
export const NEW_TOKEN = 'ghp_n3wn3wn3wn3wn3wn3wn3wn3wn3wn3wn3wn3w';
export const BOT_TOKEN = '123456789:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbotte';

/** A build whose release is recognised as whole: `one` and `two` are as VERSION. */
export const DEPLOY_FILE = 'build: "cp VERSION one; cp VERSION two"\nnotify: {}\n';

/** A record of `shop`, as `runner-audit emit` prints it. */
export function record(version: string, more: object = {}): Record<string, unknown> {
  return {
    timestamp: '2026-05-04T09:30:00.000Z',
    event_type: 'DeploySuccess',
    project: 'shop',
    instance: 'default',
    version,
    deploy_id: 'a1b2c3d4',
    ...more,
  };
}

export type Server = Awaited<ReturnType<typeof startServer>>;

/** Runs a tool that has to succeed. */
export async function must(
  tool: string,
  args: readonly string[],
  options: RunOptions,
): Promise<Ended> {
  const ended = await run(tool, args, options);
  if (ended.status !== 0) throw new Error(`${tool} ${args.join(' ')}: ${ended.stderr}`);
  return ended;
}

export async function startServer() {
  const [git, host, bot, hook] = await Promise.all([
    startGitServer({ token: TOKEN }),
    startCodeHost({ tokens: { [TOKEN]: { login: 'octo', scopes: ['repo'] } } }),
    startTelegram({
      token: BOT_TOKEN,
      chats: [{ id: -1001234567890, type: 'supergroup', title: 'Deploys' }],
    }),
    startDiscord(),
  ]);
  const root = join(temporaryFolder('contract'), 'root');
  mkdirSync(root);
  const config = `# ours
code_host_git_url: ${git.url}
code_host_api_url: ${host.url}
notify:
  telegram_bot_token: "${BOT_TOKEN}"
  telegram_chat_id: "-1001234567890"
  telegram_api_url: ${bot.url}
  discord_webhook: ${hook.webhook}
`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  await git.createRepo('acme/shop');
  const add = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  await must('runner-add', add, { root, stdin: TOKEN });
  const commit = (version: string, deployFile = DEPLOY_FILE) =>
    git.commit('acme/shop', { VERSION: version, '.deploy.yml': deployFile }, version, {
      tag: version,
    });
  for (const version of ['v1', 'v2']) {
    await commit(version);
    await must('runner-deploy', ['shop'], { root });
  }
  await commit('v3', 'build: "echo the cause; exit 3"\nnotify: {}\n');
  const failed = await run('runner-deploy', ['shop'], { root });
  if (failed.status !== 1) throw new Error(`the build was to fail: ${failed.stderr}`);
  const from = ['--repo', 'acme/shop', '--branch', 'main', '--token-from', 'shop'];
  await must('runner-add', [...from, '--name', 'blog', '--ckey'], { root });
  const open = ['--repo', 'acme/open', '--branch', 'main', '--public'];
  await must('runner-add', open, { root });

  // One message waits for each chat, and one event for the audit log.
  for (const each of [bot, hook]) each.fail('drop', 20);
  const waiting = `${JSON.stringify(record('v-queued'))}\n`;
  await must('runner-notify', ['send', '--wait', '0'], { root, stdin: waiting });
  for (const each of [bot, hook]) each.heal();
  const kept = `${JSON.stringify(record('v-kept'))}\n`;
  mkdirSync(join(root, 'spool/audit'), { recursive: true, mode: 0o700 });
  const name = '20260504093000000-a1b2c3d4-DeploySuccess.jsonl';
  writeFileSync(join(root, 'spool/audit', name), kept, { mode: 0o600 });
  await commit('v4');
  await must('runner-fetch', ['shop'], { root });

  return {
    root,
    git,
    host,
    bot,
    hook,
    commit,
    /** A root like this one, to be spoilt. */
    copy(): string {
      const copied = join(temporaryFolder('contract'), 'root');
      execFileSync('cp', ['-a', root, copied]);
      return copied;
    },
    close: async () => {
      await Promise.all([git, host, bot, hook].map((each) => each.close()));
    },
  };
}

/** Names of the messages that wait for a chat. */
export function queuedIn(root: string, channel: string): string[] {
  return readdirSync(join(root, 'spool/notify')).filter((name) =>
    new RegExp(`^.+\\.${channel}\\.json$`).test(name),
  );
}

/** The id of the deploy that failed. */
export function failedDeploy(root: string): string {
  const lines = readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8').trimEnd().split('\n');
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return String(records.findLast((each) => each.event_type === 'DeployFailure')?.deploy_id);
}
