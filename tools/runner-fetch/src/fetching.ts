/** Runs a fetch for the command line: which apps, signals, what is printed. */
import { appNames, requireApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { signalStatus } from '@runner/common/foundation/failure';
import { fetchApps } from '@runner/deploy/fetch/fetch';
import { explainFailure } from '@runner/deploy/pipeline/explanation';
import { interruptionOf } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';
import { withoutSteps } from '@runner/deploy/report/reporter';

type FetchContext = Pick<Context, 'io' | 'paths' | 'format' | 'print' | 'note' | 'errStyle'> & {
  readonly args: { readonly apps: readonly string[] };
  readonly options: {
    readonly deploy: boolean;
    readonly quiet: boolean;
    readonly 'no-notify': boolean;
  };
};

/** Returns the exit status. */
export async function runFetch(context: FetchContext): Promise<number> {
  const { io, paths, args, options } = context;
  for (const name of args.apps) requireApp(paths, name);
  const apps = args.apps.length > 0 ? [...new Set(args.apps)] : appNames(paths);
  if (apps.length === 0) {
    // As with every app up to date, --quiet has nothing to say.
    if (!options.quiet) await context.print({ count: 0, apps: [] });
    return 0;
  }
  const interruption = interruptionOf(io);
  // Steps are for people: in JSON each line is a decision.
  const progress = progressFor({ ...context, format: 'human' }, false);
  const quiet = context.format === 'json' || options.quiet;
  try {
    const status = await fetchApps({
      io,
      paths,
      apps,
      deploy: options.deploy,
      notify: !options['no-notify'],
      reporter: quiet ? withoutSteps(progress.reporter) : progress.reporter,
      signal: interruption.signal,
      decided: async (decision) => {
        if (options.quiet && decision.result === 'up_to_date') return;
        const { status: _, ...told } = decision;
        await context.print(told);
      },
      failed: (outcome) => {
        progress.end();
        explainFailure(context, outcome);
      },
    });
    return interruption.by ? signalStatus(interruption.by) : status;
  } finally {
    progress.end();
    interruption.remove();
  }
}
