/** Removing an app: it is stopped, its registration is removed, then its files. */
import { dirname, join } from 'node:path';
import { changeRegistry } from '@runner/common/apps/change';
import { prunePlans } from '@runner/common/apps/old-plans';
import { liveLink } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { removeView } from '@runner/common/apps/viewed';
import { approvalRuleOf } from '@runner/common/config/approval';
import { readConfig } from '@runner/common/config/file';
import { folderNamesIn, isThere, namesIn, removeIfThere } from '@runner/common/files/read';
import { removeTree } from '@runner/common/files/tree-change';
import { syncFolder } from '@runner/common/files/write';
import { Failure } from '@runner/common/foundation/failure';
import type { AppPaths, InstancePaths, Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { removeEnvFile } from '../instances/env-file.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import { stopInstances, unstoppable } from '../instances/stop.ts';
import { endJobs } from '../jobs/give-way.ts';
import { underLock } from '../journal/lock.ts';
import { stepEnvironment } from '../run/environment.ts';
import { endDeploy, endHooks } from '../run/processes.ts';
import { recordUnfinished, recordUnwatched } from './unfinished.ts';

/** What `runner remove` prints. */
export interface RemovedApp {
  app: string;
  /** Folders that are still there: the shared files of its instances, and what could not be removed. */
  kept: string[];
}

/** What the command line asks for. */
export interface RemoveRequest extends Server {
  readonly app: string;
  /** Remove shared files and deploy logs too. */
  readonly purge: boolean;
  /** Remove the app even if an instance cannot be stopped. */
  readonly force: boolean;
  note(text: string): void;
}

/** Throws `app_not_found`, `approval_required`, `locked`, `stop_failed`. */
export async function removeApp(request: RemoveRequest): Promise<RemovedApp> {
  const { io, paths, app, force } = request;
  return underLock({ io, paths, app }, 'remove', async () => {
    const state = requireApp(paths, app);
    requireMayEnd({ io, paths }, state);
    await endJobs({ io, paths }, app);
    const problems = await stopInstances({ io, paths }, state);
    const unstopped = unstoppable(paths, state);
    if (problems.length > 0 && !force) throw stillRuns(app, problems);
    for (const problem of [...problems, ...unstopped]) request.note(problem);
    const { dir } = paths.app(app);
    endHooks(dir);
    if (state.deploying) endDeploy(dir, state.deploying.deploy_id);
    recordUnfinished(request, state);
    recordUnwatched(request, state);
    // The registration goes before the files: after a kill, leftover files harm no one. But another app
    // of the same name must not get the secrets.
    changeRegistry({ io, paths, command: 'remove' }, () => {
      // First: what has an active version is no leftover of a removal.
      for (const { current, dir: own } of instancesIn(paths.app(app))) {
        removeIfThere(current);
        removeIfThere(liveLink({ dir: own }));
      }
      removeIfThere(paths.secrets(app));
      removeIfThere(paths.state(app));
      removeView(paths, app);
      prunePlans({ io, paths }, app);
      syncFolder(paths.stateDir);
    });
    // From here on none begins.
    await endJobs({ io, paths }, app);
    return { app, kept: removeFiles(request) };
  });
}

/** Throws `approval_required` for an app that runs if a stop needs one. */
export function requireMayEnd({ io, paths }: Server, state: AppState): void {
  const { app, instances, stopped } = state;
  const needs =
    io.env.RUNNER_GRANT !== undefined || approvalRuleOf(readConfig(paths), app).counts.stop;
  const running = Object.entries(instances).find(([name, { current }]) => {
    const file = current && fileOfRelease(paths, app, current);
    const hasNothing = file?.start.type === 'none' && file.jobs.length === 0;
    return current && !hasNothing && !stopped?.instances.includes(name);
  });
  if (needs && running)
    throw new Failure(
      'approval_required',
      `'${app}' runs, and its stop needs an approval: run runner plan stop ${word(app)}, and remove it once it is stopped`,
    );
}

function stillRuns(app: string, problems: readonly string[]): Failure {
  const advice = 'fix it or stop it manually, then remove again, or use --force';
  return new Failure('stop_failed', `${problems.join('; ')}; '${app}' stays registered: ${advice}`);
}

function removeFiles({ io, paths, app, purge, note }: RemoveRequest): string[] {
  const files = paths.app(app);
  const env = stepEnvironment(io.env);
  for (const name of folderNamesIn(files.instances))
    removeEnvFile({ app, instance: { name }, env, paths: files.instance(name) });
  const { leftover, kept } = leftoversOf(files);
  const logs = [paths.deployLogs(app), dirname(paths.jobLogs(app, '_'))];
  const left = (purge ? [files.dir, ...logs] : leftover).filter((path) => {
    const problem = removeTree(path);
    if (problem) note(problem);
    return problem !== undefined;
  });
  return purge ? left : [...left, ...kept];
}

const instancesIn = ({ instances, instance }: AppPaths) => folderNamesIn(instances).map(instance);

/** Files of a removed app: those that may go, and the folders with shared files that are kept. */
export function leftoversOf(files: AppPaths): { leftover: string[]; kept: string[] } {
  const instances = instancesIn(files);
  const isKept = ({ shared }: InstancePaths) => namesIn(shared).length > 0;
  const kept = instances.filter(isKept).map(({ shared }) => shared);
  const others = namesIn(files.dir).map((name) => join(files.dir, name));
  const all =
    kept.length === 0
      ? [files.dir]
      : [
          ...others.filter((path) => path !== files.instances),
          ...instances.map((each) => (isKept(each) ? each.run : each.dir)),
        ];
  return { leftover: all.filter(isThere), kept };
}
