/** The channels in config.yml, ready to deliver. */

import type { ChannelName, DestinationName } from '@runner/common/config/channels';
import { editConfig } from '@runner/common/config/edit';
import { type Config, readConfig } from '@runner/common/config/file';
import { type NotifySettings, notifySettingsOf } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { configExposure } from '@runner/common/guards/exposure';
import { activeChannels, whyInactive } from '../channels/active.ts';
import { codeHostChannel } from '../channels/code-host/code-host.ts';
import { commitMessage } from '../channels/code-host/message.ts';
import { connect, destinationDigest, redactorOf } from '../channels/credentials.ts';
import { CHANNELS } from '../channels/index.ts';
import { type Notice, noticeOf, type Subject, subjectOf } from '../message/notice.ts';
import { type Announceable, announceableOf } from '../message/records.ts';
import type { Channel, Message } from '../service/contract.ts';
import type { Entry } from '../spool/entry.ts';
import type { EntryName } from '../spool/names.ts';
import { Spool } from '../spool/spool.ts';
import type { Clock } from './clock.ts';
import { type DeliveryPolicy, deliver, type EntryEnding } from './deliver.ts';
import { Destination } from './destination.ts';
import { Queue } from './queue.ts';

export interface OpenOptions {
  readonly io: Io;
  readonly paths: Paths;
  readonly clock: Clock;
  /** Title of this command, shown by other processes that wait for its lock. */
  readonly title: string;
  note(text: string): void;
}

/** Reads config.yml once. */
export class OpenChannels {
  /** Channels whose credentials are set and that the global `notify.channel` includes. */
  readonly active: readonly ChannelName[];
  /** Whether the code host gets the result on the commit. */
  readonly commitStatus: boolean;
  /** Whether changes in the state of an app are announced. */
  readonly events: boolean;
  readonly redact: (text: string) => string;
  readonly options: OpenOptions;
  readonly spool: Spool;
  readonly #config: Config;
  readonly #settings: NotifySettings;
  readonly #connections = new Map<DestinationName, Channel>();
  readonly #noted = new Set<string>();

  /** Throws `config_invalid`, `insecure_address` or `file_unreadable`. */
  constructor(options: OpenOptions) {
    this.options = options;
    this.spool = new Spool(options.paths);
    this.#config = readConfig(options.paths);
    this.#settings = notifySettingsOf(this.#config, options.io.env);
    this.active = activeChannels(this.#settings);
    this.commitStatus = this.#settings.commitStatus;
    this.events = this.#settings.events;
    this.redact = redactorOf(this.#settings);
    const exposed = configExposure(options.paths);
    if (exposed) options.note(exposed);
  }

  /** Prints a redacted note, each text only once. */
  readonly noteOnce = (text: string): void => {
    if (!this.#noted.has(text)) this.options.note(this.redact(text));
    this.#noted.add(text);
  };

  /** Why no channel is active. */
  whyInactive(): string {
    return whyInactive(this.#config, this.#settings);
  }

  subjectOf(record: Announceable): Subject {
    return subjectOf(record, { redact: this.redact, random: this.options.io.random });
  }

  noticeOf(record: Announceable): Promise<Notice> {
    const { paths, io } = this.options;
    const { verboseErrors } = this.#settings;
    return noticeOf(record, { paths, redact: this.redact, verboseErrors, random: io.random });
  }

  /** Whether anything is delivered there. */
  isActive(name: DestinationName): boolean {
    return name === 'code-host' ? this.commitStatus : this.active.includes(name);
  }

  queueOf(channel: DestinationName): Queue {
    const { spool, noteOnce: note } = this;
    return new Queue({ spool, channel, clock: this.options.clock, note });
  }

  /** The messages of a record at any destination. */
  async messagesOf(
    name: DestinationName,
    record: Announceable,
    notice: () => Promise<Notice>,
  ): Promise<Message[]> {
    if (name === 'code-host') return [commitMessage(record) ?? []].flat();
    const found = await notice();
    const template = this.#settings.template(found.kind, name);
    const isEdited = this.#settings.edit && CHANNELS[name].edits;
    const own = isEdited ? { ...found, edited: true as const } : found;
    return CHANNELS[name].messages(own, template, (text) => this.noteOnce(`${name}: ${text}`));
  }

  /** Delivers the queue of an active channel, under its lock; `own`: messages known already. */
  async deliver(
    name: DestinationName,
    queue: Queue,
    policy: DeliveryPolicy,
    onEnd: (ending: EntryEnding) => void,
    own?: (name: EntryName) => Promise<readonly Message[]> | undefined,
  ): Promise<void> {
    const { paths, clock } = this.options;
    const channel = this.#connectionTo(name);
    // Opened under the lock, so that it includes what other processes have saved.
    const destination = new Destination({
      paths,
      channel: name,
      digest: destinationDigest(this.#settings, name),
      rates: channel.rates,
      now: clock.now,
      note: this.noteOnce,
    });
    const render = async (entryName: EntryName, { event }: Entry) => {
      const messages = own?.(entryName);
      if (messages) return messages;
      const record = announceableOf(event);
      if (record === undefined || typeof record === 'string') return [];
      return this.messagesOf(name, record, () => this.noticeOf(record));
    };
    await deliver({ queue, channel, destination, clock, render }, policy, (ending) => {
      if (ending.movedTo && name !== 'code-host') this.#saveMove(name, ending.movedTo);
      onEnd(ending);
    });
  }

  #connectionTo(name: DestinationName): Channel {
    const { io, paths } = this.options;
    const made = () =>
      name === 'code-host'
        ? codeHostChannel({ io, paths, redact: this.redact })
        : (connect(name, this.#settings, io.env) as Channel);
    const connection = this.#connections.get(name) ?? made();
    this.#connections.set(name, connection);
    return connection;
  }

  /** Saves the new id of a destination that moved: a group that became a supergroup. */
  #saveMove(name: ChannelName, id: string): void {
    const { movingKey: key } = CHANNELS[name];
    if (key === undefined) return;
    const { io, paths, title } = this.options;
    const what = `${name}: the group has become a supergroup`;
    try {
      // Another chat may have been set in the meantime.
      const now = notifySettingsOf(readConfig(paths), io.env);
      if (destinationDigest(now, name) !== destinationDigest(this.#settings, name)) return;
      editConfig({ io, paths, command: title }, [{ path: ['notify', key], value: id }]);
      this.noteOnce(`${what}: ${key} is now ${id}`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.noteOnce(`${what}: set ${key} to ${id} (${error.message})`);
    }
  }
}
