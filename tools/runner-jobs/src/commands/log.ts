import { readJobBook } from '@runner/common/apps/job-book';
import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { readIfThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { redactorForAny } from '@runner/common/redaction/redact';
import { harmless } from '@runner/common/text/harmless';
import { choiceOf } from '@runner/common/text/nearest';
import { jobPaths } from '@runner/deploy/jobs/request';

/** Bytes: a kept log is no longer. */
const LOG_MAX = 67_108_864;

/** What `--json` prints. */
interface JobLog {
  readonly app: string;
  readonly job: string;
  readonly id: string;
  readonly log: string;
  readonly text: string;
}

export const log = command({
  name: 'log',
  about: 'Show what the newest run of a job has printed',
  details:
    'The logs of the newest 20 runs of a job are kept, also once no release has it any more.',
  positionals: {
    app: { required: true, about: 'Name of the app' },
    job: { required: true, about: 'Name of the job' },
  },
  options: {
    run: { placeholder: 'ID', about: 'Of this run; the IDs are in runs of runner jobs --json' },
  },
  examples: ['runner jobs log shop nightly'],
  async run({ io, paths, args, options }) {
    const { app } = requireApp(paths, args.app);
    const jobs = readJobBook(paths, app)?.jobs ?? {};
    const entry = Object.hasOwn(jobs, args.job) ? jobs[args.job] : undefined;
    if (!entry) {
      const known = Object.keys(jobs);
      const has = known.length === 0 ? '; it has none' : choiceOf('it has', args.job, known);
      throw new Failure('job_not_found', `'${app}' has no job '${args.job.slice(0, 80)}'${has}`);
    }
    const ids = [entry.run, ...entry.runs.filter(({ outcome }) => outcome !== 'skipped')].flatMap(
      (run) => run?.id ?? [],
    );
    const id = options.run ?? ids[0];
    if (id === undefined)
      throw new Failure('log_not_found', `job ${args.job} of '${app}' has not run yet`);
    if (!ids.includes(id))
      throw new Failure(
        'log_not_found',
        `job ${args.job} of '${app}' has no run '${id.slice(0, 80)}'`,
      );
    const path = jobPaths(paths, args.job).deployLog(app, id);
    const bytes = readIfThere(path, LOG_MAX);
    if (!bytes) throw new Failure('log_not_found', `the log of run ${id} is no longer kept`);
    const redact = await redactorForAny({ paths, env: io.env }, app);
    const text = redact(bytes.toString('utf8'));
    return { value: { app, job: args.job, id, log: path, text } satisfies JobLog };
  },
  human: ({ text }: JobLog) => harmless(text),
});
