import { type JobEntry, readJobBook } from '@runner/common/apps/job-book';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { choiceOf } from '@runner/common/text/nearest';

/** A job of an app whose runs are kept, also once no release has it. Throws `job_not_found`. */
export function requireKept(paths: Paths, app: string, job: string): JobEntry {
  const jobs = readJobBook(paths, app)?.jobs ?? {};
  const entry = Object.hasOwn(jobs, job) ? jobs[job] : undefined;
  if (entry) return entry;
  const known = Object.keys(jobs);
  const has = known.length === 0 ? '; it has none' : choiceOf('it has', job, known);
  throw new Failure('job_not_found', `'${app}' has no job '${job.slice(0, 80)}'${has}`);
}
