/** Announces records: chooses channels, queues messages, and waits for their delivery up to a time limit. */
import { isStateEvent } from '@runner/common/audit/events';
import { textOf } from '@runner/common/audit/record';
import type { Context } from '@runner/common/cli/command';
import { CHANNEL_NAMES, type DestinationName } from '@runner/common/config/channels';
import { commitMessage } from '../channels/code-host/message.ts';
import type { NoticeSubject } from '../message/notice.ts';
import { type Announceable, chunksOf, linesOf, PLACE, withoutSecrets } from '../message/records.ts';
import { newEntry, storedEvent } from '../spool/entry.ts';
import { OpenChannels, type OpenOptions } from './channels.ts';
import { type EntryResult, headOf, problemText, resultOf, type SendResult } from './result.ts';
import { appChoice, type SkipReason, select } from './selection.ts';
import { Sender } from './sender.ts';

export interface AnnounceOptions extends OpenOptions {
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

export interface Announcer {
  /**
   * Queues the record before it returns. The promise resolves to one result per channel, and is not
   * rejected if a delivery fails.
   */
  announce(record: Announceable): Promise<readonly SendResult[]>;
  /** Whether a record could not be queued. */
  readonly lostSome: boolean;
}

/** Reads config.yml once. Throws `config_invalid`, `insecure_address` or `file_unreadable`. */
export function openAnnouncer(options: AnnounceOptions): Announcer {
  const opened = new OpenChannels(options);
  const senders = new Map<DestinationName, Sender>();
  let lostSome = false;
  const senderTo = (name: DestinationName): Sender => {
    const found = senders.get(name) ?? new Sender(opened, name);
    senders.set(name, found);
    return found;
  };
  return {
    get lostSome() {
      return lostSome;
    },
    async announce(record) {
      const subject = opened.subjectOf(record);
      const found = destinationsOf(opened, record, subject, options);
      if (!Array.isArray(found))
        return [{ ...headOf(subject, null), result: 'skipped', messages: 0, reason: found }];
      if (options.dryRun) {
        const fields = { ...record.fields, deploy_id: subject.deployId };
        const dry = async (name: DestinationName): Promise<SendResult> => {
          const messages = await opened.messagesOf(name, { ...record, fields });
          const payloads = messages.map(({ payload }) => payload);
          return { ...headOf(subject, name), result: 'dry_run', messages: 0, payloads };
        };
        return Promise.all(found.map(dry));
      }
      const event = storedEvent({ ...record.fields, deploy_id: subject.deployId }, opened.redact);
      const place = options.once ? textOf(event, PLACE) || null : null;
      const deliveries = found.map(async (name): Promise<SendResult> => {
        const what = `${name}: ${subject.eventType} of ${subject.project}`;
        const entry = newEntry(name, event, new Date(opened.clock.now()), place);
        const { failure, delivery } = senderTo(name).deliver(entry, options.wait);
        if (failure) {
          lostSome = true;
          options.note(`${what} cannot be queued: ${failure.message}`);
        }
        const done = await delivery;
        if (done.result !== 'delivered') options.note(`${what} was not delivered${whyNot(done)}`);
        else if (done.degraded === 'markup')
          options.note(`${name}: the markup was refused, the message was sent as plain text`);
        return resultOf(subject, name, done);
      });
      return Promise.all(deliveries);
    },
  };
}

/** Where a record is announced, or why it is not. */
function destinationsOf(
  opened: OpenChannels,
  record: Announceable,
  { eventType, instance }: NoticeSubject,
  { paths, channel, showAll }: AnnounceOptions,
): DestinationName[] | SkipReason {
  if (eventType !== 'Digest' && isStateEvent(eventType) && !opened.settings.events)
    return 'events_off';
  const active = showAll && opened.active.length === 0 ? CHANNEL_NAMES : opened.active;
  const isMeant = opened.isActive('code-host') && !channel?.split(',').includes('none');
  const status = isMeant && commitMessage(record) !== undefined ? (['code-host'] as const) : [];
  if (channel === 'code-host') return status.length > 0 ? [...status] : 'channel_not_active';
  const selection = select(active, channel, () =>
    appChoice(paths, record.project, instance, opened.noteOnce),
  );
  for (const name of selection.inactive ?? []) opened.noteOnce(opened.whyInactive([name]));
  if (!selection.reason || status.length > 0) return [...selection.channels, ...status];
  if (selection.reason === 'not_configured') opened.noteOnce(opened.whyInactive());
  return selection.reason;
}

/** ` yet, it stays queued: Bad Request (400, asks to wait 3 s); check …`. */
function whyNot({ result, entry, untried, asked }: EntryResult): string {
  const later = result === 'queued' ? ' yet, it stays queued' : '';
  if (!entry.problem) return `${later}: ${untried}`;
  return `${later}: ${problemText(entry.problem, asked)}`;
}

export interface Announced {
  readonly results: readonly SendResult['result'][];
  /** Every line was a record, and none was lost. */
  readonly sound: boolean;
}

/**
 * Announces the records on standard input as they arrive, and prints one result per record and
 * channel. Throws `config_invalid` at the first record.
 */
export async function announceAll(
  context: Pick<Context, 'io' | 'paths' | 'title' | 'note' | 'print'>,
  options: Pick<AnnounceOptions, 'wait' | 'channel' | 'dryRun' | 'once'>,
): Promise<Announced> {
  const { io, paths, title, note } = context;
  const results: SendResult['result'][] = [];
  let announcer: Announcer | undefined;
  let broken = false;
  // Results are printed in the order of the records, whichever channel is faster.
  let printed: Promise<void> = Promise.resolve();
  const clean = withoutSecrets(context);
  for await (const line of linesOf(chunksOf(io.stdin))) {
    if ('problem' in line) {
      note(`line ${line.number}: ${line.problem}`);
      broken = true;
      continue;
    }
    // Opened late: without a record an invalid config.yml does not matter.
    announcer ??= openAnnouncer({ io, paths, title, note, ...options });
    const record = await clean(line.record);
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
  return { results, sound: !broken && !announcer?.lostSome };
}
