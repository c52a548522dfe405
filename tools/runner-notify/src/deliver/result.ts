/** The result of one record on one channel, as an object and as a line of text. */
import type { Style } from '@runner/common/cli/output';
import type { DestinationName } from '@runner/common/config/channels';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Subject } from '../message/notice.ts';
import type { MessageKind } from '../message/records.ts';
import type { Complaint, Problem } from '../service/contract.ts';
import type { Entry } from '../spool/entry.ts';
import { idOf } from '../spool/names.ts';
import type { EntryEnding } from './deliver.ts';
import type { SkipReason } from './selection.ts';

/** What `runner notify send --json` prints. */
export interface Result {
  readonly event_type: MessageKind;
  readonly project: string;
  readonly instance: string;
  readonly version: string;
  readonly deploy_id: string;
  /** null when no channel announces the event. */
  readonly channel: DestinationName | null;
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
  readonly method?: string;
  readonly http_status?: number | null;
  readonly code?: number | string;
  readonly description?: string;
  readonly retryable?: boolean;
  readonly hint?: string;
  /** Of a dry run. */
  readonly payloads?: readonly unknown[];
}

/** The result of an entry within its time limit. */
export interface Delivery {
  /** `failed`: it could not be queued, and the direct attempt failed. */
  readonly result: 'delivered' | 'queued' | 'rejected' | 'failed';
  readonly entry: Entry;
  /** When it is in the spool. */
  readonly id?: string | undefined;
  readonly problem?: Problem | undefined;
  /** Why it was not attempted. */
  readonly untried?: string | undefined;
  /** Milliseconds for which the service asks to be left alone. */
  readonly asked?: number | undefined;
  readonly degraded?: Complaint | undefined;
  readonly movedTo?: string | undefined;
}

/** The delivery of an entry that left the queue. */
export function deliveryOf({ name, result, entry, degraded, movedTo }: EntryEnding): Delivery {
  const problem = entry.problem ?? undefined;
  return result === 'delivered'
    ? { result, entry, problem, degraded, movedTo }
    : { result: 'rejected', entry, id: idOf(name), problem, degraded, movedTo };
}

/** The fields of a result that name the event. */
export function headOf(subject: Subject, channel: DestinationName | null) {
  return {
    event_type: subject.eventType,
    project: subject.project,
    instance: subject.instance,
    version: subject.version,
    deploy_id: subject.deployId,
    channel,
  };
}

/** The whole result of a delivery. */
export function resultOf(subject: Subject, channel: DestinationName, delivery: Delivery): Result {
  const { result, id, entry, problem, untried, degraded, movedTo } = delivery;
  const { hint, ...fields } = result === 'delivered' ? ({} as Partial<Problem>) : (problem ?? {});
  return {
    ...headOf(subject, channel),
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

const COLOURS = {
  delivered: 'green',
  queued: 'yellow',
  skipped: 'dim',
  dry_run: 'cyan',
  failed: 'red',
  rejected: 'red',
} as const;

/** `delivered  telegram  DeployStarted shop v1 [a1b2c3d4], 1 message`; a dry run adds its payloads. */
export function resultLine(result: Result, style: Style): string {
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

function endOf({ result, messages, payloads, reason, description, maybe_duplicate }: Result) {
  const count = payloads?.length ?? messages;
  if (result === 'delivered' || result === 'dry_run') {
    const twice = maybe_duplicate ? ', maybe twice' : '';
    return `${count} ${count === 1 ? 'message' : 'messages'}${twice}`;
  }
  return reason ?? harmlessLine(description ?? 'for an unknown reason');
}
