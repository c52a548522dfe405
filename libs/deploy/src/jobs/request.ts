/** What a run of a job needs. */
import type { Paths } from '@runner/common/foundation/paths';
import type { Announcing } from '../alerts/announce.ts';
import type { OpenedSecrets } from '../journal/secrets.ts';
import type { Reporter } from '../report/reporter.ts';

/** What runs a job. */
export interface JobRequest extends Announcing {
  readonly app: string;
  readonly job: string;
  readonly signal: AbortSignal;
  /** The secrets that were read last: the key may go with the service that had it. */
  readonly opened?: { secrets?: OpenedSecrets };
  readonly reporter: Reporter;
}

/** Where the log of a run goes: a deploy log in a folder of its own. */
export function jobPaths(paths: Paths, job: string): Paths {
  const deployLogs = (app: string) => paths.jobLogs(app, job);
  return { ...paths, deployLogs, deployLog: (app, id) => `${deployLogs(app)}/${id}.log` };
}
