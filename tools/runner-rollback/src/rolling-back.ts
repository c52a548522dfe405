/** Runs a rollback for the command line. */
import type { Answer, Context } from '@runner/common/cli/command';
import { EXIT } from '@runner/common/foundation/failure';
import { harmless } from '@runner/common/text/harmless';
import { progressFor } from '@runner/deploy/report/progress';
import { rollBackByHand } from '@runner/deploy/rollback/rollback';

type RollbackContext = Pick<Context, 'io' | 'paths' | 'format' | 'note' | 'errStyle'> & {
  readonly args: { readonly app: string };
  readonly options: {
    readonly to: string | undefined;
    readonly instance: string | undefined;
    readonly 'no-notify': boolean;
  };
};

/** Returns what the rollback came to, with the exit status. */
export async function runRollback(context: RollbackContext): Promise<Answer> {
  const { io, paths, args, options } = context;
  const progress = progressFor(context, false);
  // A rollback is not stopped half way: a signal waits for its end.
  const remove = io.onSignal(() => {});
  try {
    const outcome = await rollBackByHand({
      io,
      paths,
      app: args.app,
      to: options.to,
      instance: options.instance,
      notify: !options['no-notify'],
      reporter: progress.reporter,
    });
    progress.end();
    if (outcome.error !== undefined)
      io.stderr.write(`${context.errStyle.red(harmless(outcome.error))}\n`);
    const failed = outcome.rollback_error ? EXIT.rollbackFailed : EXIT.failed;
    return { value: outcome, status: outcome.result === 'rolled_back' ? EXIT.ok : failed };
  } finally {
    progress.end();
    remove();
  }
}
