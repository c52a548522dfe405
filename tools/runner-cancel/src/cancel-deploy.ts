/** Ending the deploy of an app that another process runs. */
import { heldCommits } from '@runner/common/apps/hold';
import { requireApp } from '@runner/common/apps/store';
import { kindOf, textOf } from '@runner/common/audit/record';
import { eventsOfDeploy } from '@runner/common/audit/scan';
import { liveHolder } from '@runner/common/files/lock';
import { bootId, startTimeOf } from '@runner/common/files/process';
import { removeIfThere } from '@runner/common/files/read';
import { writeUnsynced } from '@runner/common/files/write';
import { Failure, systemCode } from '@runner/common/foundation/failure';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { initiatorOf } from '@runner/common/foundation/user';
import { withoutSteps } from '@runner/deploy/report/reporter';

/** What `runner cancel` prints. */
export interface Cancelled {
  app: string;
  /** `deployed`, `failed`: it ended on its own before the signal took effect. */
  result: 'nothing_running' | 'cancelled' | 'deployed' | 'failed';
  deploy_id: string | null;
  /** null if it was ended before it knew its commit. */
  version: string | null;
  /** Where it ended. */
  stage: string | null;
  /** null if nothing is active. */
  active_version: string | null;
  /** Present if something had been switched. */
  rolled_back?: boolean;
  /** Present if it was withdrawn from its canary: `fetch --deploy` skips the commit from now on. */
  held?: true;
}

/** Between two looks at the lock, in milliseconds. */
const POLL = 100;

type LiveHolder = NonNullable<ReturnType<typeof liveHolder>>;

/** Throws `app_not_found`, `locked` if what runs cannot be cancelled. */
export async function cancelDeploy(
  { io, paths }: Server,
  name: string,
  note: (text: string) => void,
): Promise<Cancelled> {
  const { app, deploying } = requireApp(paths, name);
  const lock = paths.lock(app);
  const holder = liveHolder(lock);
  const running = holder && runs(paths, app, holder) ? holder : undefined;
  const want = (id: unknown) => {
    const wanted = { deploy_id: id, user: initiatorOf(io, 'manual') };
    writeUnsynced(paths.cancel(app), JSON.stringify(wanted));
  };
  if (!holder && deploying?.stage === 'canary') {
    want(deploying.deploy_id);
    try {
      const { withdraw } = await import('@runner/deploy/operation/withdraw');
      await withdraw({ io, paths, app, reporter: withoutSteps({ note }) });
    } finally {
      removeIfThere(paths.cancel(app));
    }
    return endOf(paths, app, deploying.deploy_id);
  }
  if (!running) return outcome(paths, app, 'nothing_running', null);
  const { pid, command, deploy_id: id } = running;
  if (command !== 'deploy' && command !== 'deploy --check')
    throw new Failure('locked', `a ${command} is running and cannot be cancelled`);
  // A fetch goes on with its other apps, which a signal would end too.
  const isAmongOthers = running.trigger === 'fetch';
  // What is left, such as a hook, runs to its end.
  const isLate = running.ending === true;
  if (isLate) await untilRecorded(paths, app, running);
  else want(id);
  try {
    // The next command may have the lock by then.
    const isIts = ({ pid: other, since }: LiveHolder) => other === pid && since === running.since;
    const holds = liveHolder(lock);
    if (!isLate && !isAmongOthers && holds && isIts(holds) && !holds.ending) interrupt(pid);
    for (
      let now: LiveHolder | undefined = isLate ? undefined : running;
      now && isIts(now);
      now = liveHolder(lock)
    )
      await new Promise((resolve) => setTimeout(resolve, POLL));
  } finally {
    if (!isLate) removeIfThere(paths.cancel(app));
  }
  return endOf(paths, app, typeof id === 'string' ? id : null);
}

/** Whether a pid is still the process that took the lock, and began the deploy. */
function runs(paths: Paths, app: string, holder: LiveHolder): boolean {
  const started = startTimeOf(holder.pid);
  const { deploying } = requireApp(paths, app);
  const marked = deploying?.deploy_id === holder.deploy_id ? deploying : undefined;
  if (marked && marked.boot_id !== bootId()) return false;
  const known = [holder.start_time, marked?.start_time];
  return started !== undefined && known.every((time) => time === undefined || time === started);
}

/** Its end is in the state, or it has died. */
async function untilRecorded(paths: Paths, app: string, { deploy_id: id }: LiveHolder) {
  const isMarked = () => requireApp(paths, app).deploying?.deploy_id === id;
  while (isMarked() && liveHolder(paths.lock(app))?.deploy_id === id)
    await new Promise((resolve) => setTimeout(resolve, POLL));
}

function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EPERM')
      throw new Failure(
        'locked',
        `the deploy is process ${pid} of another user: cancel it as that user`,
      );
    // Otherwise it has just ended.
    if (code !== 'ESRCH') throw error;
  }
}

function endOf(paths: Paths, app: string, id: string | null): Cancelled {
  const events = id === null ? [] : eventsOfDeploy(paths, id);
  const end = events.find((each) => /^Deploy(Success|Failure)$/.test(String(kindOf(each))));
  if (!end) return outcome(paths, app, 'cancelled', id);
  const isSuccess = kindOf(end) === 'DeploySuccess';
  const result = isSuccess ? 'deployed' : end.interrupted === true ? 'cancelled' : 'failed';
  const { held } = requireApp(paths, app);
  const isHeld = textOf(end, 'stage') === 'canary' && held !== null && !isSuccess;
  return {
    ...outcome(paths, app, result, id),
    version: textOf(end, 'version'),
    stage: textOf(end, 'stage') || null,
    ...(typeof end.rolled_back === 'boolean' && { rolled_back: end.rolled_back }),
    ...(isHeld && heldCommits(held).includes(textOf(end, 'commit')) && { held: true }),
  };
}

function outcome(
  paths: Paths,
  app: string,
  result: Cancelled['result'],
  deploy_id: string | null,
): Cancelled {
  const active = Object.values(requireApp(paths, app).instances).find(({ current }) => current);
  const active_version = active?.current?.version ?? null;
  return { app, result, deploy_id, version: null, stage: null, active_version };
}
