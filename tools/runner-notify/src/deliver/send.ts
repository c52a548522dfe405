/** Announces records: chooses channels, queues messages, and waits for their delivery up to a time limit. */
import { textOf } from '@runner/common/audit/record';
import type { Context } from '@runner/common/cli/command';
import type { DestinationName } from '@runner/common/config/channels';
import type { NoticeSubject } from '../message/notice.ts';
import { type Announceable, chunksOf, PLACE, recordsIn } from '../message/records.ts';
import { newEntry, type QueueEntry, storedEvent } from '../spool/entry.ts';
import { OpenChannels, type OpenOptions } from './channels.ts';
import { type EntryResult, headOf, problemText, resultOf, type SendResult } from './result.ts';
import { destinationsOf } from './selection.ts';
import { Sender } from './sender.ts';

export interface AnnounceOptions {
  /** `--channel`; undefined: the app and the configuration decide. */
  readonly channel: string | undefined;
  /** How long to wait for the delivery of each record, in milliseconds. */
  readonly wait: number;
  /** Queues and sends nothing. */
  readonly dryRun: boolean;
  /** Of a dry run: shows the messages of every channel if none is active. */
  readonly showAll?: boolean;
  /** Sends no record again that was delivered before. */
  readonly once?: boolean;
}

/** Reads config.yml once. Throws `config_invalid`, `insecure_address` or `file_unreadable`. */
export class Announcer {
  /** Whether a record could not be queued. */
  lostSome = false;
  readonly #opened: OpenChannels;
  readonly #options: AnnounceOptions;
  readonly #senders = new Map<DestinationName, Sender>();

  constructor(context: OpenOptions, options: AnnounceOptions) {
    this.#opened = new OpenChannels(context);
    this.#options = options;
  }

  /**
   * Queues the record before it returns. The promise resolves to one result per channel, and is not
   * rejected if a delivery fails.
   */
  async announce(record: Announceable): Promise<readonly SendResult[]> {
    const opened = this.#opened;
    const { dryRun, once } = this.#options;
    const subject = opened.subjectOf(record);
    const found = destinationsOf(opened, record, subject.instance, this.#options);
    if (typeof found === 'string')
      return [{ ...headOf(subject, null), result: 'skipped', messages: 0, reason: found }];
    const fields = { ...record.fields, deploy_id: subject.deployId };
    if (dryRun) {
      const dry = async (name: DestinationName): Promise<SendResult> => {
        const messages = await opened.messagesOf(name, { ...record, fields });
        const payloads = messages.map(({ payload }) => payload);
        return { ...headOf(subject, name), result: 'dry_run', messages: 0, payloads };
      };
      return Promise.all(found.map(dry));
    }
    const event = storedEvent(fields, opened.redact);
    const place = once ? textOf(event, PLACE) || null : null;
    return Promise.all(
      found.map(async (name): Promise<SendResult> => {
        const entry = newEntry(name, event, new Date(opened.clock.now()), place);
        return resultOf(subject, name, await this.#deliver(subject, entry));
      }),
    );
  }

  async #deliver({ eventType, project }: NoticeSubject, entry: QueueEntry): Promise<EntryResult> {
    const { note } = this.#opened.options;
    const { channel } = entry;
    const what = `${channel}: ${eventType} of ${project}`;
    const sender = this.#senders.get(channel) ?? new Sender(this.#opened, channel);
    this.#senders.set(channel, sender);
    const { failure, delivery } = sender.deliver(entry, this.#options.wait);
    if (failure) {
      this.lostSome = true;
      note(`${what} cannot be queued: ${failure.message}`);
    }
    const done = await delivery;
    if (done.result !== 'delivered') note(`${what} was not delivered${whyNot(done)}`);
    else if (done.degraded === 'markup')
      note(`${channel}: the markup was refused, the message was sent as plain text`);
    return done;
  }
}

/** ` yet, it stays queued: Bad Request (400, asks to wait 3 s); check …`. */
function whyNot({ result, entry, untried, asked }: EntryResult): string {
  const later = result === 'queued' ? ' yet, it stays queued' : '';
  if (!entry.problem) return `${later}: ${untried}`;
  return `${later}: ${problemText(entry.problem, asked)}`;
}

/**
 * Announces the records on standard input as they arrive, and prints one result per record and
 * channel. `sound`: every line was a record, and none was lost. Throws `config_invalid` at the first record.
 */
export async function announceAll(
  context: OpenOptions & Pick<Context, 'print'>,
  options: AnnounceOptions,
): Promise<{ readonly results: readonly SendResult['result'][]; readonly sound: boolean }> {
  const results: SendResult['result'][] = [];
  let announcer: Announcer | undefined;
  let sound = true;
  // Results are printed in the order of the records, whichever channel is faster.
  let printed: Promise<void> = Promise.resolve();
  const onProblem = () => {
    sound = false;
  };
  for await (const record of recordsIn(context, chunksOf(context.io.stdin), onProblem)) {
    // Opened late: without a record an invalid config.yml does not matter.
    announcer ??= new Announcer(context, options);
    printed = Promise.all([announcer.announce(record), printed]).then(async ([found]) => {
      for (const result of found) {
        results.push(result.result);
        await context.print(result);
      }
    });
    // A rejection surfaces when `printed` is awaited below.
    printed.catch(() => {});
    // Deliveries proceed while lines are read.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await printed;
  return { results, sound: sound && !announcer?.lostSome };
}
