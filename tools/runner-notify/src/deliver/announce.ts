/** Announces records: chooses channels, queues messages, and waits for their delivery up to a time limit. */
import { isStateEvent } from '@runner/common/audit/events';
import { textOf } from '@runner/common/audit/record';
import type { Context } from '@runner/common/cli/command';
import type { DestinationName } from '@runner/common/config/channels';
import { commitMessage } from '../channels/code-host/message.ts';
import { type Announceable, chunksOf, linesOf, PLACE } from '../message/records.ts';
import { newEntry, storedEvent } from '../spool/entry.ts';
import { appChoice } from './app-choice.ts';
import { OpenChannels, type OpenOptions } from './channels.ts';
import { clockOf } from './clock.ts';
import { Deliverer } from './deliverer.ts';
import { type Delivery, headOf, type Result, resultOf } from './result.ts';
import { type Selection, select } from './selection.ts';

export interface AnnounceOptions extends OpenOptions {
  /** `--channel`; undefined: the app and the configuration decide. */
  readonly channel: string | undefined;
  /** How long to wait for the delivery of each record, in milliseconds. */
  readonly wait: number;
  /** Queues and sends nothing. */
  readonly dryRun: boolean;
  /** Sends no record again that was delivered before. */
  readonly once?: boolean;
}

export interface Announcer {
  /**
   * Queues the record before it returns. The promise resolves to one result per channel, and is not
   * rejected if a delivery fails.
   */
  announce(record: Announceable): Promise<readonly Result[]>;
  /** Whether a record could not be queued. */
  readonly lostSome: boolean;
}

/** Reads config.yml once. Throws `config_invalid`, `insecure_address` or `file_unreadable`. */
export function openAnnouncer(options: AnnounceOptions): Announcer {
  const { paths, clock, note, wait } = options;
  const opened = new OpenChannels(options);
  const deliverers = new Map<DestinationName, Deliverer>();
  let lostSome = false;
  const delivererFor = (name: DestinationName): Deliverer => {
    const found = deliverers.get(name) ?? new Deliverer(opened, name);
    deliverers.set(name, found);
    return found;
  };
  return {
    get lostSome() {
      return lostSome;
    },
    async announce(record) {
      const subject = opened.subjectOf(record);
      const { eventType } = subject;
      if (eventType !== 'Digest' && isStateEvent(eventType) && !opened.events)
        return [{ ...headOf(subject, null), result: 'skipped', messages: 0, reason: 'events_off' }];
      const asked = options.channel?.split(',') ?? [];
      const hasStatus =
        opened.commitStatus && !asked.includes('none') && commitMessage(record) !== undefined;
      const status: DestinationName[] = hasStatus ? ['code-host'] : [];
      const selection: Selection =
        options.channel === 'code-host'
          ? { channels: [], reason: 'channel_not_active' }
          : select(opened.active, options.channel, () =>
              appChoice(paths, record.project, subject.instance, opened.noteOnce),
            );
      const destinations = [...selection.channels, ...status];
      if ('reason' in selection && !hasStatus) {
        const { reason } = selection;
        if (reason === 'not_configured') opened.noteOnce(opened.whyInactive());
        return [{ ...headOf(subject, null), result: 'skipped', messages: 0, reason }];
      }
      if (options.dryRun) {
        const notice = await opened.noticeOf(record);
        const dry = async (name: DestinationName): Promise<Result> => {
          const messages = await opened.messagesOf(name, record, async () => notice);
          const payloads = messages.map(({ payload }) => payload);
          return { ...headOf(notice, name), result: 'dry_run', messages: 0, payloads };
        };
        return Promise.all(destinations.map(dry));
      }
      const event = storedEvent({ ...record.fields, deploy_id: subject.deployId }, opened.redact);
      const notice = once(() => opened.noticeOf({ ...record, fields: event }));
      const place = options.once ? textOf(event, PLACE) || null : null;
      const deliveries = destinations.map(async (name): Promise<Result> => {
        const what = `${name}: ${subject.eventType} of ${subject.project}`;
        const entry = newEntry(name, event, new Date(clock.now()), place);
        const stored = { ...record, fields: event };
        const messages = async () => opened.messagesOf(name, stored, notice);
        const { failure, delivery } = delivererFor(name).deliver(entry, wait, once(messages));
        if (failure) {
          lostSome = true;
          note(`${what} cannot be queued: ${failure.message}`);
        }
        const found = await delivery;
        if (found.result !== 'delivered') note(`${what} was not delivered${reasonText(found)}`);
        else if (found.degraded === 'markup')
          note(`${name}: the markup was refused, the message was sent as plain text`);
        return resultOf(subject, name, found);
      });
      return Promise.all(deliveries);
    },
  };
}

/** Calls `work` only once and returns the same promise each time. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let promise: Promise<T> | undefined;
  return () => {
    promise ??= work();
    return promise;
  };
}

/** ` yet, it stays queued: Bad Request (400, asks to wait 3 s); check …`. */
function reasonText({ result, problem, untried, asked }: Delivery): string {
  const later = result === 'queued' ? ' yet, it stays queued' : '';
  if (!problem) return `${later}: ${untried}`;
  const { description, code, hint } = problem;
  const details = [
    ...(description.includes(String(code)) ? [] : [code]),
    ...(asked === undefined ? [] : [`asks to wait ${Math.ceil(asked / 1000)} s`]),
  ].join(', ');
  return `${later}: ${description}${details && ` (${details})`}${hint ? `; ${hint}` : ''}`;
}

export interface Announced {
  readonly results: readonly Result['result'][];
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
  const results: Result['result'][] = [];
  let announcer: Announcer | undefined;
  let broken = false;
  // Results are printed in the order of the records, whichever channel is faster.
  let printed: Promise<void> = Promise.resolve();
  for await (const line of linesOf(chunksOf(io.stdin.fd))) {
    if ('problem' in line) {
      note(`line ${line.number}: ${line.problem}`);
      broken = true;
      continue;
    }
    // Opened late: without a record an invalid config.yml does not matter.
    announcer ??= openAnnouncer({ io, paths, clock: clockOf(io), title, note, ...options });
    printed = Promise.all([announcer.announce(line.record), printed]).then(async ([found]) => {
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
