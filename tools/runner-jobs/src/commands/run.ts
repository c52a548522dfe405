import { appNames, requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { signalStatus, usage } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationText } from '@runner/common/text/time';
import { refuseJob } from '@runner/deploy/database/sharing';
import { runByHand } from '@runner/deploy/jobs/by-hand';
import { lookForAllJobs } from '@runner/deploy/jobs/look';
import { carryRun, type JobEnd } from '@runner/deploy/jobs/run';
import { interruptionOf } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';

export const run = command({
  name: 'run',
  needsRoot: true,
  about: 'Run a job now, and wait for its end',
  details:
    "Runs in the active release, with the environment, secrets and sandbox of the job's instance. The\n" +
    'output is shown and kept (runner jobs log). A failure is not announced: you see it. With --due it\n' +
    "begins everything that is due, and returns; the package's timer does so every minute.",
  positionals: {
    app: { about: 'Name of the app' },
    job: { about: 'Name of the job; required without --due' },
  },
  options: {
    due: { about: 'Begin what is due, in one app or in all', conflicts: ['carry'] },
    carry: {
      placeholder: 'ID',
      about: 'Carry a run that was begun: --due starts this in the background',
    },
    'no-notify': { about: 'Send no notifications' },
  },
  exits: [[1, 'The job failed, or ended with 1; otherwise the status is that of its command']],
  examples: ['runner jobs run shop nightly', 'runner jobs run --due'],
  async run(context) {
    const { io, paths, args, options, format } = context;
    const { app, job } = args;
    const display = { ...context, format: 'human' as const, options: { events: false } };
    const { reporter, end } = progressFor(display, format === 'human' && !options.carry);
    const announcing = { io, paths, reporter, notify: !options['no-notify'] };
    if (options.due) {
      if (job !== undefined) throw usage('--due begins all jobs of an app: leave out the job');
      const names = app === undefined ? appNames(paths) : [requireApp(paths, app).app];
      return { status: (await lookForAllJobs(announcing, names)) ? 0 : 1 };
    }
    if (app === undefined || job === undefined)
      throw usage('needs an app and a job: runner jobs run shop nightly');
    const interruption = interruptionOf(io);
    try {
      const request = { ...announcing, app, job, signal: interruption.signal };
      if (options.carry !== undefined) {
        await carryRun(request, options.carry);
        return {};
      }
      const value = await runByHand(request, (own) => refuseJob(request, own));
      const { outcome, status } = value;
      if (interruption.by) return { value, status: signalStatus(interruption.by) };
      return { value, status: outcome === 'ok' ? 0 : status || 1 };
    } finally {
      end();
      interruption.remove();
    }
  },
  human: ({ app, job, outcome, duration_ms: ms, reason }: JobEnd, style) => {
    const name = style.bold(`${harmlessLine(app)} ${harmlessLine(job)}`);
    if (outcome === 'ok') return `${style.green('Done')}: ${name} in ${durationText(ms)}\n`;
    return `${style.red('Failed')}: ${name}: ${harmlessLine(reason ?? outcome)}\n`;
  },
});
