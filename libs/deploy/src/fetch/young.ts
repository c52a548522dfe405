/** Whether the packages that a commit brings let `fetch --deploy` deploy it. */
import { AGE_COUNTS, knownAge, type PackageAge } from '@runner/common/apps/package-age';
import { fetchMissing } from '../git/same-paths.ts';
import { previousOfAll } from '../instances/target.ts';
import { leastAge, waitWords, youngAmong } from '../packages/age.ts';
import { broughtBy } from '../packages/brought.ts';
import type { FetchResult } from './decide.ts';
import type { LookedAt } from './follow.ts';
import type { FetchRequest } from './request.ts';

/** How long it counts that an age is not known, in ms. */
const UNKNOWN_COUNTS = 600_000;

/** A decision to deploy a commit becomes `young` while its packages are; `known`: what was found out a moment ago. */
export async function afterAge(
  request: Pick<FetchRequest, 'io' | 'paths'>,
  { app, source, locked }: LookedAt,
  decided: FetchResult,
  known?: PackageAge,
): Promise<FetchResult> {
  const { commit, version } = decided;
  const from = previousOfAll(app, [])?.commit;
  if (decided.result !== 'new_commit' || commit === null || from === undefined || app.deploying)
    return decided;
  const least = leastAge(request.paths, app);
  if (least === 0) return decided;
  const now = request.io.now();
  const age =
    knownAge(known, commit, now) ??
    (await locked(() => ageOf(request, { app, source }, { from, to: commit, least })));
  const more = { package_age: age };
  if (age.waits === undefined) return { ...decided, ...more };
  return { ...decided, result: 'young', text: `${version} waits${age.waits}`, ...more };
}

async function ageOf(
  { io }: Pick<FetchRequest, 'io'>,
  { app, source }: Pick<LookedAt, 'app' | 'source'>,
  { from, to, least }: { from: string; to: string; least: number },
): Promise<PackageAge> {
  await fetchMissing(source, [to, from]);
  const brought = await broughtBy(source, app, { from, to });
  const young = await youngAmong({ io, signal: source.signal }, brought, least);
  const now = io.now().getTime();
  const until = young ? (young.until ?? now + UNKNOWN_COUNTS) : now + AGE_COUNTS;
  const again = new Date(Math.min(until, now + AGE_COUNTS)).toISOString();
  return { commit: to, again, ...(young && { waits: waitWords(young) }) };
}
