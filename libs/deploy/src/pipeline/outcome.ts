/** What the commands print of a deploy that ended. */
import type { CanaryShare } from '@runner/common/audit/events';
import { textOf } from '@runner/common/audit/record';
import type { Paths } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { previousOfAll } from '../instances/target.ts';
import { recordedEnd } from '../journal/given-id.ts';
import { type Deploy, type Operation, sharesOf } from '../journal/operation.ts';

/** The last object of `runner deploy --json`. */
export interface DeployOutcome {
  app: string;
  result: 'deployed' | 'failed' | 'rolled_back';
  version: string;
  commit: string;
  deploy_id: string;
  instance: string;
  /** Instances on which the new version stays, although `instance` went back. */
  kept?: string;
  previous_version: string | null;
  /** What is active now; null if nothing is. */
  active_version: string | null;
  /** The operator had stopped that version, and it is stopped still. */
  stopped?: true;
  duration_ms: number;
  /** Where the instances are found, by their names; absent if nothing was deployed. */
  urls?: Record<string, string>;
  /** The first of them. */
  url?: string;
  /** The shares of the requests that it got first, and what was found; absent without a canary. */
  canary?: CanaryShare[];
  /** Path of the deploy's log. */
  log: string;
  stage?: string;
  error?: string;
  /** The lines of the failed step's output that say why. */
  cause?: string;
  /** That the active version does not work with the database, and the way to restore it. */
  unfit?: string;
  /** Why the rollback failed as well; the exit status is 3 then. */
  rollback_error?: string;
  /** The operator ended it. */
  interrupted?: boolean;
  /** Longest time in which the app did not answer a prober, in ms; absent if none could ask. */
  gap_ms?: number;
  /** How often it was asked. */
  probes?: number;
}

/** What is active now, in words. */
export function activeWords({ active_version: active, stopped }: DeployOutcome): string {
  if (active === null) return 'nothing is active';
  return `${harmlessLine(active)} is active${stopped ? ', but stopped, as it was' : ''}`;
}

/** The outcome of a deploy whose version died while the one before drained, and serves again. */
export function lostAfterAll(outcome: DeployOutcome, lost: Operation['lost']): DeployOutcome {
  const errors = [...lost.values()];
  const [first] = errors;
  if (!first) return outcome;
  const names = outcome.instance.split(',');
  const kept = names.filter((name) => !lost.has(name)).join(',');
  return {
    ...outcome,
    result: 'rolled_back',
    instance: names.filter((name) => lost.has(name)).join(','),
    ...(kept !== '' && { kept }),
    active_version: outcome.previous_version,
    stage: first.stage,
    error: errors.map(({ message }) => message).join('; '),
  };
}

/** What every outcome says of a deploy. */
export function aboutDeploy(op: Deploy, instances = op.instances) {
  return {
    app: op.app.app,
    version: op.version,
    commit: op.commit,
    deploy_id: op.deployId,
    instance: instances.join(','),
    previous_version: previousOfAll(op.app, instances)?.version ?? null,
    duration_ms: op.clock.total,
    ...sharesOf(op),
    log: op.log.path,
  };
}

/** How a deploy with the given id ended, as the log says; undefined if it is not known or still runs. */
export function deployInLog(
  paths: Paths,
  app: string,
  deployId: string | undefined,
): DeployOutcome | undefined {
  const end = recordedEnd(paths, app, deployId, 'DeploySuccess');
  if (!end) return undefined;
  const { last, isSuccess, isRolledBack, instance, error } = end;
  const text = (field: string) => textOf(last, field);
  const version = text('version');
  const previous_version = text('previous_version') || null;
  const rollback_error = last.rolled_back === false ? text('reason') : undefined;
  const failed = {
    result: isRolledBack ? ('rolled_back' as const) : ('failed' as const),
    active_version: rollback_error === undefined ? previous_version : null,
    stage: text('stage'),
    error,
    ...(text('cause') !== '' && { cause: text('cause') }),
    ...(rollback_error !== undefined && { rollback_error }),
    ...(last.interrupted === true && { interrupted: true }),
  };
  return {
    app,
    version,
    commit: text('commit'),
    deploy_id: text('deploy_id'),
    instance,
    previous_version,
    duration_ms: Number(last.duration_ms ?? 0),
    log: paths.deployLog(app, text('deploy_id')),
    ...(isSuccess ? { result: 'deployed', active_version: version } : failed),
  };
}
