/** What the commands start, stop and restart share: options, exit statuses, the text for people. */
import { missingRoot } from '@runner/common/apps/store';
import { type CommandResult, type Context, EVENTS_OPTION } from '@runner/common/cli/command';
import type { Style } from '@runner/common/cli/output';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { APPROVAL_OPTIONS, type ApprovalChoice, WAIT_OPTION, waitOf } from './approval/options.ts';
import type { LifeOutcome } from './lifecycle/verbs.ts';
import type { LifecycleVerb, LifeInstance } from './operation/verbs.ts';
import { progressFor } from './report/progress.ts';

export const LIFE_OPTIONS = {
  ...EVENTS_OPTION,
  ...APPROVAL_OPTIONS,
  instance: { placeholder: 'NAME', about: 'Only this instance [default: all]' },
  wait: WAIT_OPTION,
} as const;

export const LIFE_EXITS = [
  [75, 'A deploy or another command of the app is running; --wait waits for it'],
] as const;

type LifeContext = Pick<Context, 'io' | 'paths' | 'note' | 'errStyle'> & {
  readonly options: {
    readonly events: boolean;
    readonly instance: string | undefined;
    readonly wait: string | undefined;
    readonly asleep?: boolean;
  } & ApprovalChoice;
};

export async function runLife(
  context: LifeContext,
  verb: LifecycleVerb,
  app: string,
  reason?: string,
): Promise<CommandResult> {
  const { io, paths, options } = context;
  const wait = waitOf(options.wait);
  const { changeRunning } = await import('@runner/deploy/lifecycle/verbs');
  using progress = progressFor({ ...context, format: 'human' }, false);
  // Its death leaves what any kill leaves; only the terminal is silent about that.
  const remove = io.onSignal((signal) => {
    progress.end();
    context.note(`interrupted: if it had begun, the next runner command for ${app} finishes it`);
    remove();
    process.kill(io.pid, signal);
  });
  try {
    const { reporter } = progress;
    const { instance, asleep: onlyAsleep = false, plan, emergency } = options;
    const choice = { instance, reason, wait, onlyAsleep, plan, emergency };
    const value = await changeRunning({ io, paths, app, reporter, ...choice }, verb);
    return { value, status: value.result === 'failed' ? 1 : 0 };
  } finally {
    remove();
  }
}

/** Runs `start --boot`. */
export async function runBoot(context: LifeContext): Promise<CommandResult> {
  const { io, paths } = context;
  const missing = missingRoot(paths);
  // A boot must not fail for it.
  if (missing) context.note(missing);
  const { startAll } = await import('@runner/deploy/lifecycle/boot');
  const { resumeWatch } = await import('@runner/deploy/watch/start');
  using progress = progressFor({ ...context, format: 'human' }, false);
  const value = await startAll(io, paths, progress.reporter, resumeWatch);
  return { value, status: value.failed.length > 0 ? 1 : 0 };
}

/** A line for each instance; `already`: where nothing was to be done. */
function textWith(already: string) {
  const words: Readonly<Record<LifeInstance['result'], string>> = {
    started: 'Started',
    stopped: 'Stopped',
    restarted: 'Restarted',
    unchanged: already,
    failed: 'Failed:',
  };
  return function text(value: LifeOutcome | { apps: LifeOutcome[] }, style: Style): string {
    if ('apps' in value) return value.apps.map((each) => text(each, style)).join('');
    const line = ({ instance, version, result, error }: LifeInstance) => {
      const word = result === 'failed' ? style.red(words[result]) : style.green(words[result]);
      const why = error === undefined ? '' : `: ${harmless(error)}`;
      const name = `${harmlessLine(value.app)} ${harmlessLine(version)}`;
      return `${word} ${style.bold(name)} (${harmlessLine(instance)})${why}\n`;
    };
    return value.instances.map(line).join('');
  };
}

export const lifeText = textWith('Runs already:');
export const stopText = textWith('Stopped already:');
