/** What the app's state becomes when a deploy succeeds. */
import type { AppState, Deployed } from '@runner/common/apps/state';

/**
 * The state after a success: a version for these instances, nothing that failed. Held is only the
 * head of the branch when an operator left an instance at something else: the timer must not undo it.
 */
export function succeededState(
  app: AppState,
  names: readonly string[],
  deployed: Deployed,
  keep: number,
  passedOver: string | undefined,
): AppState {
  const instances = withCurrent(app, names, deployed, keep);
  const elsewhere = Object.values(instances).some(
    ({ current }) => current && current.commit !== passedOver,
  );
  const held =
    passedOver !== undefined && elsewhere
      ? {
          commit: passedOver,
          since: deployed.deployed_at,
          reason: `${deployed.version} was deployed by hand`,
        }
      : null;
  return { ...app, instances, failures: null, held, deploying: null };
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
    const kept = otherCommits([before.current, ...before.previous], deployed.commit);
    instances[name] = {
      ...before,
      current: deployed,
      active_since: deployed.deployed_at,
      previous: kept.slice(0, keep - 1),
    };
  }
  return instances;
}

/**
 * The first version of each commit but this one: a commit that is deployed once more replaces itself,
 * so that going back always leads to another one.
 */
function otherCommits(versions: readonly (Deployed | null)[], commit: string): Deployed[] {
  const seen = new Set([commit]);
  return versions.filter((each): each is Deployed => {
    if (!each || seen.has(each.commit)) return false;
    seen.add(each.commit);
    return true;
  });
}
