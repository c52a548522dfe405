/** Hooks of `.deploy.yml`, and the environment they run in. */
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile, Hook } from '@runner/common/deploy-file/read';
import type { Job } from '../journal/operation.ts';
import { reported } from '../report/reporter.ts';
import { failureOf, runStep, shellStep } from '../run/step.ts';
import type { Prefix } from '../sandbox/limits.ts';
import { jobTarget, previousOf, type ReleaseTarget } from './target.ts';

/** What hooks get in addition to the instance's environment: the variables of message templates. */
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
  return { ...values, ...Object.fromEntries(prefixed) };
}

/** Runs the commands of a hook in the release's folder. Throws a StepFailure of stage `hook`. */
export async function runHook(
  job: Job,
  target: ReleaseTarget,
  hook: Hook,
  {
    folder = target.release,
    error = '',
    prefix,
  }: { folder?: string; error?: string; prefix?: Prefix | undefined } = {},
): Promise<void> {
  const environment = hookEnvironment(job, target.instance, error);
  const env = { ...target.env, ...environment, RUNNER_RELEASE: folder };
  const { hookTimeout: timeout } = target.file;
  const isOfBuild = hook === 'pre_build' || hook === 'post_build';
  const rest = { stage: 'hook' as const, cwd: folder, env, timeout, prefix };
  for (const command of target.file.hooks[hook]) {
    const confinement = target.confine(isOfBuild ? 'build' : 'hook');
    await reported(job.reporter, `${hook}: ${command}`, () =>
      runStep(job.log, target.signal, shellStep({ command, confinement, ...rest })),
    );
  }
}

/** Runs `on_failure`, uninterrupted; if the hook fails, that is only noted. */
export async function runFailureHook(
  job: Job,
  file: DeployFile,
  release: string | undefined,
  error: string,
): Promise<void> {
  const [first] = file.instances as [Instance];
  const { signal } = new AbortController();
  const target = { ...jobTarget(job, file, first, release ?? 'none'), signal };
  const folder = release === undefined ? job.paths.app(job.app.app).dir : target.release;
  const run = () => runHook(job, target, 'on_failure', { folder, error });
  const failure = await failureOf('hook', run);
  if (failure) job.reporter.note(failure.message);
}
