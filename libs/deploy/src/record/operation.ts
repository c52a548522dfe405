/** What a deploy, a rollback and a recovery share, and how their events are recorded. */
import type { AppState, Deployed } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { appendEvent, keepForLater } from '@runner/common/audit/append';
import { completeEvent, type DeployEvent } from '@runner/common/audit/events';
import { type Lock, requireLock } from '@runner/common/files/lock';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import type { Notifier } from '../report/notifier.ts';
import type { Reporter } from '../report/reporter.ts';
import type { DeployLog } from '../run/log.ts';
import type { Stage } from '../run/step.ts';

/** A command at work on one app, under the app's lock. */
export interface Operation {
  readonly io: Io;
  readonly paths: Paths;
  /** As it was when the lock was taken. */
  readonly app: AppState;
  readonly reporter: Reporter;
  readonly redact: (text: string) => string;
}

/** What names a version of an app. */
export type Version = Pick<Deployed, 'release' | 'version' | 'commit'>;

/** An instance that goes, or went, from one version to another. */
export interface Move {
  readonly instance: string;
  readonly from: Omit<Version, 'release'>;
  /** null: there is no version to go back to; the instance is stopped. */
  readonly to: Deployed | null;
  /** Why the move failed; undefined if it is only planned, or succeeded. */
  readonly problem?: string | undefined;
}

/** Each failed move in words. */
export function problemsOf(moves: readonly Move[], verb: 'rollback' | 'return'): string[] {
  return moves.flatMap(({ to, problem }) =>
    problem === undefined ? [] : [`${verb} to ${to?.version ?? 'nothing'} failed: ${problem}`],
  );
}

/** Takes the lock of an app. Throws `app_not_found`, `locked`. */
export function lockApp(
  { io, paths }: Pick<Operation, 'io' | 'paths'>,
  name: string,
  command: string,
  deployId?: string,
): Lock {
  const { app } = requireApp(paths, name);
  const since = io.now().toISOString();
  const id = deployId !== undefined && { deploy_id: deployId };
  return requireLock(paths.lock(app), `'${app}'`, 0, { pid: io.pid, command, ...id, since });
}

/** A deploy in progress: what its stages share. */
export interface Job extends Operation {
  readonly deployId: string;
  readonly commit: string;
  readonly version: string;
  readonly trigger: string;
  /** Head of the branch, if the operator chose another commit, or only one instance. */
  readonly skippedHead: string | undefined;
  /** Only one instance is deployed: the others stay as they are. */
  readonly partial: boolean;
  readonly signal: AbortSignal;
  readonly log: DeployLog;
  /** When the deploy began, by `io.elapsed()`. */
  readonly began: number;
  notifier: Notifier;
  /** Where the deploy is now. */
  stage: Stage;
}

/** What identifies the deploy that an event belongs to. */
export type EventOrigin = Pick<Job, 'io' | 'app' | 'deployId' | 'trigger'>;

/** An event with the fields that every event of a deploy has. */
export function eventOf(
  { io, app, deployId, trigger, commit, version }: EventOrigin & Pick<Job, 'commit' | 'version'>,
  kind: DeployEvent['event_type'],
  fields: Partial<DeployEvent> & { instance: string },
): DeployEvent {
  const common = { project: app.app, version, deploy_id: deployId, commit, trigger };
  return completeEvent({ event_type: kind, ...common, ...fields }, io);
}

/** The event of an instance that went back to `to`. */
export function rolledBackEvent(
  origin: EventOrigin,
  { instance, from, to }: Move & { to: NonNullable<Move['to']> },
  reason: string,
): DeployEvent {
  const { commit, version } = to;
  const fields = { instance, from_version: from.version, reason };
  return eventOf({ ...origin, commit, version }, 'RollbackSuccess', fields);
}

/** What recording needs. */
type Recording = Pick<Job, 'paths'> & { readonly reporter: Pick<Reporter, 'note'> };

/**
 * Records an event without holding up the operation: an event that cannot be appended is kept for
 * the next command that can.
 */
export function recordAnyway({ paths, reporter }: Recording, event: DeployEvent): void {
  try {
    appendEvent(paths, event);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    try {
      keepForLater(paths, event);
      reporter.note(
        `${error.message}; the event is kept and will be appended later (${error.code})`,
      );
    } catch {
      reporter.note(
        `${error.message}; the event ${event.event_type} of deploy ${event.deploy_id} is lost (${error.code})`,
      );
    }
  }
}

/** Records an event and sends it to the chats. */
export function announce(operation: Recording & Pick<Job, 'notifier'>, event: DeployEvent): void {
  recordAnyway(operation, event);
  operation.notifier.send(event);
}
