/** What the state of an app becomes when a deploy succeeds. */
import { withoutStopped } from '@runner/common/apps/operator';
import type { AppState, Deployed } from '@runner/common/apps/state';
import { followed } from './after-rollback.ts';

/**
 * The state after a success: a version for these instances, and no failures. If an operator left an
 * instance at another commit than the head of the branch, that head is on hold: the timer must not
 * undo the choice.
 */
export function succeededState(
  app: AppState,
  names: readonly string[],
  deployed: Deployed,
  keep: number,
  skippedHead: string | undefined,
): AppState {
  const instances = withCurrent(app, names, deployed, keep);
  const isElsewhere = Object.values(instances).some(
    ({ current }) => current && current.commit !== skippedHead,
  );
  const held =
    skippedHead !== undefined && isElsewhere
      ? {
          commit: skippedHead,
          head: skippedHead,
          commits: [skippedHead],
          since: deployed.deployed_at,
          reason: `${deployed.version} was deployed by hand`,
        }
      : null;
  const last_failure = followed(app.last_failure, names);
  const stopped = withoutStopped(app, names);
  return { ...app, instances, failures: null, held, last_failure, stopped, deploying: null };
}

function withCurrent(
  app: AppState,
  names: readonly string[],
  deployed: Deployed,
  keep: number,
): AppState['instances'] {
  const instances = { ...app.instances };
  for (const name of names) {
    const { broken: _, ...before } = app.instances[name] ?? { current: null, previous: [] };
    const versions = [before.current, ...before.previous];
    const sequence = 1 + Math.max(...versions.map((each) => each?.sequence ?? 0));
    const kept = otherCommits(versions, deployed.commit);
    instances[name] = {
      ...before,
      current: { ...deployed, sequence },
      active_since: deployed.deployed_at,
      previous: kept.slice(0, keep - 1),
    };
  }
  return instances;
}

/**
 * The first version of every other commit: a commit that is deployed again replaces its earlier
 * release, so that a rollback always leads to another commit.
 */
function otherCommits(versions: readonly (Deployed | null)[], commit: string): Deployed[] {
  const seen = new Set([commit]);
  return versions.filter((each): each is Deployed => {
    if (!each || seen.has(each.commit)) return false;
    seen.add(each.commit);
    return true;
  });
}
