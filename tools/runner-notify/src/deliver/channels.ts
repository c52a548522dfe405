/** The channels that config.yml describes, ready to deliver. */
import { editConfig } from '@runner/common/config/edit';
import { readConfig } from '@runner/common/config/file';
import { type ChannelName, notifySettingsOf } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { configExposure } from '@runner/common/guards/exposure';
import { activeChannels, whyInactive } from '../channels/active.ts';
import { connect, destinationDigest, redactorOf } from '../channels/credentials.ts';
import { CHANNELS } from '../channels/index.ts';
import { type Notice, noticeOf, type Subject, subjectOf } from '../message/notice.ts';
import { type Announceable, announceableOf } from '../message/records.ts';
import type { Channel, Message } from '../service/contract.ts';
import type { Entry } from '../spool/entry.ts';
import type { EntryName } from '../spool/names.ts';
import type { Clock } from './clock.ts';
import { deliver, type Ending, type Patience } from './deliver.ts';
import { openDestination } from './destination.ts';
import type { Queue } from './queue.ts';

/** Section `notify`, ready to be used. */
export interface Opened {
  /** Channels whose credentials are set and that the global `notify.channel` includes. */
  readonly active: readonly ChannelName[];
  /** Whether changes in the state of an app are announced. */
  readonly events: boolean;
  redact(text: string): string;
  /** Redacted, each text once. */
  noteOnce(text: string): void;
  subjectOf(record: Announceable): Subject;
  noticeOf(record: Announceable): Promise<Notice>;
  /** The messages of a notice on an active channel. */
  messages(name: ChannelName, notice: Notice): Message[];
  /** Delivers the queue of an active channel, under its lock; `own`: messages known already. */
  deliver(
    name: ChannelName,
    queue: Queue,
    patience: Patience,
    onEnd: (ending: Ending) => void,
    own?: (name: EntryName) => Promise<readonly Message[]> | undefined,
  ): Promise<void>;
  /** Why no channel is active. */
  whyInactive(): string;
}

/** What channels are opened with. */
export interface OpeningOptions {
  readonly io: Io;
  readonly paths: Paths;
  readonly clock: Clock;
  /** Title of the command, shown by a process that finds a lock taken. */
  readonly title: string;
  note(text: string): void;
}

/** Reads config.yml once. Throws `config_invalid`, `insecure_address` or `file_unreadable`. */
export function openChannels({ io, paths, clock, title, note }: OpeningOptions): Opened {
  const config = readConfig(paths);
  const settings = notifySettingsOf(config, io.env);
  const exposed = configExposure(paths);
  if (exposed) note(exposed);
  const redact = redactorOf(settings);
  const connections = new Map<ChannelName, Channel>();
  const noted = new Set<string>();
  const noteOnce = (text: string) => {
    if (!noted.has(text)) note(redact(text));
    noted.add(text);
  };
  const connectionTo = (name: ChannelName): Channel => {
    const connection = connections.get(name) ?? (connect(name, settings, io.env) as Channel);
    connections.set(name, connection);
    return connection;
  };
  /** Saves the new id of a destination that moved: a group that became a supergroup. */
  const saveMove = (name: ChannelName, id: string) => {
    const { movingKey: key } = CHANNELS[name];
    if (key === undefined) return;
    const what = `${name}: the group has become a supergroup`;
    try {
      // Another chat may have been set in the meantime.
      const now = notifySettingsOf(readConfig(paths), io.env);
      if (destinationDigest(now, name) !== destinationDigest(settings, name)) return;
      editConfig(paths, io, title, [{ path: ['notify', key], value: id }]);
      noteOnce(`${what}: ${key} is now ${id}`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      noteOnce(`${what}: set ${key} to ${id} (${error.message})`);
    }
  };
  const opened: Opened = {
    active: activeChannels(settings),
    events: settings.events,
    redact,
    noteOnce,
    subjectOf: (record) => subjectOf(record, { redact, random: io.random }),
    noticeOf: (record) =>
      noticeOf(record, {
        redact,
        verboseErrors: settings.verboseErrors,
        random: io.random,
        baseline: async (app) =>
          (await import('@runner/extract/baseline-file')).readBaseline(paths, app),
      }),
    messages: (name, notice) =>
      CHANNELS[name].messages(notice, settings.template(notice.kind, name), (text) =>
        noteOnce(`${name}: ${text}`),
      ),
    async deliver(name, queue, patience, onEnd, own) {
      const channel = connectionTo(name);
      // Opened under the lock: it contains what other processes learned.
      const destination = openDestination({
        paths,
        channel: name,
        digest: destinationDigest(settings, name),
        rates: channel.rates,
        now: clock.now,
        note: noteOnce,
      });
      const render = async (entryName: EntryName, { event }: Entry) => {
        const messages = own?.(entryName);
        if (messages) return messages;
        const record = announceableOf(event);
        if (record === undefined || typeof record === 'string') return [];
        return opened.messages(name, await opened.noticeOf(record));
      };
      await deliver({ queue, channel, destination, clock, render }, patience, (ending) => {
        if (ending.movedTo) saveMove(name, ending.movedTo);
        onEnd(ending);
      });
    },
    whyInactive: () => whyInactive(config, settings),
  };
  return opened;
}
