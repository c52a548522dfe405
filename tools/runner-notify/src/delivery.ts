/** Announces records: which channels, what is queued, and what came of it within the time to wait. */

import type { EventType } from '@runner/common/audit/events';
import type { ChannelName } from '@runner/common/config/settings';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { appChoice } from './app-choice.ts';
import type { Complaint, Problem } from './channels/channel.ts';
import type { Clock } from './clock.ts';
import type { Notice } from './notice.ts';
import { openChannels } from './opening.ts';
import type { Announceable } from './records.ts';
import { type SkipReason, select } from './selection.ts';
import type { Carried } from './spool/carried.ts';
import { type Carrier, carrierFor } from './spool/carrier.ts';
import { newEntry } from './spool/entry.ts';
import { openSpool } from './spool/spool.ts';

/** What `--channel` said; undefined leaves it to app and configuration. */
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
  /**
   * `queued`: it waits in the spool for another try; `rejected`: it will never be taken and was
   * put aside; `failed`: it could not be queued, and is lost.
   */
  readonly result: 'delivered' | 'queued' | 'rejected' | 'failed' | 'skipped' | 'dry_run';
  /** How many messages were delivered. */
  readonly messages: number;
  /** What `runner notify queue` calls it, when it is queued or put aside. */
  readonly queue_id?: string;
  /** A message may have been delivered twice: no answer to the first was seen. */
  readonly maybe_duplicate?: true;
  /** Of a skipped record. */
  readonly reason?: SkipReason;
  /** What was refused in the message as it was; it arrived as plain text or shortened. */
  readonly degraded?: Complaint;
  /** The group's id since it became a supergroup. */
  readonly moved_to?: string;
  readonly method?: string;
  readonly http_status?: number | null;
  readonly code?: number | string;
  readonly description?: string;
  readonly retryable?: boolean;
  readonly hint?: string;
  /** Of a dry run: what would be sent. */
  readonly payloads?: readonly unknown[];
}

/** Who announces, and how long it waits. */
export interface DeliveryOptions {
  readonly io: Io;
  readonly paths: Paths;
  readonly clock: Clock;
  /** Title of the command, for who reads a lock. */
  readonly title: string;
  readonly channel: ChannelOption;
  /** How long a record is waited for from its arrival, in milliseconds. */
  readonly wait: number;
  /** Nothing is queued or sent. */
  readonly dryRun: boolean;
  note(text: string): void;
}

/** Announces one record after the other. */
export interface Delivery {
  /**
   * Queues one record for its channels; when the promise of this function is kept, it is on disk.
   * What it holds are the results, in the order of the channels, as they come. Never throws for a
   * failed delivery.
   */
  announce(record: Announceable): Promise<{ readonly results: Promise<Result[]> }>;
  /** Whether a record could not be queued. */
  readonly lostSome: boolean;
}

/** Reads config.yml once. Throws `config_invalid`, `insecure_address` or `file_unreadable`. */
export function openDelivery(options: DeliveryOptions): Delivery {
  const { io, paths, clock, title, note, wait } = options;
  const opened = openChannels({ io, paths, clock, title, note });
  const spool = openSpool(paths);
  const carriers = new Map<ChannelName, Carrier>();
  const told = new Set<string>();
  let lostSome = false;
  const noteOnce = (text: string) => {
    if (!told.has(text)) note(opened.redact(text));
    told.add(text);
  };
  const carrierOf = (name: ChannelName): Carrier => {
    const found = carriers.get(name) ?? carrierFor({ ...options, opened, spool, name });
    carriers.set(name, found);
    return found;
  };

  async function carry(name: ChannelName, notice: Notice, record: Announceable): Promise<Result> {
    const event = { ...record.fields, deploy_id: notice.deployId };
    const entry = newEntry(name, event, new Date(clock.now()), opened.redact);
    const carried = await carrierOf(name).carry(entry, wait, (error) => {
      lostSome = true;
      note(`${name}: ${notice.eventType} of ${notice.project} cannot be queued: ${error.message}`);
    });
    tell(name, notice, carried);
    return { ...headOf(notice, name), ...resultOf(carried) };
  }

  function tell(name: ChannelName, notice: Notice, carried: Carried): void {
    const { result, problem, untried, degraded, asked } = carried;
    if (degraded === 'markup' && result === 'delivered')
      note(`${name}: the markup was refused, the message was sent as plain text`);
    if (result === 'delivered') return;
    const why = problem ? wordsOf(problem, asked) : untried;
    const later = result === 'queued' ? ' yet, it stays queued' : '';
    note(`${name}: ${notice.eventType} of ${notice.project} was not delivered${later}: ${why}`);
  }

  return {
    get lostSome() {
      return lostSome;
    },
    async announce(record) {
      const notice = await opened.noticeOf(record);
      const selection = select(opened.active, options.channel, () =>
        appChoice(paths, record.project, notice.instance, noteOnce),
      );
      if ('reason' in selection) {
        if (selection.reason === 'not_configured') noteOnce(opened.whyInactive());
        const { reason } = selection;
        const skipped = {
          ...headOf(notice, null),
          result: 'skipped',
          messages: 0,
          reason,
        } as const;
        return { results: Promise.resolve([skipped]) };
      }
      if (options.dryRun) {
        const results = selection.channels.map((name): Result => {
          const payloads = opened.render(name, notice).map(({ payload }) => payload);
          return { ...headOf(notice, name), result: 'dry_run', messages: 0, payloads };
        });
        return { results: Promise.resolve(results) };
      }
      return {
        results: Promise.all(selection.channels.map((name) => carry(name, notice, record))),
      };
    },
  };
}

/** A problem for people: `Bad Request: chat not found (400); check …`; `asked` is a wait in milliseconds. */
function wordsOf({ description, code, hint }: Problem, asked: number | undefined): string {
  const told = [
    ...(description.includes(String(code)) ? [] : [code]),
    ...(asked === undefined ? [] : [`asks to wait ${Math.ceil(asked / 1000)} s`]),
  ].join(', ');
  return `${description}${told && ` (${told})`}${hint ? `; ${hint}` : ''}`;
}

/** The fields of a result that name the event. */
export function headOf(notice: Notice, channel: ChannelName | null) {
  return {
    event_type: notice.eventType,
    project: notice.project,
    instance: notice.instance,
    version: notice.version,
    deploy_id: notice.deployId,
    channel,
  };
}

/** The fields of a result that tell what came of it. */
export function resultOf(carried: Carried): Omit<Result, keyof ReturnType<typeof headOf>> {
  const { result, id, entry, problem, untried, degraded, movedTo } = carried;
  const { hint, ...fields } = result === 'delivered' ? ({} as Partial<Problem>) : (problem ?? {});
  return {
    result,
    messages: entry.sent,
    ...(id !== undefined && { queue_id: id }),
    ...(entry.maybe_duplicate && { maybe_duplicate: true as const }),
    ...(degraded && { degraded }),
    ...(movedTo && { moved_to: movedTo }),
    ...(untried && { description: untried }),
    ...fields,
    ...(hint && { hint }),
  };
}
