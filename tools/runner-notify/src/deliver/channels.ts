/** The channels in config.yml, ready to deliver. */

import type { Context } from '@runner/common/cli/command';
import type { ChannelName, DestinationName } from '@runner/common/config/channels';
import { editConfig } from '@runner/common/config/edit';
import { isTelemetry } from '@runner/common/config/telemetry-schema';
import { failureIn } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { configExposure } from '@runner/common/guards/exposure';
import { commitMessage } from '../channels/code-host/message.ts';
import { Configured } from '../channels/configured.ts';
import { CHANNELS } from '../channels/index.ts';
import { telemetryMessage } from '../channels/telemetry/telemetry.ts';
import { type Notice, type NoticeSubject, noticeOf, subjectOf } from '../message/notice.ts';
import { type Announceable, announceableOf } from '../message/records.ts';
import type { Channel, Message } from '../service/contract.ts';
import { lockChannel, Spool } from '../spool/spool.ts';
import { type Clock, clockOf } from './clock.ts';
import { Destination } from './destination.ts';
import type { Outlet } from './loop.ts';
import { Queue } from './queue.ts';

/** How many notices are kept: the channels are seldom further apart. */
const NOTICES_MAX = 16;

/** The command, whose title is shown to other processes that wait for its lock; by default the clock of the machine. */
export type OpenOptions = Pick<Context, 'io' | 'paths' | 'title' | 'note'> & {
  readonly clock?: Clock;
};

/** Reads config.yml once. */
export class OpenChannels extends Configured {
  readonly options: OpenOptions;
  readonly clock: Clock;
  readonly spool: Spool;
  /** By the record's JSON, the latest last. */
  readonly #notices = new Map<string, Promise<Notice>>();
  readonly #noted = new Set<string>();

  /** Throws `config_invalid`, `insecure_address` or `file_unreadable`. */
  constructor(options: OpenOptions) {
    super(options);
    // Refuses what it cannot read before anything is queued.
    void this.telemetry;
    this.options = options;
    this.clock = options.clock ?? clockOf(options.io);
    this.spool = new Spool(options.paths);
    const exposed = configExposure(options.paths);
    if (exposed) options.note(exposed);
  }

  /** Prints a redacted note, each text only once. */
  readonly noteOnce = (text: string): void => {
    if (!this.#noted.has(text)) this.options.note(this.redact(text));
    this.#noted.add(text);
  };

  subjectOf(record: Announceable): NoticeSubject {
    return subjectOf(record, { redact: this.redact, random: this.options.io.random });
  }

  /** The messages of a record at any destination. */
  async messagesOf(name: DestinationName, record: Announceable): Promise<Message[]> {
    if (isTelemetry(name)) return [telemetryMessage(name, record) ?? []].flat();
    if (name === 'code-host') return [commitMessage(record) ?? []].flat();
    const notice = await this.#noticeOf(record);
    const template = this.settings.template(notice.kind, name);
    const isEdited = this.settings.edit && CHANNELS[name].edits;
    const own = isEdited ? { ...notice, edited: true as const } : notice;
    return CHANNELS[name].messages(own, template, (text) => this.noteOnce(`${name}: ${text}`));
  }

  /** Kept for the other channels of the record: the lines that matter of a long error are found once. */
  #noticeOf(record: Announceable): Promise<Notice> {
    const { paths, io } = this.options;
    const { redact } = this;
    const key = JSON.stringify(record);
    const { verboseErrors } = this.settings;
    const notice =
      this.#notices.get(key) ??
      noticeOf(record, { paths, redact, verboseErrors, random: io.random });
    this.#notices.set(key, notice);
    const [oldest] = this.#notices.keys();
    if (this.#notices.size > NOTICES_MAX && oldest !== undefined) this.#notices.delete(oldest);
    return notice;
  }

  /** The queue of an active channel, and the way to its destination. */
  outletOf(name: DestinationName): Outlet {
    const { spool, options, clock, noteOnce: note } = this;
    const { paths, io } = options;
    const queue = new Queue({ spool, channel: name, clock, note });
    const channel = this.connect(name) as Channel;
    let isTidy = false;
    return {
      queue,
      channel,
      clock,
      lock: () => {
        try {
          return lockChannel(options, name);
        } catch (error) {
          // If the disk is full, locking may fail too: send the entries in memory anyway.
          if (error instanceof Failure && queue.unsaved.size > 0) return { release: () => {} };
          throw error;
        }
      },
      open: () => {
        if (!isTidy) spool.tidy(name, io.now());
        isTidy = true;
        const digest = this.digest(name);
        const { rates } = channel;
        return new Destination({ paths, channel: name, digest, rates, clock, note });
      },
      render: async ({ event }) => {
        const record = announceableOf(event);
        return typeof record === 'object' ? this.messagesOf(name, record) : [];
      },
      moved: (id) => this.#saveMove(name as ChannelName, id),
    };
  }

  /** Saves the new id of a destination that moved: a group that became a supergroup. */
  #saveMove(name: ChannelName, id: string): void {
    const { movingKey: key } = CHANNELS[name];
    if (key === undefined) return;
    const { io, paths, title } = this.options;
    const what = `${name}: the group has become a supergroup`;
    const failure = failureIn(() => {
      // Another chat may have been set in the meantime.
      if (new Configured({ io, paths }).digest(name) !== this.digest(name)) return;
      editConfig({ paths, io, command: title }, [{ path: ['notify', key], value: id }]);
      this.noteOnce(`${what}: ${key} is now ${id}`);
    });
    if (failure) this.noteOnce(`${what}: set ${key} to ${id} (${failure.message})`);
  }
}
