/** What can start and stop an instance. One file per type of `start`; one contract for all. */
import type { Instance, Start } from '@runner/common/deploy-file/read';
import type { InstancePaths } from '@runner/common/foundation/paths';
import type { DeployLog } from '../../run/log.ts';

/** One instance of an app at one release. */
export interface Target {
  readonly app: string;
  readonly instance: Instance;
  /** Folder of the release. */
  readonly release: string;
  readonly paths: InstancePaths;
  readonly start: Start;
  /** `stop` of `.deploy.yml`; type `command` alone. */
  readonly stop: string | undefined;
  /** Environment of the instance, without the deploy's marker. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: DeployLog;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

/** What a start left running. */
export interface Started {
  /** How it has died since, in words, with what it printed; undefined while it runs. */
  death(): { words: string; output: string } | undefined;
}

/** The contract of all drivers. */
export interface Driver {
  /** Starts the target in place of what runs for its instance. Throws a StepFailure of stage `start`. */
  start(target: Target): Promise<Started>;
  /** Stops what runs for the instance; that nothing runs is fine. */
  stop(target: Target): Promise<void>;
  /** Whether it runs, as far as the driver can know. */
  status(target: Target): 'running' | 'stopped' | 'unknown';
}
