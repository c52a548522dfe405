/** What is recorded and announced of a rollback by hand. */
import type { AppState } from '@runner/common/apps/state';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { rolledBackEvent, type Way } from '../record/after-rollback.ts';
import { eventOf, recordAnyway } from '../record/job.ts';
import type { Notifier } from '../report/notifier.ts';
import type { Reporter } from '../report/reporter.ts';
import type { DeployLog } from '../run/log.ts';
import type { StepFailure } from '../run/step.ts';

/** What a rollback needs on its way. */
export interface Walk {
  readonly io: Io;
  readonly paths: Paths;
  readonly app: AppState;
  readonly deployId: string;
  readonly reporter: Reporter;
  readonly redact: (text: string) => string;
  readonly log: DeployLog;
  readonly notifier: Notifier;
}

/** Records and announces an instance that went back. */
export function tellRolledBack(walked: Walk, way: Way): void {
  const event = rolledBackEvent(walked, way);
  recordAnyway(walked, event);
  walked.notifier.tell(event);
}

/** `trouble` is why the version before could not be brought back either. */
export function tellFailed(
  walked: Walk,
  { name, from, to }: Way,
  error: StepFailure,
  text: string,
  trouble: string | undefined,
): void {
  const event = eventOf(
    { ...walked, commit: to.commit, version: to.version, trigger: 'manual' },
    'DeployFailure',
    {
      instance: name,
      stage: error.stage,
      error: text,
      log: walked.log.path,
      // As in every event of a rollback by hand: it is the end of no deploy.
      from_version: from.version,
      previous_version: from.version,
      ...(trouble !== undefined && { rolled_back: false, reason: trouble }),
    },
  );
  recordAnyway(walked, event);
  walked.notifier.tell(event);
}
