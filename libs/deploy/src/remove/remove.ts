/** Removing an app: it is stopped, its registration is removed, then its files. */
import { changeRegistry } from '@runner/common/apps/change';
import { requireApp } from '@runner/common/apps/store';
import { isThere, namesIn, removeIfThere } from '@runner/common/files/read';
import { syncFolder } from '@runner/common/files/write';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { removeEnvFile } from '../instances/env-file.ts';
import { keptFilesOf } from '../instances/kept-file.ts';
import { stopInstances, unstoppable } from '../instances/stop.ts';
import { lockApp } from '../record/lock.ts';
import { removeTree } from '../release/folder.ts';
import { stepEnvironment } from '../run/environment.ts';

/** What `runner remove` prints. */
export interface RemovedApp {
  app: string;
  /** Folders that were kept: the shared files of its instances. */
  kept: string[];
}

/** What the command line asks for. */
export interface RemoveRequest {
  readonly io: Io;
  readonly paths: Paths;
  readonly app: string;
  /** Remove shared files and deploy logs too. */
  readonly purge: boolean;
  /** Remove the app even if an instance cannot be stopped. */
  readonly force: boolean;
  note(text: string): void;
}

/** Throws `app_not_found`, `locked`, `stop_failed`. */
export async function removeApp(request: RemoveRequest): Promise<RemovedApp> {
  const { io, paths, app, force } = request;
  const lock = await lockApp({ io, paths, app }, 'remove');
  try {
    const state = requireApp(paths, app);
    const problems = await stopInstances(io, paths, state);
    const unstopped = unstoppable(paths, state);
    if (problems.length > 0 && !force) throw stillRuns(app, problems);
    for (const problem of [...problems, ...unstopped]) request.note(problem);
    // The registration goes before the files: after a kill, leftover files harm no one. But another app
    // of the same name must not get the secrets.
    changeRegistry(paths, io, 'remove', () => {
      removeIfThere(paths.secrets(app));
      removeIfThere(paths.state(app));
      syncFolder(paths.stateDir);
    });
    return { app, kept: removeFiles(request) };
  } finally {
    lock.release();
  }
}

function stillRuns(app: string, problems: readonly string[]): Failure {
  const advice = 'fix it or stop it by hand, then remove again, or use --force';
  return new Failure('stop_failed', `${problems.join('; ')}; '${app}' stays registered: ${advice}`);
}

function removeFiles({ io, paths, app, purge, note }: RemoveRequest): string[] {
  const files = paths.app(app);
  const env = stepEnvironment(io.env);
  for (const name of namesIn(files.instances))
    removeEnvFile({ app, instance: { name }, env, paths: files.instance(name) });
  const remove = (path: string) => {
    const problem = removeTree(path);
    if (problem) note(problem);
  };
  if (purge) {
    remove(files.dir);
    remove(paths.deployLogs(app));
    return [];
  }
  remove(files.releases);
  remove(keptFilesOf(files));
  remove(files.repo);
  remove(files.home);
  remove(files.baseline);
  const kept: string[] = [];
  for (const name of namesIn(files.instances)) {
    const instance = files.instance(name);
    removeIfThere(instance.current);
    remove(instance.run);
    if (namesIn(instance.shared).length > 0) kept.push(instance.shared);
    else remove(instance.dir);
  }
  if (kept.length === 0 && isThere(files.dir)) remove(files.dir);
  return kept;
}
