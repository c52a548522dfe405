/** One instance for people. */

import type { Deployed } from '@runner/common/apps/deployed';
import type { InstanceSummary } from '@runner/common/apps/instance-summary';
import { versionLabel } from '@runner/common/apps/versions';
import type { Usage } from '@runner/common/files/usage';
import { durationText, utcText } from '@runner/common/text/time';
import type { Detailed } from './details.ts';

/** A commit as people name it. */
export function short(commit: string): string {
  return commit.slice(0, 12);
}

function runs({
  current,
  url,
  active_since: since,
  active_by: by,
  running,
  asleep,
  stopped,
  broken,
  restored,
}: InstanceSummary): string[] {
  if (restored)
    return [
      `${restored.version} ran before the restore, and is not deployed here yet`,
      `commit ${short(restored.commit)}`,
    ];
  const why = broken
    ? [`broken since ${utcText(broken.since)}: it could not be started again`, broken.reason]
    : asleep
      ? [`asleep since ${utcText(asleep)}, wakes on request`]
      : running === false
        ? [stopped ? 'stopped' : 'not running']
        : [];
  if (!current) return ['nothing runs', ...why];
  const { version, commit, deploy_id, ref } = current;
  return [
    `${version} since ${utcText(since ?? '')}${by ? ` by ${by}` : ''}`,
    ...(url === null ? [] : [url]),
    ...why,
    ...(ref === undefined ? [] : [`chosen by hand with --ref ${ref}`]),
    `commit ${short(commit)}, deploy ${deploy_id}`,
    ...broughtBy(current),
  ];
}

/** What a deploy brought, the newest first. */
function broughtBy({ changes }: Deployed): string[] {
  if (!changes || changes.subjects.length === 0) return [];
  const { count, subjects, authors } = changes;
  const commits = count === null ? '' : count === 1 ? '1 commit' : `${count} commits`;
  const by = authors.length === 0 ? '' : `by ${authors.join(', ')}`;
  const rest = (count ?? 0) - subjects.length;
  return [
    `${[commits || 'commits', by].filter(Boolean).join(' ')}:`,
    ...subjects.map((subject) => `- ${subject}`),
    ...(rest > 0 ? [`- and ${rest} more`] : []),
  ];
}

/** What an instance with `traffic` runs where. */
function slotLines(
  { instance, live, stopped, draining, before_traffic: old }: InstanceSummary,
  { watch, judging, traffic_hold: hold }: Pick<Detailed, 'watch' | 'judging' | 'traffic_hold'>,
  now: Date,
): string[] {
  const isWarm = Boolean(watch && !watch.cold);
  const isGone = draining?.running === false || judging?.warm_bytes === null;
  const isLate = draining && Date.parse(draining.until) <= now.getTime();
  const after = hold?.instances.includes(instance) ? ' after the hold' : '';
  return [
    ...(live && !stopped ? [`requests go to slot ${live}${after}`] : []),
    ...(draining
      ? [
          isWarm
            ? isGone
              ? `slot ${draining.slot} was kept warm for the watch, but its process has ended: a way back starts it`
              : `slot ${draining.slot} is kept warm while the release is watched`
            : `slot ${draining.slot} is draining${isLate ? '' : `, until ${utcText(draining.until)} at the latest`}`,
        ]
      : []),
    ...(old ? [`${old.version} still runs from before traffic`] : []),
  ];
}

function usageLine({ pid, up_s: seconds, memory }: Usage): string {
  const megabytes = Math.max(1, Math.round(memory / 1_048_576));
  return `process ${pid}, up ${durationText(seconds * 1000)}, ${megabytes} MB`;
}

/** Its name, and what runs in it. */
export function instanceRow(
  each: InstanceSummary,
  { usage: all, ...app }: Pick<Detailed, 'usage' | 'watch' | 'judging' | 'traffic_hold'>,
  now: Date,
): [string, string[]] {
  const { instance, current, previous } = each;
  const used = all[instance];
  const before = previous.map((one) => versionLabel(one, [current, ...previous])).join(', ');
  const usage = used ? [usageLine(used)] : [];
  const rest = before ? [`kept: ${before}`] : [];
  return [`${instance}:`, [...runs(each), ...usage, ...slotLines(each, app, now), ...rest]];
}
