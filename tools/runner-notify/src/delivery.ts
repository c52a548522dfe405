/** Announces records: which channels, what is said, and what came of it. */
import {
  type ChannelName,
  type NotifySettings,
  notifySettingsOf,
  readConfig,
} from '@runner/common/config';
import type { EventType } from '@runner/common/events';
import type { Io } from '@runner/common/io';
import type { Paths } from '@runner/common/paths';
import { redactor, Secret } from '@runner/common/secret';
import { appChoice } from './app-choice.ts';
import type { Channel } from './channels/channel.ts';
import { discord, executionAddress } from './channels/discord/discord.ts';
import { telegram } from './channels/telegram/telegram.ts';
import { courierFor, type Ending } from './courier.ts';
import { type Notice, noticeOf } from './notice.ts';
import type { Announceable } from './records.ts';
import { activeChannels, type SkipReason, select } from './selection.ts';

export type ChannelOption = ChannelName | 'both' | 'none' | undefined;

/** What came of one record on one channel; what `runner notify send --json` prints. */
export interface Result {
  readonly event_type: EventType;
  readonly project: string;
  readonly instance: string;
  readonly version: string;
  readonly deploy_id: string;
  /** null when no channel hears of the event. */
  readonly channel: ChannelName | null;
  /** `rejected`: it will never be taken; `failed`: it was given up after the time of --wait. */
  readonly result: 'delivered' | 'failed' | 'rejected' | 'skipped';
  /** How many messages were delivered. */
  readonly messages: number;
  /** Of a skipped record. */
  readonly reason?: SkipReason;
  /** What was refused in the message as it was; it arrived as plain text or shortened. */
  readonly degraded?: 'markup' | 'length';
  /** The group's id since it became a supergroup. */
  readonly moved_to?: string;
  readonly method?: string;
  readonly http_status?: number | null;
  readonly code?: number | string;
  readonly description?: string;
  readonly retryable?: boolean;
  readonly hint?: string;
}

export interface DeliveryOptions {
  readonly io: Io;
  readonly paths: Paths;
  readonly channel: ChannelOption;
  /** How long one message is tried, in milliseconds. */
  readonly wait: number;
  note(text: string): void;
}

export interface Delivery {
  /** Announces one record; results in the order of the channels. Never throws for a failed delivery. */
  announce(record: Announceable): Promise<Result[]>;
}

/** Reads config.yml once. Throws `config_invalid`, `insecure_address` or `file_unreadable`. */
export function openDelivery(options: DeliveryOptions): Delivery {
  const { io, paths, note } = options;
  const settings = notifySettingsOf(readConfig(paths), io.env);
  const redact = redactor(secretsOf(settings));
  const active = activeChannels(settings);
  const couriers = new Map(
    openChannels(settings, { env: io.env, redact }).map((channel) => [
      channel.name,
      { channel, courier: courierFor(channel, io) },
    ]),
  );
  const told = new Set<string>();
  const noteOnce = (text: string) => {
    if (!told.has(text)) note(redact(text));
    told.add(text);
  };

  async function announceOn(name: ChannelName, notice: Notice): Promise<Result> {
    const { channel, courier } = couriers.get(name) as NonNullable<ReturnType<typeof couriers.get>>;
    const messages = channel.render(notice, (text) => noteOnce(`${name}: ${text}`));
    const ending = await courier.bring(messages, options.wait);
    tell(name, notice, ending);
    return resultOf(name, notice, ending);
  }

  function tell(name: ChannelName, notice: Notice, { failure, degraded, movedTo }: Ending): void {
    if (movedTo)
      noteOnce(`${name}: the group has become a supergroup: set telegram_chat_id to ${movedTo}`);
    if (degraded === 'markup' && !failure)
      note(`${name}: the markup was refused, the message was sent as plain text`);
    if (!failure) return;
    const { description, code, hint } = failure.problem;
    const told = [
      ...(description.includes(String(code)) ? [] : [code]),
      ...(failure.class === 'wait' ? [`asks to wait ${Math.ceil(failure.delay / 1000)} s`] : []),
    ].join(', ');
    const why = `${description}${told && ` (${told})`}${hint ? `; ${hint}` : ''}`;
    note(`${name}: ${notice.eventType} of ${notice.project} was not delivered: ${why}`);
  }

  return {
    async announce(record) {
      const { verboseErrors } = settings;
      const notice = await noticeOf(record, {
        redact,
        verboseErrors,
        random: (count) => io.random(count),
      });
      const selection = select(active, options.channel, () =>
        appChoice(paths, record.project, notice.instance, noteOnce),
      );
      if ('reason' in selection) {
        if (selection.reason === 'not_configured') {
          noteOnce(
            `no channel is configured: set telegram_bot_token and telegram_chat_id, or discord_webhook, in ${paths.config}`,
          );
        }
        return [
          { ...headOf(notice, null), result: 'skipped', messages: 0, reason: selection.reason },
        ];
      }
      return Promise.all(selection.channels.map((name) => announceOn(name, notice)));
    },
  };
}

function openChannels(
  settings: NotifySettings,
  line: { env: Io['env']; redact(text: string): string },
): Channel[] {
  return [
    ...(settings.telegram ? [telegram(settings.telegram, settings.template, line)] : []),
    ...(settings.discord ? [discord(settings.discord, settings.template, line)] : []),
  ];
}

/** The token and the webhook, and those parts of them that are secret by themselves. */
function secretsOf({ telegram: bot, discord: hook }: NotifySettings): Secret[] {
  const token = bot?.botToken.reveal() ?? '';
  const webhook = hook?.webhook.reveal() ?? '';
  const path = webhook === '' ? '' : new URL(executionAddress(webhook)).pathname;
  const parts = [token, token.replace(/^.*:/, ''), webhook, path.replace(/^.*\//, '')];
  return parts.filter((part) => part !== '').map((part) => new Secret(part));
}

function headOf(notice: Notice, channel: ChannelName | null) {
  return {
    event_type: notice.eventType,
    project: notice.project,
    instance: notice.instance,
    version: notice.version,
    deploy_id: notice.deployId,
    channel,
  };
}

function resultOf(channel: ChannelName, notice: Notice, ending: Ending): Result {
  const { failure, messages, degraded, movedTo } = ending;
  const given = failure?.class === 'retry' || failure?.class === 'wait';
  const { hint, ...problem } = failure?.problem ?? {};
  return {
    ...headOf(notice, channel),
    result: failure ? (given ? 'failed' : 'rejected') : 'delivered',
    messages,
    ...(degraded && { degraded }),
    ...(movedTo && { moved_to: movedTo }),
    ...problem,
    ...(hint && { hint }),
  };
}
