/** All that the runner talks to, on loopback at once: the code host, its git, and both chats. */
import { type CodeHostServer, startCodeHost } from './code-host.ts';
import { type Discord, startDiscord } from './discord.ts';
import { type GitServer, startGitServer } from './git-server.ts';
import { startTelegram, type Telegram } from './telegram.ts';

/** The group of the bot. */
export const CHAT_ID = -1_001_234_567_890;

/** The stand-ins, which share no secrets. */
export interface Hosts {
  readonly git: GitServer;
  readonly codeHost: CodeHostServer;
  readonly telegram: Telegram;
  readonly discord: Discord;
  close(): Promise<void>;
}

/** Starts them; git and the code host take `token`, Telegram takes `botToken`. */
export async function startHosts(token: string, botToken: string): Promise<Hosts> {
  const [git, codeHost, telegram, discord] = await Promise.all([
    startGitServer({ token }),
    startCodeHost({ tokens: { [token]: { login: 'ada', scopes: ['repo', 'read:org'] } } }),
    startTelegram({
      token: botToken,
      chats: [{ id: CHAT_ID, type: 'supergroup', title: 'Deploys' }],
    }),
    startDiscord(),
  ]);
  return {
    git,
    codeHost,
    telegram,
    discord,
    async close() {
      await Promise.all([git, codeHost, telegram, discord].map((each) => each.close()));
    },
  };
}

/** config.yml of a root that talks to them. */
export function configFor({ git, codeHost, telegram, discord }: Hosts, botToken: string): string {
  return `code_host_git_url: ${git.url}
code_host_api_url: ${codeHost.apiUrl}
notify:
  telegram_api_url: ${telegram.url}
  telegram_bot_token: "${botToken}"
  telegram_chat_id: "${CHAT_ID}"
  discord_webhook: ${discord.webhook}
`;
}
