/** The end of a deploy that was killed, or of a watch, whose app is removed: no later command can record it. */
import type { AppState } from '@runner/common/apps/state';
import { completeEvent } from '@runner/common/audit/complete';
import { kindOf } from '@runner/common/audit/record';
import { eventsOfDeploy } from '@runner/common/audit/scan';
import type { Server } from '@runner/common/foundation/paths';
import { initiatorOf } from '@runner/common/foundation/user';
import { redactor } from '@runner/common/secrets/redactor';
import { recordAnyway } from '../journal/events.ts';
import { recordedEnd, watchRecords } from '../journal/watch-ending.ts';

type UnfinishedRequest = Server & { note(text: string): void };

/** Records that no one will judge the release that is watched. */
export function recordUnwatched({ io, paths, note }: UnfinishedRequest, app: AppState): void {
  const { watch } = app;
  if (!watch || recordedEnd(paths, watch) !== undefined) return;
  const trigger = 'manual';
  const op = { io, app, redact: redactor(), trigger, user: initiatorOf(io, trigger) };
  const end = { verdict: 'not_judged' as const, reason: 'ended early by a removal' };
  recordAnyway({ paths, reporter: { note } }, watchRecords(op, watch, end));
}

/** Records that it failed, if its start is in the log and its end is not. Not announced. */
export function recordUnfinished(
  { io, paths, note }: UnfinishedRequest,
  { app, deploying }: AppState,
): void {
  if (!deploying) return;
  const { deploy_id, commit, version, stage, instance: names } = deploying;
  const kinds = eventsOfDeploy(paths, deploy_id).map(kindOf);
  if (!kinds.includes('DeployStarted') || kinds.some((kind) => kind !== 'DeployStarted')) return;
  const instances = names.split(',');
  const end = {
    event_type: 'DeployFailure',
    timestamp: io.now().toISOString(),
    project: app,
    version,
    deploy_id,
    commit,
    trigger: 'recovery',
    stage,
    error: `deploy interrupted during ${stage}, and ${app} was removed`,
    interrupted: true,
    instances,
  };
  recordAnyway(
    { paths, reporter: { note } },
    instances.map((instance) => completeEvent({ ...end, instance }, io)),
  );
}
