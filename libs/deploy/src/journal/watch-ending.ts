/** How a watch ends in the audit log and in the state of its app, whatever ends it. */
import type { WatchEnd, WatchState, WatchVerdict } from '@runner/common/apps/watch';
import type { DeployEvent } from '@runner/common/audit/events';
import { kindOf } from '@runner/common/audit/record';
import { eventsOfDeploy } from '@runner/common/audit/scan';
import type { Paths } from '@runner/common/foundation/paths';
import { eventsOf } from './events.ts';
import type { Operation } from './operation.ts';

const WATCH_EVENTS = {
  good: 'WatchPassed',
  bad: 'WatchFailed',
  not_judged: 'WatchEnded',
} as const satisfies Record<WatchVerdict, DeployEvent['event_type']>;

export type WatchReason = Pick<WatchEnd, 'verdict' | 'reason'>;

/** The records of the end of a watch, one for each of its instances. */
export function watchRecords(
  op: Pick<Operation, 'io' | 'app' | 'redact' | 'trigger' | 'user'>,
  { commit, version, since, instances, deploy_id: deployId }: WatchState,
  end: WatchReason,
): DeployEvent[] {
  // Of the release that was watched, not of what ends its watch.
  const origin = { ...op, commit, version, deployId, about: {}, approval: {} };
  const duration_ms = Math.max(0, op.io.now().getTime() - Date.parse(since));
  return eventsOf(
    { origin, kind: WATCH_EVENTS[end.verdict], instances },
    { verdict: end.verdict, reason: end.reason, duration_ms },
  );
}

/** How a watch ended, as the log says; the way back may still be due, or the state could not be written. */
export function recordedEnd(paths: Paths, { deploy_id }: WatchState): WatchReason | undefined {
  const kinds: readonly unknown[] = Object.values(WATCH_EVENTS);
  const end = eventsOfDeploy(paths, deploy_id).find((event) => kinds.includes(kindOf(event)));
  return end && { verdict: end.verdict as WatchVerdict, reason: String(end.reason) };
}

/** What the state keeps of it; `at` is the time of its record. */
export function watchEnd(watch: WatchState, end: WatchReason, at: string): WatchEnd {
  const { deploy_id, version, since } = watch;
  return { deploy_id, version, since, at, ...end };
}
