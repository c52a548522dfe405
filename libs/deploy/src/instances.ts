/** Bringing a release to its instances: switch, start, health; and back again when one fails. */
import type { Deployed } from '@runner/common/apps';
import type { DeployFile, Hook, Instance } from '@runner/common/deploy-file';
import { switchTo } from './activate.ts';
import { driverFor } from './drivers/choose.ts';
import { waitHealthy } from './health.ts';
import { fileOfRelease, type TargetParts, targetOf } from './instance-target.ts';
import { type Job, markStage } from './job.ts';
import { reported } from './reporter.ts';
import { goBack } from './rollback.ts';
import { runShell, StepFailure } from './step.ts';

/** Time limit of one hook, in milliseconds. */
const HOOK_TIMEOUT = 60_000;

/** The version that an instance had before this deploy. */
export function previousOf(job: Job, instance: string): Deployed | null {
  return job.app.instances[instance]?.current ?? null;
}

/** Parts of a target of this deploy. */
export function partsOf(job: Job, file: DeployFile, instance: Instance, release: string): TargetParts {
  const { paths, log, redact, signal, version, commit } = job;
  return { paths, env: job.io.env, app: job.app.app, file, instance, release, version, commit, log, redact, signal };
}

/** What hooks find beside the instance's environment: the variables of message templates. */
export function hookEnvironment(job: Job, instance: Instance, error: string): Record<string, string> {
  const values = {
    PROJECT: job.app.app,
    VERSION: job.version,
    INSTANCE: instance.name,
    PREVIOUS_VERSION: previousOf(job, instance.name)?.version ?? '',
    DURATION: `${Math.round((job.io.elapsed() - job.began) / 1000)}s`,
    ERROR: error,
    DOMAIN: instance.domain ?? '',
  };
  const prefixed = Object.entries(values).map(([name, value]) => [`RUNNER_${name}`, value]);
  return { ...values, ...Object.fromEntries(prefixed), RUNNER_DEPLOY_ID: job.deployId };
}

/** Runs the commands of a hook in the release's folder. Throws a StepFailure of stage `hook`. */
export async function runHook(
  job: Job,
  parts: TargetParts,
  hook: Hook,
  folder: string | undefined,
  error = '',
): Promise<void> {
  const commands = parts.file.hooks[hook];
  if (commands.length === 0) return;
  const target = targetOf(parts);
  const env = { ...target.env, ...hookEnvironment(job, parts.instance, error) };
  for (const command of commands) {
    await reported(job.reporter, `${hook}: ${command}`, () =>
      runShell(job.log, parts.signal, {
        stage: 'hook',
        command,
        cwd: folder ?? target.release,
        env,
        timeout: HOOK_TIMEOUT,
        marker: `RUNNER_DEPLOY_ID=${job.deployId}`,
      }),
    );
  }
}

/** Runs `on_failure`; a hook that fails is a note. It is not interrupted by what ended the deploy. */
export async function runFailureHook(job: Job, file: DeployFile, release: string | undefined, error: string): Promise<void> {
  const appPaths = job.paths.app(job.app.app);
  const [first] = file.instances as [Instance];
  const parts = { ...partsOf(job, file, first, release ?? 'none'), signal: new AbortController().signal };
  try {
    await runHook(job, parts, 'on_failure', release === undefined ? appPaths.dir : appPaths.release(release), error);
  } catch (failure) {
    if (!(failure instanceof StepFailure)) throw failure;
    job.reporter.note(failure.message);
  }
}

/** What became of the instances. */
export interface Activation {
  /** Instances whose `current` was switched, in order. */
  readonly switched: Instance[];
  readonly failure: { instance: Instance; error: StepFailure } | undefined;
}

/** Switches, starts and checks every instance in the file's order; stops at the first failure. */
export async function activate(job: Job, file: DeployFile, release: string): Promise<Activation> {
  const switched: Instance[] = [];
  for (const instance of file.instances) {
    try {
      await activateOne(job, partsOf(job, file, instance, release), switched);
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      return { switched, failure: { instance, error } };
    }
  }
  return { switched, failure: undefined };
}

async function activateOne(job: Job, parts: TargetParts, switched: Instance[]): Promise<void> {
  const { instance, file } = parts;
  const target = targetOf(parts);
  const driver = driverFor(target.start);
  if (job.signal.aborted) throw new StepFailure('switch', 'switch: was interrupted', '', 'operator');
  await runHook(job, parts, 'pre_switch', undefined);
  markStage(job, 'switch');
  await reported(job.reporter, `switch ${instance.name}`, async () => {
    await stopOtherType(job, parts);
    switched.push(instance);
    switchTo(job.paths.app(job.app.app), instance.name, parts.release);
  });
  markStage(job, 'start');
  const started = await (target.start.type === 'none'
    ? driver.start(target)
    : reported(job.reporter, `start ${instance.name}`, () => driver.start(target)));
  const { health } = file;
  if (health) {
    markStage(job, 'health');
    await reported(job.reporter, `health of ${instance.name}`, () => waitHealthy(health, target, started));
  }
}

/** What the release before started in another way would go on beside the new one. */
async function stopOtherType(job: Job, parts: TargetParts): Promise<void> {
  const previous = previousOf(job, parts.instance.name);
  const before = previous && fileOfRelease(job.paths, job.app.app, previous);
  if (!previous || !before || before.start.type === parts.file.start.type) return;
  const { release, version, commit } = previous;
  const target = targetOf({ ...parts, file: before, release, version, commit });
  await driverFor(target.start).stop(target);
}

/** One instance that was brought back, or what kept it from it. */
export interface WayBack {
  readonly instance: Instance;
  readonly to: Deployed | null;
  readonly error: string | undefined;
}

/**
 * Rolls the switched instances back, last first. It is not interrupted: an operator's Ctrl-C began
 * it, or must wait for it.
 */
export async function rollBack(job: Job, file: DeployFile, release: string, switched: readonly Instance[]): Promise<WayBack[]> {
  const ways: WayBack[] = [];
  const { paths, log, redact } = job;
  const parts = { paths, env: job.io.env, app: job.app.app, log, redact, signal: new AbortController().signal };
  for (const instance of [...switched].reverse()) {
    const to = previousOf(job, instance.name);
    const step = to ? `roll back ${instance.name} to ${to.version}` : `stop ${instance.name}: no earlier version`;
    try {
      await reported(job.reporter, step, () => goBack(parts, instance, partsOf(job, file, instance, release), to));
      ways.push({ instance, to, error: undefined });
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      ways.push({ instance, to, error: error.message });
    }
  }
  return ways;
}
