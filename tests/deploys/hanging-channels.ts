/** A deploy while six channels hang and a long queue waits for them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CHANNEL_NAMES } from '@runner/common/config/channels';
import { startDiscord } from '@runner/testing/discord';
import { startMailServer } from '@runner/testing/mail-server';
import { startNtfy } from '@runner/testing/ntfy';
import { startReceiver } from '@runner/testing/receiver';
import { run } from '@runner/testing/run';
import { startSlack } from '@runner/testing/slack';
import { startTelegram } from '@runner/testing/telegram';
import { makeWorld } from './world.ts';

/** What came of it. */
export interface Hung {
  /** Seconds of a deploy: without channels, and with them. */
  readonly alone: number;
  readonly deploy: number;
  /** Peak memory of each program in MB, the biggest process. */
  readonly memory: Readonly<Record<string, number>>;
  /** Messages that wait. */
  readonly queued: number;
}

async function hangingChannels() {
  const chat = { id: 42, type: 'private', first_name: 'Alice' } as const;
  const token = '123456789:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbotte';
  const [bot, hook, slack, ntfy, mail, receiver] = await Promise.all([
    startTelegram({ token, chats: [chat] }),
    startDiscord(),
    startSlack(),
    startNtfy(),
    startMailServer(),
    startReceiver(),
  ]);
  const web = [bot, hook, slack, ntfy, receiver];
  for (const each of web) each.fail('hang', Number.POSITIVE_INFINITY);
  mail.fail({ at: 'login', code: 0 }, 100_000);
  const config = `notify:
  telegram_bot_token: "${token}"
  telegram_chat_id: ${chat.id}
  telegram_api_url: ${bot.url}
  discord_webhook: ${hook.webhook}
  slack: { webhook: "${slack.webhook}" }
  ntfy: { url: "${ntfy.topic}", token: ${ntfy.token} }
  email: { smtp: "${mail.address}", from: a@example.org, to: b@example.org }
  webhook: { url: "${receiver.address}", secret: ${receiver.secret} }
`;
  return { config, close: () => Promise.all([...web, mail].map((each) => each.close())) };
}

/** Events that wait for all six channels. */
function fill(root: string, events: number): void {
  const folder = join(root, 'spool/notify');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const start = Date.now() - events;
  for (let number = 0; number < events; number += 1) {
    const event = {
      timestamp: new Date(start + number).toISOString(),
      event_type: 'DeployFailure',
      project: `app${number % 50}`,
      version: `v${number}`,
      deploy_id: number.toString(16).padStart(8, '0'),
      error: 'npm error code 2',
    };
    for (const channel of CHANNEL_NAMES) {
      const entry = { version: 1, channel, event, queued_at: event.timestamp };
      const name = `${(start + number).toString(36).padStart(9, '0')}-0000.${channel}.json`;
      writeFileSync(join(folder, name), JSON.stringify(entry), { mode: 0o600 });
    }
  }
}

/** Watches the peak memory of the programs that work on a root, until it is stopped. */
function watchMemory(root: string) {
  const peaks: Record<string, number> = {};
  const look = () => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        if (!words[1]?.includes('runner-') || !(words.join() + environment).includes(root))
          continue;
        const peak = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
        const name = `${basename(words[1])} ${words[2] ?? ''}`.trim();
        peaks[name] = Math.max(peaks[name] ?? 0, Math.round(Number(peak) / 1024));
      } catch {
        // It has ended.
      }
    }
  };
  const timer = setInterval(look, 100);
  return () => {
    clearInterval(timer);
    return peaks;
  };
}

/** Deploys, sends and flushes while `events` events wait for six channels that hang. */
export async function hangWith(events: number): Promise<Hung> {
  const [world, channels] = [await makeWorld(), await hangingChannels()];
  const { root } = world;
  const notify = { deploy: 'notify: {}\n' };
  await world.push('v1', notify);
  await world.deploy();
  await world.push('v2', notify);
  const alone = (await world.deploy()).ms / 1000;
  const path = join(root, 'config.yml');
  writeFileSync(path, readFileSync(path, 'utf8') + channels.config, { mode: 0o600 });
  fill(root, events);
  await world.push('v3', notify);
  const stop = watchMemory(root);
  const deployed = await world.deploy();
  if (deployed.status !== 0) throw new Error(deployed.stderr);
  const record = { event_type: 'DeployStarted', project: 'shop', deploy_id: 'ffffffff' };
  const stdin = `${JSON.stringify(record)}\n`;
  await run('runner-notify', ['send', '--channel', 'all'], { root, stdin });
  await run('runner-notify', ['flush', '--now'], { root, timeout: 20_000 }).catch(() => {});
  const memory = stop();
  const queued = readdirSync(join(root, 'spool/notify')).filter((name) => /^\d/.test(name)).length;
  await Promise.all([world.close(), channels.close()]);
  return { alone, deploy: deployed.ms / 1000, memory, queued };
}
