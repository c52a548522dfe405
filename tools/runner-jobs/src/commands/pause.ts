import { type Context, command } from '@runner/common/cli/command';
import { initiatorOf } from '@runner/common/foundation/user';
import { harmlessLine } from '@runner/common/text/harmless';
import { changeJobBook, dated, requireJob } from '@runner/deploy/jobs/book';

/** What both print. */
type PausedJob = ReturnType<typeof setPaused>;

const positionals = {
  app: { required: true, about: 'Name of the app' },
  job: { required: true, about: 'Name of the job' },
} as const;

export const pause = command({
  name: 'pause',
  needsRoot: true,
  about: 'Pause a job until it is resumed',
  details:
    'Its times pass without a run, and do not count as missed. A run in progress is not ended.',
  positionals,
  examples: ['runner jobs pause shop nightly'],
  async run(context) {
    return { value: setPaused(context, true) };
  },
  human: ({ app, job }: PausedJob) =>
    `Paused ${harmlessLine(app)} ${harmlessLine(job)} until runner jobs resume\n`,
});

export const resume = command({
  name: 'resume',
  needsRoot: true,
  about: 'Let a paused job run again',
  positionals,
  examples: ['runner jobs resume shop nightly'],
  async run(context) {
    return { value: setPaused(context, false) };
  },
  human: ({ app, job }: PausedJob) =>
    `${harmlessLine(app)} ${harmlessLine(job)} runs at its times again\n`,
});

function setPaused(
  {
    io,
    paths,
    args,
  }: Pick<Context, 'io' | 'paths'> & {
    readonly args: { readonly app: string; readonly job: string };
  },
  isPaused: boolean,
) {
  const { app: name, job } = args;
  requireJob({ io, paths }, name, job);
  const since = io.now().toISOString();
  const wanted = isPaused ? { since, by: initiatorOf(io, 'manual') } : null;
  const paused = changeJobBook({ io, paths }, name, ({ jobs }) => {
    const entry = jobs[job];
    // What is due now is due.
    if (!entry || (entry.paused !== null) === isPaused) return entry?.paused ?? null;
    // What was due while it rested is not made up for.
    jobs[job] = dated({ ...entry, paused: wanted, settled: since, waiting: null });
    return wanted;
  });
  return { app: name, job, paused };
}
