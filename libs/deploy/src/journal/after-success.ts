/** What the state of an app becomes when a deploy succeeds. */

import type { Deployed } from '@runner/common/apps/deployed';
import { withoutStopped } from '@runner/common/apps/operator';
import { withoutReturned } from '@runner/common/apps/restored';
import type { AppState } from '@runner/common/apps/state';
import type { WatchState } from '@runner/common/apps/watch';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { followed } from './after-rollback.ts';
import type { Deploy } from './operation.ts';

/** What an operator chose to deploy; with `returns` what keeps the head from being deployed stays. */
export interface Choice extends Pick<Deploy, 'skippedHead' | 'partial' | 'returns'> {
  readonly keep: number;
  readonly by: string;
  /** Where the instances are found. */
  readonly urls: Readonly<Record<string, string>>;
  readonly watch: WatchState | null;
}

/** How a release is watched; null if its `.deploy.yml` does not say so. */
export function watchOfRelease(
  { watch }: DeployFile,
  op: Pick<Deploy, 'deployId' | 'version' | 'commit' | 'instances' | 'journal' | 'app'>,
  since: string,
): WatchState | null {
  if (!watch) return null;
  const { journal, instances, deployId: deploy_id, version, commit, app } = op;
  const until = new Date(Date.parse(since) + watch.for).toISOString();
  const from = journal?.started ?? since;
  const first = instances.filter((name) => !app.instances[name]?.current);
  const watched = { deploy_id, version, commit, instances: [...instances], since, until, from };
  return { ...watched, ...(first.length > 0 && { first }) };
}

/** Instances that what was deployed does not name: they are stopped once the success is recorded. */
export function leaving(
  { instances }: Pick<AppState, 'instances'>,
  names: readonly string[],
  { partial }: Pick<Choice, 'partial'>,
): string[] {
  return partial ? [] : Object.keys(instances).filter((name) => !names.includes(name));
}

/**
 * The state after a success: a version for these instances, and no failures. If an operator left an
 * instance at another commit than the head of the branch, that head is on hold: the timer must not
 * undo the choice. The deploy stays marked until the instances that leave are stopped: after a kill,
 * the next command stops them.
 */
export function succeededState(
  app: AppState,
  names: readonly string[],
  deployed: Deployed,
  choice: Choice,
): AppState {
  const instances = withCurrent(app, names, deployed, choice);
  const held = holdAfter(instances, names, deployed, choice);
  const forgiven = {
    failures: null,
    attempts: null,
    held,
    ...(!held && { behind_since: null }),
    last_failure: followed(app.last_failure, names),
  };
  return {
    ...app,
    instances,
    ...(!choice.returns && forgiven),
    restored: withoutReturned(app, choice.partial ? names : 'all'),
    stopped: withoutStopped(app, names),
    watch: choice.watch,
    deploying: leaving(app, names, choice).length > 0 ? app.deploying : null,
  };
}

function holdAfter(
  instances: AppState['instances'],
  names: readonly string[],
  { version, deployed_at: since }: Deployed,
  { skippedHead: head, partial, by }: Choice,
): AppState['held'] {
  const isElsewhere = Object.entries(instances).some(
    // What the commit no longer names goes, unless only one instance was deployed.
    ([name, { current }]) =>
      (partial || names.includes(name)) && current && current.commit !== head,
  );
  if (head === undefined || !isElsewhere) return null;
  const reason = `${version} was deployed by hand`;
  return { commit: head, head, commits: [head], since, by, reason };
}

function withCurrent(
  app: AppState,
  names: readonly string[],
  deployed: Deployed,
  { keep, by, urls }: Pick<Choice, 'keep' | 'by' | 'urls'>,
): AppState['instances'] {
  const instances = { ...app.instances };
  for (const name of names) {
    const { broken: _, ...before } = app.instances[name] ?? { current: null, previous: [] };
    const versions = [before.current, ...before.previous];
    const sequence = 1 + Math.max(...versions.map((each) => each?.sequence ?? 0));
    const kept = otherCommits(versions, deployed.commit);
    instances[name] = {
      ...before,
      current: { ...deployed, sequence, ...(Object.hasOwn(urls, name) && { url: urls[name] }) },
      active_since: deployed.deployed_at,
      active_by: by,
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
