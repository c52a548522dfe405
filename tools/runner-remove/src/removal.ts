/** Removing an app: what runs is stopped, the registration goes first, then its files. */
import { rmSync } from 'node:fs';
import { changeRegistry } from '@runner/common/apps/change';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { requireLock } from '@runner/common/files/lock';
import { isThere, namesIn, removeIfThere } from '@runner/common/files/read';
import { syncFolder } from '@runner/common/files/write';
import { Failure, usage } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { ask, canAsk } from '@runner/common/tokens/prompt';
import { stopInstances } from '@runner/deploy/instances/stop';

/** What `remove` prints. */
export interface Removed {
  app: string;
  /** Folders that were kept: shared files of its instances. */
  kept: string[];
}

type RemoveContext = Pick<Context, 'io' | 'paths' | 'note'> & {
  readonly args: { readonly app: string };
  readonly options: { readonly yes: boolean; readonly purge: boolean; readonly force: boolean };
};

/** Throws `app_not_found`, `locked`, `interrupted`, `stop_failed`, `usage`. */
export async function removeApp(context: RemoveContext): Promise<Removed> {
  const { io, paths, args, options } = context;
  const { app } = requireApp(paths, args.app);
  if (!options.yes) confirm(context, app);
  const holder = { pid: io.pid, command: 'remove', since: io.now().toISOString() };
  const lock = requireLock(paths.lock(app), `'${app}'`, 0, holder);
  try {
    const state = requireApp(paths, app);
    const left = await stopInstances(io, paths, state);
    if (left.length > 0 && !options.force) throw stillRuns(app, left);
    for (const why of left) context.note(why);
    // From here on the app is gone; what is left of its files is only rubbish.
    changeRegistry(paths, io, 'remove', () => {
      removeIfThere(paths.state(app));
      syncFolder(paths.stateDir);
    });
    return { app, kept: removeFiles(paths, state, options.purge) };
  } finally {
    lock.release();
  }
}

/** Once the app were forgotten nothing would tell what runs on. */
function stillRuns(app: string, left: readonly string[]): Failure {
  const ways = 'mend it or stop it by hand and remove again, or give --force';
  return new Failure('stop_failed', `${left.join('; ')}; '${app}' stays registered: ${ways}`);
}

function confirm({ io }: RemoveContext, app: string): void {
  if (!canAsk(io))
    throw usage(
      'the following required arguments were not provided: --yes (nobody can be asked here)',
    );
  const answer = ask(io, `Remove '${app}', its token and its releases? [y/N]`);
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new Failure('interrupted', 'not confirmed, nothing was changed');
}

function removeFiles(paths: Paths, { app }: AppState, purge: boolean): string[] {
  const files = paths.app(app);
  const remove = (path: string) => rmSync(path, { recursive: true, force: true });
  if (purge) {
    remove(files.dir);
    remove(paths.deployLogs(app));
    return [];
  }
  remove(files.releases);
  remove(files.repo);
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
