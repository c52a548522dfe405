/** Whether a planned commit is still on the branch or tag that was planned. */
import type { CommandPlan } from '@runner/common/apps/plans';
import { Failure } from '@runner/common/foundation/failure';
import { changedPlan } from '../approval/admit.ts';
import { gitIn } from '../git/git.ts';
import { commitsBetween, historyOf } from '../git/history.ts';
import type { ResolvedRef } from '../git/ref.ts';
import { listFollowed } from '../git/remote.ts';
import type { GitSource } from '../git/source.ts';

/** A branch that has moved on still has it; one that was pushed by force has not. Throws `plan_changed`. */
export async function requireStillThere(
  source: GitSource,
  { commit, head, refs }: ResolvedRef,
  plan: CommandPlan,
): Promise<void> {
  const { ref, version } = plan;
  // What was planned by its id is on no branch.
  if (ref !== null && /^[0-9a-f]{7,}$/.test(ref) && commit.startsWith(ref)) return;
  const name = ref ?? version;
  const patterns = [`refs/heads/${name}`, `refs/tags/${name}^{}`, `refs/tags/${name}`];
  const known = ref === null ? refs : (await listFollowed(source, patterns)).refs;
  const [branch, ...tags] = patterns.map(
    (pattern) => known.find(([, each]) => each === pattern)?.[0],
  );
  const isTag = ref === null ? source.tags !== undefined : branch === undefined;
  const at = isTag ? tags.find((each) => each !== undefined) : ref === null ? head : branch;
  if (at === commit || (at !== undefined && !isTag && (await isAncestor(source, commit, at))))
    return;
  const where = at === undefined ? 'is gone' : `is at ${at.slice(0, 12)}, which does not have it`;
  throw changedPlan(plan, [
    `commit ${commit.slice(0, 12)} was planned and ${ref ?? 'what the app follows'} ${where}`,
  ]);
}

/** A commit that the code host no longer has. */
export const asChangeOf =
  (plan: CommandPlan | undefined) =>
  (error: unknown): never => {
    if (!plan || !(error instanceof Failure) || error.code !== 'ref_not_found') throw error;
    throw changedPlan(plan, [`the code host no longer has commit ${plan.commit?.slice(0, 12)}`]);
  };

async function isAncestor(source: GitSource, commit: string, head: string): Promise<boolean> {
  if (!(await commitsBetween(source, commit, head, 'far'))) return false;
  const args = ['merge-base', '--is-ancestor', '--end-of-options', commit, head];
  return (await gitIn(historyOf(source), args)).status === 0;
}
