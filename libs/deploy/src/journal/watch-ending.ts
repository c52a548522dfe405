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

/** Why the log says that a release is bad; its way back may still be due. */
export function recordedReason(paths: Paths, { deploy_id }: WatchState): string | undefined {
  const events = eventsOfDeploy(paths, deploy_id);
  const reason = events.find((event) => kindOf(event) === WATCH_EVENTS.bad)?.reason;
  return reason === undefined ? undefined : String(reason);
}

/** What the state keeps of it; `at` is the time of its record. */
export function watchEnd(watch: WatchState, end: WatchReason, at: string): WatchEnd {
  const { deploy_id, version, since } = watch;
  return { deploy_id, version, since, at, ...end };
}
