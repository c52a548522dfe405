/** How a deploy or a rollback by hand ends: its last events, and what the state of the app becomes. */
import { fingerprintsOf } from '@runner/common/app-secrets/open';
import type { Deployed } from '@runner/common/apps/deployed';
import { nextOrder } from '@runner/common/apps/order';
import { findApp } from '@runner/common/apps/store';
import type { ProxyMark } from '@runner/common/apps/watch';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { holderOf } from '@runner/common/files/lock';
import { addressesOf } from '../instances/address.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import type { Seen } from '../instances/probe.ts';
import { failedState, isTriedOften, willBlock } from '../journal/after-failure.ts';
import { holdAfter, type KeptMove, reasonOf, rolledBackState } from '../journal/after-rollback.ts';
import { succeededState, watchOfRelease } from '../journal/after-success.ts';
import { type EventFields, eventsOf, rolledBackEvents } from '../journal/events.ts';
import { isUnknown } from '../journal/journal.ts';
import {
  type Deploy,
  isBack,
  type Operation,
  problemsOf,
  say,
  sharesOf,
} from '../journal/operation.ts';
import { watchEnd, watchRecords } from '../journal/watch-ending.ts';
import type { StepFailure } from '../run/step.ts';
import { sealOf } from '../statement/seal.ts';
import type { OperationEnding } from './conclude.ts';
import { gapOf, migrationOf, previousFields, spent, subjectOf } from './ending-fields.ts';
import type { Undone } from './restore.ts';

/** A release that is active in all instances of a deploy. */
export interface ActiveRelease {
  readonly file: DeployFile;
  readonly release: string;
  /** What a prober saw; undefined if nothing had been there to ask. */
  readonly seen?: Seen | undefined;
  /** What the proxy had seen when it became live. */
  readonly mark?: ProxyMark | undefined;
}

/**
 * Why a release is not watched, and had no canary, although its `.deploy.yml` asks for it; undefined if
 * neither is so.
 */
function heldWords({ paths, app, shares, version }: Deploy, { watch, canary }: DeployFile) {
  if (!watch || !findApp(paths, app.app)?.traffic_hold) return undefined;
  const none = canary.length > 0 && shares.length === 0 ? 'had no canary and ' : '';
  return `requests were held: ${version} ${none}is not watched`;
}

export function deploySucceeded(
  op: Deploy,
  { file, release, seen, mark }: ActiveRelease,
): OperationEnding {
  const { version, commit, deployId: deploy_id, changes, instances } = op;
  const own = { ...gapOf(seen), ...sharesOf(op), ...migrationOf(op) };
  const end = { ...spent(op), ...own, ...op.network.fields() };
  // What is held would count against it.
  const reason = heldWords(op, file);
  if (reason !== undefined) say(op, reason);
  const unjudged = reason === undefined ? undefined : { verdict: 'not_judged' as const, reason };
  const watchFrom = (since: string) => watchOfRelease(file, op, since);
  const unwatched = unjudged && watchFrom(op.io.now().toISOString());
  const events = eventsOf({ origin: op, kind: 'DeploySuccess', instances, file }, (instance) => ({
    ...end,
    changes,
    ...sealOf(op.paths.app(op.app.app), release),
    ...previousFields(op, instance),
  }));
  return {
    hasStarted: true,
    events: unwatched ? [...events, ...watchRecords(op, unwatched, unjudged)] : events,
    state(app, deployed_at) {
      const { type: start } = file.start;
      const { ref, isOperators } = op;
      const order = nextOrder(app, op.io.now());
      const what = { version, commit, release, deployed_at, order, deploy_id, changes, start };
      const deployed: Deployed = {
        ...what,
        ...(ref !== undefined && { ref }),
        ...(isOperators && { deploy_file: 'operator' }),
        ...(file.jobs.length > 0 && { jobs: true }),
        secrets: fingerprintsOf(op.secrets, instances),
        ...(file.watch && mark && { mark }),
      };
      const plain = watchFrom(deployed_at);
      const watch = unjudged ? null : plain && { ...plain, ...mark };
      const urls = addressesOf(file, instances);
      const choice = { ...op, keep: file.keep, by: op.user, urls, watch };
      const now = succeededState(app, instances, deployed, choice);
      if (!unwatched) return now;
      return { ...now, watched: watchEnd(unwatched, unjudged, deployed_at) };
    },
  };
}

/** Why an operation failed, and what became of the instances that it had touched. */
export interface FailureFacts {
  readonly error: StepFailure;
  readonly moves: readonly Undone[];
  /** The instance at which it failed; undefined before the first one. */
  readonly at?: string | undefined;
  /** undefined: `.deploy.yml` itself is wrong, or not known. */
  readonly file?: DeployFile | undefined;
  /** The lines of the step's output that say why; empty if it printed nothing. */
  readonly cause?: string;
  readonly seen?: Seen | undefined;
  /** It was ended by an operator, or its process died. */
  readonly isInterrupted: boolean;
  /** Why the previous version still got all requests. */
  readonly unswitched?: string | undefined;
  /** Why it was rolled back; undefined: the message of the error. */
  readonly reason?: string | undefined;
  /** What is known of an instance from the start of a deploy that died. */
  known?(instance: string): EventFields;
}

