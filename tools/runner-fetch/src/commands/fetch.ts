import { appNames, requireOwnApp } from '@runner/common/apps/store';
import { command, EVENTS_OPTION } from '@runner/common/cli/command';
import { invalidValue, signalStatus } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { FetchResult } from '@runner/deploy/fetch/decide';
import { fetchApps } from '@runner/deploy/fetch/fetch';
import { explainFailure, printNextSteps } from '@runner/deploy/pipeline/explanation';
import { interruptionOf } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';
import { withoutSteps } from '@runner/deploy/report/reporter';

export const fetch = command({
  needsRoot: true,
  about: 'Look for new commits, and deploy them',
  details:
    'Checks every app for new commits; prints one line per app and logs it in logs/fetch.log. Safe to run\n' +
    'from a timer: runs may overlap. The exit status is that of the worst app. It is 0 if nothing is new,\n' +
    'and for an app that is blocked (its commit failed too often), on hold (rolled back), being deployed\n' +
    'or waiting: a failed commit is tried again after 1 minute, then 10 (retry_after in config.yml). An\n' +
    'app that is not running is reported, not started; with --deploy, one with traffic is started after\n' +
    'a reboot. When an app goes down or its branch cannot be checked, one notification is sent, and\n' +
    'another when it works again. The exit status is 1 if logs/fetch.log cannot be written. Without apps,\n' +
    '--json prints {"count":0,"apps":[]}.',
  positionals: { apps: { many: true, about: 'Names of apps [default: all]' } },
  options: {
    deploy: { about: 'Deploy what is new' },
    quiet: { short: 'q', about: 'Print only what has changed since the last fetch' },
    jobs: {
      placeholder: 'N',
      about: 'Deploys to run at once [default: 2; 1 with less than 2 GiB of free memory]',
    },
    ...EVENTS_OPTION,
    'no-notify': { about: 'Send no notifications about these deploys' },
  },
  exits: [
    [3, 'A deploy failed, and so did its rollback'],
    [130, 'Interrupted (Ctrl-C)'],
  ],
  instead: { '--all': 'no app: all are meant then', '--dry-run': 'runner fetch without --deploy' },
  examples: ['runner fetch --deploy --quiet', 'runner fetch shop blog'],
  async run(context) {
    const { io, paths, args, options, format, print } = context;
    for (const name of args.apps)
      requireOwnApp(paths, name, ({ of }) => `runner preview sync ${of} looks for its pushes`);
    const apps = args.apps.length > 0 ? [...new Set(args.apps)] : appNames(paths);
    const jobs = options.jobs === undefined ? undefined : jobsOf(options.jobs);
    if (apps.length === 0) {
      if (!options.quiet) await print({ count: 0, apps: [] });
      return { status: 0 };
    }
    const interruption = interruptionOf(io);
    // Steps are for people: in JSON each line is the result of an app.
    const progress = progressFor({ ...context, format: 'human' }, false);
    const isQuiet = format === 'json' || options.quiet;
    try {
      const status = await fetchApps({
        io,
        paths,
        apps,
        deploy: options.deploy,
        jobs,
        notify: !options['no-notify'],
        reporter: isQuiet ? withoutSteps(progress.reporter) : progress.reporter,
        signal: interruption.signal,
        next: interruption.next,
        onResult: async ({
          result: {
            status: _,
            checks: __,
            returns: ___,
            package_age: ____,
            refusal: _____,
            failure,
            ...result
          },
          isNews,
          follows,
        }) => {
          if (options.quiet && (!isNews || result.result === 'up_to_date')) return;
          // The steps of a deploy may be on the screen.
          progress.end();
          await print({ ...result, error: failure ?? result.error });
          if (result.error !== null && options.deploy && follows !== undefined)
            printNextSteps(
              context,
              result.app,
              result.version ?? follows,
              REFUSALS.includes(result.error) ? 'refused' : 'fetch',
            );
        },
        onFailure: (outcome) => {
          progress.end();
          explainFailure(context, outcome, 'fetch');
        },
      });
      return { status: interruption.by ? signalStatus(interruption.by) : status };
    } finally {
      progress.end();
      interruption.remove();
    }
  },
  human: (result: FetchResult | { count: 0; apps: [] }) =>
    'app' in result
      ? `${harmlessLine(result.app)}: ${harmlessLine(result.text)}\n`
      : 'no apps yet: register one with runner add\n',
});

/** Nothing was deployed, and what runs is not at fault. */
const REFUSALS = ['commit_not_signed', 'lineage_broken', 'signers_invalid'];

/** Most deploys at once. */
const JOBS_MAX = 64;

function jobsOf(text: string): number {
  const jobs = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (jobs >= 1 && jobs <= JOBS_MAX) return jobs;
  throw invalidValue(text, '--jobs <N>', `it is not a number from 1 to ${JOBS_MAX}`);
}
