/** The registered apps. Without access to the registry the page is drawn from the log alone. */

import { listApps } from '@runner/common/apps/store';
import { type AppSummary, summaryOf } from '@runner/common/apps/summary';
import { codeHostsOf, DEFAULT_HOST } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { isThere } from '@runner/common/files/read';
import { onFailure } from '@runner/common/foundation/attempt';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { compareLink } from '@runner/deploy/git/open';
import { viewOf } from '@runner/deploy/lifecycle/view';

import type { DeployFacts } from './rows.ts';

export interface Registry extends DeployFacts {
  /** Undefined if no app is registered, or the registry cannot be read. */
  readonly apps: readonly AppSummary[] | undefined;
}

/** No app is known. */
export const UNKNOWN: Registry = {
  apps: undefined,
  compareOf: () => undefined,
  backupOf: () => undefined,
};

type RegistrySource = Readonly<{ io: Io; paths: Paths }>;

/** The registered apps, or only `app`; `note` reports what cannot be read. */
export async function registryOf(
  { io, paths }: RegistrySource,
  { app, offline }: { readonly app: string | undefined; readonly offline: boolean },
  note: (text: string) => void,
): Promise<Registry> {
  const noted = onFailure(({ message, code }) => note(`${message} (${code})`));
  try {
    const { apps: all, unreadable } = listApps(paths);
    for (const { failure } of unreadable) noted(failure);
    const apps = all.filter((each) => app === undefined || each.app === app);
    if (apps.length === 0) return UNKNOWN;
    const view = await viewOf({ io, paths }, apps, offline);
    const hosts = codeHostsOf(readConfig(paths), io.env);
    const hostOf = (wanted = DEFAULT_HOST) => hosts.find((host) => host.name === wanted);
    const known = new Map(apps.map((each) => [each.app, each]));
    return {
      apps: apps.map((each) => summaryOf(paths, each, view)),
      compareOf(name, from, to) {
        const found = known.get(name);
        const host = found && hostOf(found.host);
        return host && compareLink(host, found.repo, from, to);
      },
      backupOf(name, id) {
        const found = known.get(name);
        const made = found?.database_backups?.find(({ deploy_id }) => deploy_id === id);
        const isKept = made && isThere(paths.app(name).databaseBackup(id));
        return found && (isKept ? made : null);
      },
    };
  } catch (error) {
    noted(error);
    return UNKNOWN;
  }
}
