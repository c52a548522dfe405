/** What a deploy says of the packages that its commit brings: those with new install scripts, and young ones. */
import type { ChangeSummary } from '@runner/common/apps/deployed';
import type { AppState } from '@runner/common/apps/state';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { fetchMissing } from '../git/same-paths.ts';
import type { GitSource } from '../git/source.ts';
import { activeFile } from '../instances/target.ts';
import { leastAge, youngAmong } from '../packages/age.ts';
import { type BroughtPackages, broughtBy, NAMED, scriptFields } from '../packages/brought.ts';

const UNLOCKED =
  'min_package_age compares nothing: the commit has no lock file of npm, pnpm or yarn';

/**
 * For the record, and for a person who deploys. Compares with the commit that is active; without one, nothing is
 * new. The age was looked at if it is automatic.
 */
export async function packagesOf(
  { io, paths, isAutomatic }: Server & { readonly isAutomatic: boolean },
  { app, source }: { readonly app: AppState; readonly source: GitSource },
  { from, to }: { readonly from: string | undefined; readonly to: string },
): Promise<{ changes: Partial<ChangeSummary>; notes: readonly string[] }> {
  const nothing = { changes: {}, notes: [] };
  if (from === undefined || from === to) return nothing;
  let brought: BroughtPackages;
  try {
    const there = await fetchMissing(source, [from]);
    if (there.length === 0) return nothing;
    brought = await broughtBy(source, app, { from, to });
  } catch (error) {
    // Of no importance to the deploy.
    if (error instanceof Failure && !source.signal.aborted) return nothing;
    throw error;
  }
  const changes = scriptFields(brought.scripts);
  const unread = brought.problem === undefined ? [] : [brought.problem];
  if (!brought.isLocked && activeFile(paths, app)?.minPackageAge) unread.push(UNLOCKED);
  const least = isAutomatic ? 0 : leastAge(paths, app);
  const young =
    least === 0 ? undefined : await youngAmong({ io, signal: source.signal }, brought, least);
  if (!young) return { changes, notes: unread };
  const { names, why } = young;
  return {
    changes: { ...changes, ...(names.length > 0 && { young_packages: names.slice(0, NAMED) }) },
    notes: [`fetch --deploy would wait: ${why}`],
  };
}
