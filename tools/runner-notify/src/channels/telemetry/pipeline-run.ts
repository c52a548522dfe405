/** A deploy or a rollback that has ended, as the services of `telemetry` record it. */

import { instancesOf, millisecondsOf, textOf } from '@runner/common/audit/record';
import { environmentName, RUN, spanIdOf, traceIdOf } from '@runner/common/audit/trace';
import { isObject } from '@runner/common/text/json';
import { cleanText, cutCodePoints } from '@runner/common/text/plain';
import type { Announceable } from '../../message/records.ts';

/** Longest text of an attribute, in code points. */
const TEXT_MAX = 500;

/** A deploy or a rollback that has ended; times are milliseconds since 1970. */
export type PipelineRun = NonNullable<ReturnType<typeof runOf>>;

/** Undefined for a record that ends nothing. */
export function runOf({ kind, project: app, fields }: Announceable) {
  if (!['DeploySuccess', 'DeployFailure', 'RollbackSuccess'].includes(kind)) return undefined;
  const text = (name: string) => cleanText(textOf(fields, name)).trim();
  const line = (name: string) => cutCodePoints(text(name).split('\n')[0] ?? '', TEXT_MAX);
  const [deployId, version] = [text('deploy_id'), line('version')];
  const isBack = kind === 'RollbackSuccess';
  const took = millisecondsOf(fields, 'duration_ms');
  const end = Date.parse(text('timestamp')) || 0;
  // A rollback with a duration is an operation of its own; the others belong to the deploy that failed.
  const isPart = isBack && took === undefined;
  const own = [kind, text('instance'), version, text('from_version')].join(' ');
  const traceId = traceIdOf(app, isBack && !isPart ? `${deployId} ${own}` : deployId);
  const steps = (Array.isArray(fields.steps) ? fields.steps : []).filter(isStep);
  return {
    app,
    version,
    commit: text('commit'),
    deployId,
    action: isBack || text('from_version') !== '' ? 'rollback' : 'deploy',
    result: kind !== 'DeployFailure' ? 'success' : fields.interrupted ? 'cancellation' : 'failure',
    /** Who or what began it. */
    user: line('user') || line('trigger'),
    environments: instancesOf(fields).map(environmentName),
    start: end - (took ?? 0),
    end,
    steps,
    /** Of a failure: where it failed, and its first line. Of a rollback: why. */
    stage: kind === 'DeployFailure' ? line('stage') || 'unknown' : '',
    reason: kind === 'DeployFailure' ? line('cause') || line('error') : line('reason'),
    traceId,
    spanId: spanIdOf(traceId, isPart ? own : RUN),
    /** The span of the deploy that is undone; undefined: it is a run of its own. */
    parentId: isPart ? spanIdOf(traceId, RUN) : undefined,
  };
}

function isStep(value: unknown): value is { readonly stage: string; readonly ms: number } {
  return isObject(value) && typeof value.stage === 'string' && Number.isFinite(value.ms);
}
