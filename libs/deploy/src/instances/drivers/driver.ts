/** The contract of what starts and stops instances. One file per type of `start`. */
import type { Instance, Start } from '@runner/common/deploy-file/read';
import type { InstancePaths } from '@runner/common/foundation/paths';
import type { DeployLog } from '../../run/log.ts';
import { runStep, type Step } from '../../run/step.ts';

/** One instance of an app at one release. */
export interface Target {
  readonly app: string;
  readonly instance: Instance;
  /** Folder of the release. */
  readonly release: string;
  readonly paths: InstancePaths;
  readonly start: Start;
  /** `stop` of `.deploy.yml`; only for type `command`. */
  readonly stop: string | undefined;
  /** Environment of the instance, without the deploy's marker. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: DeployLog;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

/** What a start left running. */
export interface Started {
  /** How it has died since, in words, with its output; undefined while it runs. */
  death(): { words: string; output: string } | undefined;
}

/** For what cannot be observed after its start. */
export const unobserved: Started = { death: () => undefined };

/** Runs a program as the step `start`, in the folder of the release. Throws a StepFailure. */
export function runFor(
  { release: cwd, env, log, signal }: Target,
  step: Pick<Step, 'title' | 'file' | 'args' | 'timeout' | 'serverFault'>,
): Promise<void> {
  return runStep(log, signal, { ...step, stage: 'start', cwd, env });
}

/** Every driver. */
export interface Driver {
  /** Throws a StepFailure, before anything is touched, if the target cannot be started. */
  prepare?(target: Target): void;
  /** Starts the target in place of what runs for its instance. Throws a StepFailure of stage `start`. */
  start(target: Target): Promise<Started>;
  /** Stops what runs for the instance, if anything does. */
  stop(target: Target): Promise<void>;
  /** Whether it runs, as far as the driver can know. */
  status(target: Target): 'running' | 'stopped' | 'unknown';
}
