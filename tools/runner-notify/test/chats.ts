/** Both chats as stand-ins, and a root whose config.yml names them. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Discord, startDiscord } from '@runner/testing/discord';
import { type MailServer, startMailServer } from '@runner/testing/mail-server';
import { type Ntfy, startNtfy } from '@runner/testing/ntfy';
import { type Receiver, startReceiver } from '@runner/testing/receiver';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { type Slack, startSlack } from '@runner/testing/slack';
import { startTelegram, type Telegram } from '@runner/testing/telegram';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';

export const BOT_TOKEN = '123456789:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbotte';
/** More digits than 32 bits hold. */
export const CHAT_ID = -1001234567890;

export const startBot = (): Promise<Telegram> =>
  startTelegram({
    token: BOT_TOKEN,
    chats: [{ id: CHAT_ID, type: 'supergroup', title: 'Deploys', topics: [7] }],
  });

export interface Chats {
  readonly root: string;
  readonly bot: Telegram;
  readonly hook: Discord;
  readonly slack: Slack;
  readonly ntfy: Ntfy;
  readonly mail: MailServer;
  readonly receiver: Receiver;
  /** Replaces config.yml; without an argument it names both chats. */
  configure(text?: string): void;
  /** Removes the spool: what waits, and what is known of the destinations. */
  forget(): void;
  /** Runs `runner-notify send` with these records, or lines as they are, on its input. */
  send(records: readonly unknown[], args?: readonly string[], options?: RunOptions): Promise<Ended>;
  close(): Promise<void>;
}

/** `notify:` with the lines of both chats that `only` names, and `more` lines. */
export function configOf(
  bot: Telegram,
  hook: Discord,
  only = 'td',
  more: readonly string[] = [],
): string {
  const lines = [
    ...(only.includes('t')
      ? [
          `telegram_bot_token: "${BOT_TOKEN}"`,
          `telegram_chat_id: ${CHAT_ID}`,
          `telegram_api_url: ${bot.url}`,
        ]
      : []),
    ...(only.includes('d') ? [`discord_webhook: ${hook.webhook}`] : []),
    ...more,
  ];
  return `notify:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

export async function startChats(options: { rates?: number } = {}): Promise<Chats> {
  const [bot, hook] = await Promise.all([startBot(), startDiscord(options)]);
  const [slack, ntfy, mail, receiver] = await Promise.all([
    startSlack(),
    startNtfy(),
    startMailServer(),
    startReceiver(),
  ]);
  const all = [bot, hook, slack, ntfy, mail, receiver];
  const root = temporaryFolder('notify');
  const configure = (text = configOf(bot, hook)) =>
    writeFileSync(join(root, 'config.yml'), text, { mode: 0o600 });
  configure();
  return {
    root,
    bot,
    hook,
    slack,
    ntfy,
    mail,
    receiver,
    configure,
    forget: () => rmSync(join(root, 'spool'), { recursive: true, force: true }),
    send(records, args = [], more = {}) {
      const lines = records.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
      return run('runner-notify', ['send', ...args], {
        root,
        stdin: lines.map((line) => `${line}\n`).join(''),
        ...more,
      });
    },
    close: async () => {
      await Promise.all(all.map((each) => each.close()));
    },
  };
}

/** Makes the wait that a channel was asked for end `milliseconds` from now. */
export function waitOnly(root: string, channel: string, milliseconds: number): void {
  const path = join(root, 'spool/notify', `${channel}.json`);
  const state = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  writeFileSync(path, JSON.stringify({ ...state, until: Date.now() + milliseconds }));
}

/** Registers an app by hand; with `deployFile` its active release has that `.deploy.yml`. */
export function registerApp(
  root: string,
  app: string,
  deployFile?: string | null,
  instance = 'default',
): void {
  mkdirSync(join(root, 'state'), { recursive: true });
  const state = {
    version: 1,
    app,
    repo: 'o/r',
    branch: 'main',
    state: {},
    instances: { [instance]: {} },
  };
  writeFileSync(join(root, 'state', `${app}.json`), JSON.stringify(state));
  if (deployFile === undefined) return;
  const release = join(root, 'apps', app, 'releases', '20260504093000-0123456789ab');
  const folder = join(root, 'apps', app, 'instances', instance);
  mkdirSync(release, { recursive: true });
  mkdirSync(folder, { recursive: true });
  if (deployFile !== null) writeFileSync(join(release, '.deploy.yml'), deployFile);
  symlinkSync('../../releases/20260504093000-0123456789ab', join(folder, 'current'));
}

/** A record as `runner-audit emit` prints it. */
export function event(kind: string, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    timestamp: '2026-05-04T09:30:00.000Z',
    event_type: kind,
    project: 'shop',
    instance: 'prod-1',
    version: 'v1.3.0',
    deploy_id: 'a1b2c3d4',
    ...fields,
  };
}

/** Those of the test that runs. */
export let chats: Chats;

/** A suite of tests each of which has chats; `which` of configOf. */
export function chatsSuite(which?: string) {
  const test = suite();
  test.before.each(async () => {
    chats = await startChats();
    if (which !== undefined) chats.configure(configOf(chats.bot, chats.hook, which));
  });
  test.after.each(() => chats.close());
  return test;
}
