/** Hooks of `.deploy.yml`, and what they find in their environment. */
import type { DeployFile, Hook, Instance } from '@runner/common/deploy-file/read';
import type { Job } from '../record/job.ts';
import { reported } from '../report/reporter.ts';
import { asStepFailure, runStep, shellStep } from '../run/step.ts';
import { partsOf, previousOf } from './job-target.ts';
import { type TargetParts, targetOf } from './target.ts';

/** Time limit of one hook, in milliseconds. */
const HOOK_TIMEOUT = 60_000;

/** What hooks find beside the instance's environment: the variables of message templates. */
function hookEnvironment(job: Job, instance: Instance, error: string): Record<string, string> {
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
  { folder, error = '' }: { folder?: string; error?: string } = {},
): Promise<void> {
  const commands = parts.file.hooks[hook];
  if (commands.length === 0) return;
  const target = targetOf(parts);
  const cwd = folder ?? target.release;
  const env = {
    ...target.env,
    ...hookEnvironment(job, parts.instance, error),
    RUNNER_RELEASE: cwd,
  };
  for (const command of commands) {
    await reported(job.reporter, `${hook}: ${command}`, () =>
      runStep(
        job.log,
        parts.signal,
        shellStep({
          stage: 'hook',
          command,
          cwd,
          env,
          timeout: HOOK_TIMEOUT,
          marker: `RUNNER_DEPLOY_ID=${job.deployId}`,
        }),
      ),
    );
  }
}

/** Runs `on_failure`; a hook that fails is a note. It is not interrupted by what ended the deploy. */
export async function runFailureHook(
  job: Job,
  file: DeployFile,
  release: string | undefined,
  error: string,
): Promise<void> {
  const appPaths = job.paths.app(job.app.app);
  const [first] = file.instances as [Instance];
  const parts = {
    ...partsOf(job, file, first, release ?? 'none'),
    signal: new AbortController().signal,
  };
  try {
    const folder = release === undefined ? appPaths.dir : appPaths.release(release);
    await runHook(job, parts, 'on_failure', { folder, error });
  } catch (failure) {
    job.reporter.note(asStepFailure(failure, 'hook').message);
  }
}
