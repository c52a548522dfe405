/** The channels that config.yml describes, opened, each with what its spool and its courier need. */

import { readConfig } from '@runner/common/config';
import { editConfig } from '@runner/common/config-edit';
import { Failure } from '@runner/common/failure';
import type { Io } from '@runner/common/io';
import type { Paths } from '@runner/common/paths';
import { digestOf, redactor, Secret } from '@runner/common/secret';
import { type ChannelName, type NotifySettings, notifySettingsOf } from '@runner/common/settings';
import type { Channel, Message } from './channels/channel.ts';
import { discord } from './channels/discord/discord.ts';
import { telegram } from './channels/telegram/telegram.ts';
import type { Clock } from './clock.ts';
import { type Courier, courierFor } from './courier.ts';
import { secretsOf } from './credentials.ts';
import { type Notice, noticeOf } from './notice.ts';
import { type Announceable, announceableOf } from './records.ts';
import { activeChannels } from './selection.ts';
import { openDestination } from './spool/destination.ts';
import type { Entry, EntryName } from './spool/entry.ts';
import type { Spool } from './spool/spool.ts';

/** Section `notify`, ready to be announced with. */
export interface Opened {
  /** Channels whose credentials are set and that the global `notify.channel` includes. */
  readonly active: readonly ChannelName[];
  redact(text: string): string;
  noticeOf(record: Announceable): Promise<Notice>;
  /** The messages of a notice on one of the active channels. */
  render(name: ChannelName, notice: Notice): Message[];
  /** `unsaved`: see courierFor. */
  courier(name: ChannelName, spool: Spool, unsaved: Map<EntryName, Entry>): Courier;
  /** Saves the id of the supergroup that the group has become. */
  saveMove(chatId: string): void;
}

export interface OpeningOptions {
  readonly io: Io;
  readonly paths: Paths;
  readonly clock: Clock;
  /** Title of the command, for who reads a lock. */
  readonly title: string;
  note(text: string): void;
}

/** Reads config.yml once. Throws `config_invalid`, `insecure_address` or `file_unreadable`. */
export function openChannels({ io, paths, clock, title, note }: OpeningOptions): Opened {
  const settings = notifySettingsOf(readConfig(paths), io.env);
  const redact = redactor(secretsOf(settings));
  const channels = new Map(
    channelsOf(settings, { env: io.env, redact }).map((channel) => [channel.name, channel]),
  );
  const told = new Set<string>();
  const noteOnce = (text: string) => {
    if (!told.has(text)) note(redact(text));
    told.add(text);
  };
  const opened: Opened = {
    active: activeChannels(settings),
    redact,
    noticeOf: (record) =>
      noticeOf(record, {
        redact,
        verboseErrors: settings.verboseErrors,
        random: (count) => io.random(count),
      }),
    render: (name, notice) =>
      channelAt(name).render(notice, (text) => noteOnce(`${name}: ${text}`)),
    courier(name, spool, unsaved) {
      const channel = channelAt(name);
      const destination = openDestination({
        paths,
        channel: name,
        digest: digestOf(new Secret(credentialsOf(settings, name))),
        rates: channel.rates,
        now: clock.now,
        note: noteOnce,
      });
      const render = async (entry: Entry) => {
        const record = announceableOf(entry.event);
        if (record === undefined || typeof record === 'string') return [];
        return opened.render(name, await opened.noticeOf(record));
      };
      return courierFor({ spool, channel, destination, clock, render, note: noteOnce }, unsaved);
    },
    saveMove(chatId) {
      const was = settings.telegram?.chatId;
      try {
        // Somebody may have set another chat meanwhile.
        if (notifySettingsOf(readConfig(paths), io.env).telegram?.chatId !== was) return;
        const path = ['notify', 'telegram_chat_id'];
        editConfig(paths, io, title, [{ path, value: chatId }]);
        noteOnce(`telegram: the group has become a supergroup: telegram_chat_id is now ${chatId}`);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        noteOnce(
          `telegram: the group has become a supergroup: set telegram_chat_id to ${chatId} (${error.message})`,
        );
      }
    },
  };
  const channelAt = (name: ChannelName): Channel => channels.get(name) as Channel;
  return opened;
}

function channelsOf(
  settings: NotifySettings,
  line: { env: Io['env']; redact(text: string): string },
): Channel[] {
  return [
    ...(settings.telegram ? [telegram(settings.telegram, settings.template, line)] : []),
    ...(settings.discord ? [discord(settings.discord, settings.template, line)] : []),
  ];
}

/** What makes a destination another one. Only its digest is kept. */
function credentialsOf({ telegram: bot, discord: hook }: NotifySettings, name: ChannelName) {
  if (name === 'discord') return hook?.webhook.reveal() ?? '';
  return [bot?.botToken.reveal(), bot?.chatId, bot?.apiUrl].join('\n');
}
