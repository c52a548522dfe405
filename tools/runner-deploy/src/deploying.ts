/** Runs a deploy for the command line: signals, progress, the tail of what failed, the status. */
import type { Answer, Context } from '@runner/common/cli/command';
import { EXIT, Failure, signalStatus } from '@runner/common/foundation/failure';
import { deploy } from '@runner/deploy/pipeline/deploy';
import { explainFailure } from '@runner/deploy/pipeline/explanation';
import type { Outcome } from '@runner/deploy/pipeline/outcome';
import { interruptionOf } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';

type DeployContext = Pick<Context, 'io' | 'paths' | 'format' | 'print' | 'note' | 'errStyle'> & {
  readonly args: { readonly app: string };
  readonly options: {
    readonly ref: string | undefined;
    readonly instance: string | undefined;
    readonly 'no-notify': boolean;
    readonly verbose: boolean;
  };
};

/** Returns what the deploy came to, with the exit status. */
export async function runDeploy(context: DeployContext): Promise<Answer> {
  const { io, paths, args, options } = context;
  const interruption = interruptionOf(io);
  const progress = progressFor(context, options.verbose);
  try {
    const outcome = await deploy({
      io,
      paths,
      app: args.app,
      ref: options.ref,
      instance: options.instance,
      trigger: 'manual',
      notify: !options['no-notify'],
      reporter: progress.reporter,
      signal: interruption.signal,
    });
    progress.end();
    if (outcome.result !== 'deployed') explainFailure(context, outcome);
    return { value: outcome, status: statusOf(outcome, interruption.by) };
  } catch (error) {
    progress.end();
    if (interruption.by) {
      const message = `interrupted by ${interruption.by} before anything was changed`;
      context.note(`${message} (interrupted)`);
      const value = { error: 'interrupted', message, app: args.app, result: 'failed' };
      return {
        status: signalStatus(interruption.by),
        ...(context.format !== 'human' && { value }),
      };
    }
    if (!(error instanceof Failure)) throw error;
    // The last line of --json always has a result, also when nothing was begun.
    const result = error.code === 'locked' ? 'skipped' : 'failed';
    throw new Failure(error.code, error.message, { ...error.facts, app: args.app, result });
  } finally {
    interruption.remove();
  }
}

function statusOf(outcome: Outcome, signalled: NodeJS.Signals | undefined): number {
  if (outcome.rollback_error) return EXIT.rollbackFailed;
  if (outcome.interrupted && signalled) return signalStatus(signalled);
  return outcome.result === 'deployed' ? EXIT.ok : EXIT.failed;
}
