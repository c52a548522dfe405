import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { readIfThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { redactorForAny } from '@runner/common/redaction/redact';
import { harmless } from '@runner/common/text/harmless';
import { jobPaths } from '@runner/deploy/jobs/attempt';
import { requireKept } from '../kept.ts';

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
    run: { placeholder: 'ID', about: 'Of this run; runner jobs APP JOB lists the IDs' },
  },
  examples: ['runner jobs log shop nightly'],
  async run({ io, paths, args, options }) {
    const { app } = requireApp(paths, args.app);
    const entry = requireKept(paths, app, args.job);
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
