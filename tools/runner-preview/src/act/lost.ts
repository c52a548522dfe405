/** Previews without a state: it was removed while they run, or a kill has ended their purge. */
import { readlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { changeRegistry } from '@runner/common/apps/change';
import { type PreviewMark, previewSlug } from '@runner/common/apps/preview';
import { SLOTS, slotPaths } from '@runner/common/apps/slots';
import type { AppState, InstanceState } from '@runner/common/apps/state';
import { createApp, newApp } from '@runner/common/apps/store';
import { bootId } from '@runner/common/files/process';
import { folderNamesIn, isThere } from '@runner/common/files/read';
import { removeTree } from '@runner/common/files/tree-change';
import { orElse } from '@runner/common/foundation/attempt';
import { previewedApp } from '@runner/common/foundation/names';
import type { InstancePaths, Server } from '@runner/common/foundation/paths';
import { fileOfRelease } from '@runner/deploy/instances/kept-file';
import { leftOf } from '@runner/deploy/prune/prunable';
import { domainFor } from '../plan/reconcile.ts';
import type { PreviewContext } from './context.ts';

/**
 * Registers what runs again, as far as its folder says what it is: then it can be updated or removed. Removes
 * the folder of what has nothing active.
 */
export function registerLost(
  { io, paths, reporter }: Server & Pick<PreviewContext, 'reporter'>,
  of: string,
  parent: AppState | undefined,
): void {
  const at = io.now().toISOString();
  for (const name of folderNamesIn(dirname(paths.app(of).dir))) {
    if (previewedApp(name) !== of || isThere(paths.state(name))) continue;
    const own = paths.app(name);
    const instances = Object.fromEntries(
      folderNamesIn(own.instances).flatMap((each) => {
        const found = instanceIn(own.instance(each), at);
        return found ? [[each, found] as const] : [];
      }),
    );
    const [first] = Object.values(instances);
    if (!first?.current) {
      const problem = leftOf(own).length > 0 ? removeTree(own.dir) : undefined;
      if (problem) reporter.note(problem);
      continue;
    }
    const key = name.slice(of.length + '--'.length);
    const { release } = first.current;
    const rules = fileOfRelease(paths, name, first.current)?.preview.database;
    const preview: PreviewMark = {
      of,
      key,
      branch: key,
      ref: '',
      commit: first.current.commit,
      pushed_at: at,
      tries: 0,
      domain: parent?.previews ? domainFor(parent.previews, key) : '',
      ...(key.startsWith('pr-') && { number: Number(previewSlug(key)) }),
      ...(rules && { database: { drop: rules.drop, release, isMade: true } }),
    };
    const { repo = '', branch = '', host } = parent ?? {};
    const app = newApp(name, at, { repo, branch, ...(host !== undefined && { host }) });
    changeRegistry({ io, paths, command: 'preview' }, () =>
      createApp(paths, { ...app, instances, preview }),
    );
  }
}

/** What its links say that it runs; undefined: nothing. A removal takes the outer one first. */
function instanceIn(paths: InstancePaths, at: string): InstanceState | undefined {
  if (!isThere(paths.current)) return undefined;
  const within = (slot?: 'a' | 'b') => {
    const target = orElse(() => readlinkSync(slotPaths(paths, slot).current), undefined);
    if (target === undefined || target === 'live/current') return null;
    const release = basename(target);
    const commit = release.slice(release.lastIndexOf('-') + 1);
    return { release, version: commit, commit, deploy_id: '' };
  };
  const started = { port: null, started_at: at, boot_id: bootId() };
  const [a, b] = SLOTS.map(within).map((found) => found && { ...found, ...started });
  const found = within() ?? a ?? b;
  if (!found) return undefined;
  const { release, version, commit, deploy_id } = found;
  const current = { release, version, commit, deploy_id, deployed_at: at };
  return { current, previous: [], ...((a || b) && { slots: { a: a ?? null, b: b ?? null } }) };
}
