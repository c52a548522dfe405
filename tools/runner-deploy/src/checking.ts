/** `--check` for the command line. */
import type { Answer, Context } from '@runner/common/cli/command';
import { EXIT, signalStatus } from '@runner/common/foundation/failure';
import { planDeploy } from '@runner/deploy/pipeline/check';
import { interruptionOf } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';
import { withoutSteps } from '@runner/deploy/report/reporter';

type CheckContext = Pick<Context, 'io' | 'paths' | 'format' | 'note' | 'errStyle'> & {
  readonly args: { readonly app: string };
  readonly options: { readonly ref: string | undefined; readonly instance: string | undefined };
};

/** Returns the plan; its problems make the status 1. */
export async function runCheck(context: CheckContext): Promise<Answer> {
  const { io, paths, args, options, format, note } = context;
  const interruption = interruptionOf(io);
  // On a terminal alone: the answer is the plan, whose steps look alike.
  const progress = progressFor({ ...context, format: 'human' }, false);
  const isDrawn = format === 'human' && io.stderr.isTTY;
  try {
    const plan = await planDeploy({
      ...{ io, paths, app: args.app, ref: options.ref, instance: options.instance },
      reporter: isDrawn ? progress.reporter : withoutSteps(progress.reporter),
      signal: interruption.signal,
    });
    return { value: plan, status: plan.result === 'valid' ? EXIT.ok : EXIT.failed };
  } catch (error) {
    if (!interruption.by) throw error;
    const message = `interrupted by ${interruption.by}`;
    note(`${message} (interrupted)`);
    const value = { error: 'interrupted', message };
    return { status: signalStatus(interruption.by), ...(format !== 'human' && { value }) };
  } finally {
    progress.end();
    interruption.remove();
  }
}