/** The whole error: its headline, what could not be undone, and the output of the step. */
export function errorText(op: Operation, { error, moves }: FailureFacts): string {
  const verb = op.journal?.rollback ? 'return' : 'rollback';
  const parts = [error.message, ...problemsOf(moves, verb), error.output.trimEnd()];
  return op.redact(parts.filter((part) => part !== '').join('\n'));
}

export function deployFailed(op: Deploy, facts: FailureFacts): OperationEnding {
  const { error, at, moves, cause = '', seen, isInterrupted, unswitched } = facts;
  const { instances } = op;
  const problems = problemsOf(moves, 'rollback');
  const back = moves.filter(isBack).filter(({ wasSwitched }) => wasSwitched);
  const end = op.trigger === 'recovery' ? {} : { ...spent(op), log: op.log.path };
  const origin = { origin: op, kind: 'DeployFailure' as const, instances, file: facts.file };
  const cancelled_by = isInterrupted ? cancelledBy(op) : undefined;
  const failures = eventsOf(origin, (instance) => ({
    ...end,
    changes: op.changes,
    ...gapOf(seen),
    ...sharesOf(op),
    ...migrationOf(op),
    ...op.network.fields(),
    error: errorText(op, facts),
    stage: error.stage,
    ...facts.known?.(instance),
    ...previousFields(op, instance),
    ...(at !== undefined && instances.length > 1 && { failed_instance: at }),
    ...(cause !== '' && { cause }),
    ...(isInterrupted && { interrupted: true }),
    ...(cancelled_by !== undefined && { cancelled_by }),
    ...(willBlock(op, error.blame) && { blocked: true }),
    ...(error.blame === 'server' && isTriedOften(op, 1) && { muted: true }),
    // Absent when nothing had been switched: the previous version never stopped.
    ...(problems.length > 0
      ? { rolled_back: false, reason: problems.join('; ') }
      : back.length > 0
        ? { rolled_back: true }
        : unswitched !== undefined && { reason: unswitched }),
  }));
  const restored = rolledBackEvents(op, back, ({ to }) => ({
    file: fileOfRelease(op.paths, op.app.app, to),
    reason: facts.reason ?? error.message,
  }));
  return {
    hasStarted: false,
    events: [...failures, ...restored],
    state(app) {
      const failed = failedState(app, noteOf(op, facts, false), moves);
      if (cancelled_by === undefined || error.stage !== 'canary') return failed;
      const hold = {
        since: op.io.now().toISOString(),
        by: cancelled_by,
        did: 'was withdrawn by hand',
      };
      return { ...failed, held: holdAfter(failed, [op], hold) };
    },
  };
}

/** Who has `runner cancel` end this deploy; undefined: no one. */
function cancelledBy({ paths, app, deployId, user }: Deploy): string | undefined {
  const { deploy_id: wanted, user: by = user } = holderOf(paths.cancel(app.app));
  return wanted === deployId ? String(by) : undefined;
}

/** `reason`: absent if an operator rolled back; `database`: the backup that was restored with it. */
export function rollbackSucceeded(
  op: Operation,
  moves: readonly KeptMove[],
  { reason, database }: { reason?: string | undefined; database?: string | undefined },
): OperationEnding {
  const { duration_ms } = spent(op);
  return {
    hasStarted: true,
    // A watch goes on with its way back at the next fetch.
    mustSave: isUnknown(op) && op.trigger !== 'watch',
    events: rolledBackEvents(op, moves, (move) => ({
      file: fileOfRelease(op.paths, op.app.app, move.to),
      reason: reason ?? reasonOf(move),
      from_commit: move.from.commit,
      duration_ms,
      ...(database !== undefined && { database_backup: database }),
      ...subjectOf(move.to.changes),
    })),
    state(app) {
      const choice = { now: op.io.now(), by: op.user, reason };
      return rolledBackState(app, moves, choice, database !== undefined);
    },
  };
}

/** The version that an operation was to make active, and the instances that failed. */
type Goal = Operation & Pick<Deploy, 'commit' | 'version' | 'instances'>;

export function rollbackFailed(op: Goal, facts: FailureFacts): OperationEnding {
  const { error, moves, file, isInterrupted } = facts;
  const problems = problemsOf(moves, 'return');
  const origin = { origin: op, kind: 'DeployFailure' as const, instances: op.instances, file };
  return {
    hasStarted: false,
    events: eventsOf(origin, (instance) => ({
      stage: error.stage,
      error: errorText(op, facts),
      log: op.log.path,
      ...previousFields(op, instance),
      // As in every event of a manual rollback: it does not end a deploy.
      from_version: op.app.instances[instance]?.current?.version ?? '',
      ...(isInterrupted && { interrupted: true }),
      ...(problems.length > 0 && { rolled_back: false, reason: problems.join('; ') }),
    })),
    // The way back of a watch is not tried again at each fetch.
    state: (app) => ({ ...failedState(app, noteOf(op, facts, true), moves), watch: null }),
  };
}

function noteOf(op: Goal, facts: FailureFacts, byHand: boolean) {
  const { commit, version, deployId } = op;
  const { stage, blame } = facts.error;
  const what = { commit, version, deployId, stage, blame, byHand };
  const error = errorText(op, facts);
  return { ...what, error, interrupted: facts.isInterrupted, at: op.io.now() };
}
