/** The channels that config.yml describes, opened, each with what its spool and its courier need. */

import { editConfig } from '@runner/common/config/edit';
import { readConfig } from '@runner/common/config/file';
import { type ChannelName, notifySettingsOf } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { configExposure } from '@runner/common/guards/exposure';
import { redactor } from '@runner/common/secrets/secret';
import type { Channel, Message } from './channels/channel.ts';
import { SERVICES } from './channels/services.ts';
import { WORDS } from './channels/words.ts';
import type { Clock } from './clock.ts';
import { type Courier, courierFor } from './courier.ts';
import { destinationDigest, secretsOf } from './credentials.ts';
import { whyInactive } from './inactive.ts';
import { type Notice, noticeOf } from './notice.ts';
import { type Announceable, announceableOf } from './records.ts';
import { activeChannels } from './selection.ts';
import { openDestination } from './spool/destination.ts';
import type { Entry } from './spool/entry.ts';
import type { EntryName } from './spool/names.ts';
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
  /** Why no channel is active. */
  whyInactive(): string;
  /** Saves the new id of a destination that has moved: a group that has become a supergroup. */
  saveMove(name: ChannelName, id: string): void;
}

/** Who opens the channels. */
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
  const config = readConfig(paths);
  const settings = notifySettingsOf(config, io.env);
  const exposed = configExposure(paths);
  if (exposed) note(exposed);
  const redact = redactor(secretsOf(settings));
  const line = { env: io.env, redact };
  const channels = new Map<ChannelName, Channel | undefined>();
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
        random: io.random,
        baseline: async (app) =>
          (await import('@runner/extract/baseline-file')).readBaseline(paths, app),
      }),
    render: (name, notice) =>
      channelAt(name).render(notice, (text) => noteOnce(`${name}: ${text}`)),
    courier(name, spool, unsaved) {
      const channel = channelAt(name);
      const destination = openDestination({
        paths,
        channel: name,
        digest: destinationDigest(settings, name),
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
    whyInactive: () => whyInactive(config, settings),
    saveMove(name, id) {
      const { movingKey: key } = WORDS[name];
      if (key === undefined) return;
      const what = `${name}: the group has become a supergroup`;
      try {
        // Somebody may have set another chat meanwhile.
        const now = notifySettingsOf(readConfig(paths), io.env);
        if (destinationDigest(now, name) !== destinationDigest(settings, name)) return;
        editConfig(paths, io, title, [{ path: ['notify', key], value: id }]);
        noteOnce(`${what}: ${key} is now ${id}`);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        noteOnce(`${what}: set ${key} to ${id} (${error.message})`);
      }
    },
  };
  const channelAt = (name: ChannelName): Channel => {
    const channel = channels.get(name) ?? SERVICES[name].open(settings, line);
    channels.set(name, channel);
    return channel as Channel;
  };
  return opened;
}
