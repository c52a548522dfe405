/** Everything outside the runner, on loopback: git host, code host, both chats, a root. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, killApp, page } from '@runner/testing/app';
import { type CodeHost, startCodeHost } from '@runner/testing/code-host';
import { type Discord, startDiscord } from '@runner/testing/discord';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { startTelegram, type Telegram } from '@runner/testing/telegram';

export const TOKEN = 'ghp_demo0demo0demo0demo0demo0demo0demo0';
export const REPO = 'acme/shop';
const BOT_TOKEN = '123456789:AAdemo_demo_demo_demo_demo_demo_demo';
const CHAT = -1001234567890;

export interface Stage {
  readonly root: string;
  readonly port: number;
  readonly git: GitServer;
  readonly codeHost: CodeHost;
  readonly telegram: Telegram;
  readonly discord: Discord;
  /** What a visitor of the app sees; null when nobody answers. */
  page(): Promise<string | null>;
  close(keep: boolean): Promise<void>;
}

export async function setStage(): Promise<Stage> {
  const root = mkdtempSync(join(tmpdir(), 'runner-demo-'));
  const git = await startGitServer({ token: TOKEN });
  await git.createRepo(REPO);
  const codeHost = await startCodeHost();
  codeHost.allow(TOKEN, { login: 'ada', scopes: ['repo', 'read:org'] });
  const telegram = await startTelegram({
    token: BOT_TOKEN,
    chats: [{ id: CHAT, type: 'supergroup', title: 'Deploys' }],
  });
  const discord = await startDiscord();
  const config = `code_host_api_url: ${codeHost.apiUrl}
code_host_git_url: ${git.url}
notify:
  telegram_api_url: ${telegram.url}
  telegram_bot_token: "${BOT_TOKEN}"
  telegram_chat_id: "${CHAT}"
  discord_webhook: ${discord.webhook}
`;
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  const port = await freePort();
  return {
    root,
    port,
    git,
    codeHost,
    telegram,
    discord,
    page: () => page(port),
    async close(keep) {
      killApp(root, 'shop');
      await Promise.all([git.close(), codeHost.close(), telegram.close(), discord.close()]);
      if (!keep) rmSync(root, { recursive: true, force: true });
    },
  };
}
