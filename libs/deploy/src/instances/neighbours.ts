/** What a server has only once: a unit, a domain. An app must not have that of another. */
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { Paths } from '@runner/common/foundation/paths';
import { type Startable, unitsFor } from './drivers/unit-state.ts';
import { fileOfRelease } from './kept-file.ts';

/** The instances of an app, each with the file of the release that is active in it. */
export function activeInstances(paths: Paths, { app, instances }: AppState) {
  return Object.entries(instances).flatMap(([name, { current }]) => {
    const file = current && fileOfRelease(paths, app, current);
    const instance = file?.instances.find((each) => each.name === name);
    return file && instance ? [{ app, instance, file }] : [];
  });
}

function neighboursOf(paths: Paths, app: string) {
  const others = listApps(paths).apps.filter((each) => each.app !== app);
  return others.flatMap((each) => activeInstances(paths, each));
}

/** That a unit is an active one of another app, in words. */
export function unitOfAnother(paths: Paths, app: string, { start, instances }: Startable) {
  if (start.type !== 'systemd') return undefined;
  const own = unitsFor({ start, instances });
  for (const { app: other, instance, file } of neighboursOf(paths, app)) {
    if (file.start.type !== 'systemd' || file.start.user !== start.user) continue;
    const units = unitsFor({ start: file.start, instances: [instance] });
    const shared = units.find((unit) => own.includes(unit));
    if (shared === undefined) continue;
    return `start: the unit ${shared} is the one of ${instance.name} of ${other}: give this app its own unit`;
  }
  return undefined;
}

/** That a domain is an active one of another app, in words, for each. */
export function domainsOfOthers(paths: Paths, app: string, { instances }: DeployFile): string[] {
  const others = neighboursOf(paths, app);
  return instances.flatMap(({ domain }) => {
    const other = others.find(({ instance }) => domain && instance.domain === domain);
    return other
      ? [`domain: ${domain} is the one of ${other.app}, too: a proxy shows one of them`]
      : [];
  });
}
