/** `--check` for the command line. */
import type { Answer, Context } from '@runner/common/command';
import { EXIT, signalStatus } from '@runner/common/failure';
import { planDeploy } from '@runner/deploy/checking';
import { progressFor } from '@runner/deploy/progress';

type CheckContext = Pick<Context, 'io' | 'paths' | 'format' | 'note' | 'errStyle'> & {
  readonly args: { readonly app: string };
  readonly options: { readonly ref: string | undefined; readonly instance: string | undefined };
};

/** Returns the plan; its problems make the status 1. */
export async function runCheck(context: CheckContext): Promise<Answer> {
  const { io, paths, args, options, format, note } = context;
  const controller = new AbortController();
  let signalled: NodeJS.Signals | undefined;
  const remove = io.onSignal((signal) => {
    signalled ??= signal;
    controller.abort();
  });
  // On a terminal alone: the answer is the plan, whose steps look alike.
  const progress = progressFor({ ...context, format: 'human' }, false);
  const silent = { begin: () => {}, done: () => {}, failed: () => {} };
  const isDrawn = format === 'human' && io.stderr.isTTY;
  try {
    const plan = await planDeploy({
      ...{ io, paths, app: args.app, ref: options.ref, instance: options.instance },
      reporter: isDrawn ? progress.reporter : { ...progress.reporter, ...silent },
      signal: controller.signal,
    });
    return { value: plan, status: plan.result === 'valid' ? EXIT.ok : EXIT.failed };
  } catch (error) {
    if (!signalled) throw error;
    const message = `interrupted by ${signalled}`;
    note(`${message} (interrupted)`);
    const value = { error: 'interrupted', message };
    return { status: signalStatus(signalled), ...(format !== 'human' && { value }) };
  } finally {
    progress.end();
    remove();
  }
}
