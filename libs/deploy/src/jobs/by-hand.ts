/** A run that an operator begins. The process of the command carries it. */
import { isPast, type JobEntry } from '@runner/common/apps/job-book';
import type { AppState } from '@runner/common/apps/state';
import { newDeployId } from '@runner/common/audit/events';
import { Failure } from '@runner/common/foundation/failure';
import { announcerOf } from '../alerts/announce.ts';
import type { JobRequest } from './attempt.ts';
import { changeJobBook, requireJob } from './book.ts';
import { claimsOf, endClaim } from './claims.ts';
import { isAlive, newsOfKilled } from './look.ts';
import { carryRun, type JobEnd } from './run.ts';
import { killedRun, withRun } from './settle.ts';
import { changeOf } from './tell.ts';

/** Runs a job for an operator. Throws `locked` while it runs already, and what `refuse` throws. */
export async function runByHand(
  request: JobRequest,
  refuse: (app: AppState) => void,
): Promise<JobEnd> {
  const { io, paths, app: name, job } = request;
  refuseBeside(request, requireJob(request, name, job));
  const id = newDeployId(io.random);
  const announcer = announcerOf(request);
  const begin = () => {
    changeJobBook(request, name, ({ jobs }, app) => {
      const entry = jobs[job];
      if (!entry || isPast(entry))
        throw new Failure('job_not_found', `'${name}' has no job '${job}'`);
      refuseBeside(request, entry);
      refuse(app);
      const now = io.now();
      const at = now.toISOString();
      const dead = entry.run && killedRun(entry.run, now);
      if (dead) endClaim({ io, paths }, name, { rules: entry.rules, id: dead.id });
      const token = claimedByHand(request, entry, id);
      const told = dead ? newsOfKilled(withRun(entry, dead), dead, at) : { entry, news: [] };
      for (const each of told.news) announcer.announce(changeOf(app, told.entry, each));
      jobs[job] = { ...told.entry, run: { id, due: null, at, version: null, ...token } };
    });
    return announcer.finish();
  };
  const end = await carryRun(request, id, begin);
  if (!end) throw new Failure('locked', `job ${job} of '${name}' runs already`);
  return end;
}

function refuseBeside({ io, paths, app, job }: JobRequest, { run }: JobEntry): void {
  if (run && isAlive(paths, app, job, { run, now: io.now() }))
    throw new Failure('locked', `job ${job} of '${app}' runs already, since ${run.at}`);
}

/** An operator's run goes on without a broker, but not beside that of another server. */
function claimedByHand({ io, paths, app, reporter }: JobRequest, { rules }: JobEntry, id: string) {
  const answer = claimsOf({ io, paths }, app)({ rules, id, due: null });
  if (answer.result === 'claimed') return answer.token === null ? {} : { token: answer.token };
  if (answer.result !== 'unknown')
    throw new Failure('locked', `job ${rules.name} of '${app}' runs already, on ${answer.server}`);
  reporter.note(`the broker was not asked whether another server runs it: ${answer.why}`);
  return {};
}
