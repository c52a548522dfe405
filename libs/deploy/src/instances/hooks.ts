/** Hooks of `.deploy.yml`, and the environment they run in. */
import { traceParent } from '@runner/common/audit/trace';
import type { Hook } from '@runner/common/deploy-file/read';
import type { Deploy, Operation } from '../journal/operation.ts';
import type { Step } from '../journal/step.ts';
import { reported } from '../report/reporter.ts';
import { asStepFailure, runStep, shellStep } from '../run/step.ts';
import type { Prefix } from '../sandbox/limits.ts';
import type { Confinement } from '../sandbox/sandbox.ts';
import type { Target } from './drivers/driver.ts';
import { withNetwork } from './network.ts';

/** What hooks get in addition to the instance's environment: the variables of message templates. */
export function hookEnvironment(
  op: Operation & Pick<Deploy, 'version'>,
  { instance }: Target,
  error = '',
): Record<string, string> {
  const values = {
    PROJECT: op.app.app,
    VERSION: op.version,
    INSTANCE: instance.name,
    PREVIOUS_VERSION: op.app.instances[instance.name]?.current?.version ?? '',
    DURATION: `${Math.round(op.clock.total / 1000)}s`,
    ERROR: error,
    DOMAIN: instance.domain ?? '',
  };
  const prefixed = Object.entries(values).map(([name, value]) => [`RUNNER_${name}`, value]);
  const trace = { TRACEPARENT: traceParent(op.app.app, op.deployId) };
  return { ...values, ...Object.fromEntries(prefixed), ...trace };
}

interface HookRun {
  /** Where; absent: in the release's folder. */
  readonly folder?: string;
  /** Why the deploy failed. */
  readonly error?: string;
  readonly prefix?: Prefix | undefined;
}

/** The commands of a hook, a step each, which throws a StepFailure of stage `hook`. */
export function hookSteps(
  op: Deploy,
  target: Target,
  hook: Hook,
  { folder = target.release, error = '', prefix }: HookRun = {},
): (Step & { readonly title: string })[] {
  const { hookTimeout: timeout, hooks } = target.file;
  const isOfBuild = hook === 'pre_build' || hook === 'post_build';
  return hooks[hook].map((command) => ({
    stage: isOfBuild ? ('build' as const) : ('hook' as const),
    title: `${hook}: ${command}`,
    async run() {
      const env = { ...target.env, ...hookEnvironment(op, target, error), RUNNER_RELEASE: folder };
      const step = { stage: 'hook' as const, command, cwd: folder, env, timeout, prefix };
      const start = (confinement: Confinement | undefined) =>
        runStep(op.log, target.signal, shellStep({ ...step, confinement }));
      if (isOfBuild) return start(target.confine('build'));
      const list = { key: 'hooks.network', own: target.file.hookNetwork, env };
      return withNetwork(op, target, list, (network) => start(target.confine('hook', network)));
    },
  }));
}

/** Runs a hook after the deploy has ended: that it fails is only noted, after `words`. */
export async function runHookAnyway(
  op: Deploy,
  steps: ReturnType<typeof hookSteps>,
  words: string,
): Promise<void> {
  try {
    for (const { title, run } of steps) await reported(op.reporter, title, run);
  } catch (error) {
    const { message, seen } = asStepFailure(error, 'hook');
    op.reporter.note([`${words}${message}`, ...(seen === undefined ? [] : [seen])].join('; '));
  }
}
