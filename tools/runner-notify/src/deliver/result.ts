/** The result of one record on one channel, as an object and as a line of text. */
import type { Style } from '@runner/common/cli/output';
import type { DestinationName } from '@runner/common/config/channels';
import { harmlessLine } from '@runner/common/text/harmless';
import type { NoticeSubject } from '../message/notice.ts';
import type { Complaint, ServiceProblem } from '../service/contract.ts';
import type { QueueEntry } from '../spool/entry.ts';

/** Why no channel announces an event. */
export type SkipReason =
  | 'not_configured'
  | 'channel_not_active'
  | 'app_without_notify'
  | 'no_notify'
  | 'events_off';

/** What `runner notify send --json` prints. */
export interface SendResult extends ReturnType<typeof headOf>, Partial<ServiceProblem> {
  /**
   * `queued`: it waits in the spool for another attempt; `rejected`: the service never accepts it, and
   * it was put aside; `failed`: it could not be queued, and is lost.
   */
  readonly result: 'delivered' | 'queued' | 'rejected' | 'failed' | 'skipped' | 'dry_run';
  /** How many messages were delivered. */
  readonly messages: number;
  /** Its id in `runner notify queue`, if it is queued or given up. */
  readonly queue_id?: string;
  /** A message may have been delivered twice: the first attempt got no answer. */
  readonly maybe_duplicate?: true;
  /** Of a skipped record. */
  readonly reason?: SkipReason;
  /** The service refused the message as it was; it arrived as plain text or shortened. */
  readonly degraded?: Complaint;
  /** The new id of a group that became a supergroup. */
  readonly moved_to?: string;
  /** Of a dry run. */
  readonly payloads?: readonly unknown[];
}

/** What became of an entry that left the queue, or whose time is over; the problem is the entry's. */
export interface EntryResult {
  /** `failed`: it could not be queued, and the direct attempt failed. */
  readonly result: 'delivered' | 'queued' | 'rejected' | 'failed';
  readonly entry: QueueEntry;
  /** When it is in the spool. */
  readonly id?: string | undefined;
  /** Why it was not attempted. */
  readonly untried?: string | undefined;
  /** Milliseconds for which the service asks to be left alone. */
  readonly asked?: number | undefined;
  /** The service refused the original form; the message was sent as plain text or shortened. */
  readonly degraded?: Complaint | undefined;
  /** The new id of the destination. */
  readonly movedTo?: string | undefined;
}

/** `Bad Request (400, asks to wait 3 s); check …`; `asked` in milliseconds. */
export function problemText({ description, code, hint }: ServiceProblem, asked?: number): string {
  const details = [
    ...(description.includes(String(code)) ? [] : [code]),
    ...(asked === undefined ? [] : [`asks to wait ${Math.ceil(asked / 1000)} s`]),
  ].join(', ');
  return `${description}${details && ` (${details})`}${hint ? `; ${hint}` : ''}`;
}

/** The fields of a result that name the event; `channel` is null when none announces it. */
export function headOf(subject: NoticeSubject, channel: DestinationName | null) {
  return {
    event_type: subject.eventType,
    project: subject.project,
    /** The same under their other names. */
    event: subject.eventType,
    app: subject.project,
    instance: subject.instance,
    version: subject.version,
    deploy_id: subject.deployId,
    channel,
  };
}

export function resultOf(
  subject: NoticeSubject,
  channel: DestinationName,
  delivery: EntryResult,
): SendResult {
  const { result, id, entry, untried, degraded, movedTo } = delivery;
  return {
    ...headOf(subject, channel),
    result,
    messages: entry.sent,
    ...(id !== undefined && { queue_id: id }),
    ...(entry.maybe_duplicate && { maybe_duplicate: true as const }),
    ...(degraded && { degraded }),
    ...(movedTo && { moved_to: movedTo }),
    ...(untried && { description: untried }),
    ...(result !== 'delivered' && entry.problem),
  };
}

const COLOURS = {
  delivered: 'green',
  queued: 'yellow',
  skipped: 'dim',
  dry_run: 'cyan',
  failed: 'red',
  rejected: 'red',
} as const;

/** `delivered  telegram  DeployStarted shop v1 [a1b2c3d4], 1 message`; a dry run adds its payloads. */
export function resultLine(result: SendResult, style: Style): string {
  const { event_type, project, version, deploy_id } = result;
  const word = result.result === 'dry_run' ? 'would send' : result.result;
  const outcome = style[COLOURS[result.result]](word.padEnd(9));
  const what = harmlessLine(`${event_type} ${project} ${version} [${deploy_id}]`);
  const line = `${outcome}  ${(result.channel ?? '-').padEnd(8)}  ${what}, ${endOf(result)}\n`;
  const payloads = (result.payloads ?? []).map(
    (payload) => `${harmlessLine(JSON.stringify(payload))}\n`,
  );
  return line + payloads.join('');
}

function endOf({ result, messages, payloads, reason, description, maybe_duplicate }: SendResult) {
  const count = payloads?.length ?? messages;
  if (result === 'delivered' || result === 'dry_run') {
    const twice = maybe_duplicate ? ', maybe twice' : '';
    return `${count} ${count === 1 ? 'message' : 'messages'}${twice}`;
  }
  return reason ?? harmlessLine(description ?? 'for an unknown reason');
}
