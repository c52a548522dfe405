/** Deploys that legitimately have no end in the log yet. */

import { runningDeploy } from '@runner/common/apps/state-word';
import { visitApps } from '@runner/common/apps/store';
import { isClosed, namesIn } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';

/**
 * IDs of deploys that are running, or whose end is waiting to be appended. `unknown`: why some may be
 * missing, if this user cannot read everything.
 */
export function deploysInProgress(paths: Paths): { ids: string[]; unknown: string | undefined } {
  const ids: string[] = [];
  let unknown: string | undefined;
  const unlessClosed = (folder: string, read: () => void) => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof Failure) || !isClosed(folder)) throw error;
      unknown ??= error.message;
    }
  };
  unlessClosed(paths.stateDir, () =>
    visitApps(
      paths,
      (app) => {
        const running = runningDeploy(app);
        if (running) ids.push(running.deploy_id);
      },
      ({ failure }) => {
        unknown ??= failure.message;
      },
    ),
  );
  unlessClosed(paths.auditSpool, () => {
    for (const name of namesIn(paths.auditSpool)) {
      const id = /^\d+-(.{8})-Deploy(?:Success|Failure)(?:-.*)?\.jsonl$/.exec(name)?.[1];
      if (id !== undefined) ids.push(id);
    }
  });
  return { ids, unknown };
}
