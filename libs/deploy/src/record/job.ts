/** One deploy under way: what its stages share. */
import type { AppState } from '@runner/common/apps/state';
import { appendEvent, keepForLater } from '@runner/common/audit/append';
import { completeEvent, type DeployEvent } from '@runner/common/audit/events';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import type { Notifier } from '../report/notifier.ts';
import type { Reporter } from '../report/reporter.ts';
import type { DeployLog } from '../run/log.ts';
import type { Stage } from '../run/step.ts';

/** What is known once the lock is taken and the commit is fetched. */
export interface Job {
  readonly io: Io;
  readonly paths: Paths;
  /** As it was when the lock was taken. */
  readonly app: AppState;
  readonly deployId: string;
  readonly commit: string;
  readonly version: string;
  readonly trigger: string;
  /** Head of the branch, of which an operator chose to deploy something else, or only to some. */
  readonly passedOver: string | undefined;
  /** Only one instance was asked for: the others stay as they are. */
  readonly partial: boolean;
  readonly signal: AbortSignal;
  readonly log: DeployLog;
  readonly redact: (text: string) => string;
  readonly reporter: Reporter;
  /** When the deploy began, by `io.elapsed()`. */
  readonly began: number;
  notifier: Notifier;
  /** Where the deploy is now. */
  stage: Stage;
}

/** The fields of an event that every event of a deploy has, completed. */
export function eventOf(
  job: Pick<Job, 'io' | 'app' | 'deployId' | 'commit' | 'version' | 'trigger'>,
  kind: DeployEvent['event_type'],
  fields: Partial<DeployEvent> & { instance: string },
): DeployEvent {
  return completeEvent(
    {
      event_type: kind,
      project: job.app.app,
      version: job.version,
      deploy_id: job.deployId,
      commit: job.commit,
      trigger: job.trigger,
      ...fields,
    },
    job.io,
  );
}

/**
 * Records an event that must not hold up what happens: what cannot be appended is kept for the next
 * command that can.
 */
export function recordAnyway(job: Pick<Job, 'paths' | 'reporter'>, event: DeployEvent): void {
  try {
    appendEvent(job.paths, event);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    try {
      keepForLater(job.paths, event);
      job.reporter.note(
        `${error.message}; the event is kept and will be appended later (${error.code})`,
      );
    } catch {
      job.reporter.note(
        `${error.message}; the event ${event.event_type} of deploy ${event.deploy_id} is lost (${error.code})`,
      );
    }
  }
}
