/** What the registry knows of the apps; the page does without it where it cannot be read. */
import { listApps } from '@runner/common/apps/store';
import { type AppSummary, summaryOf } from '@runner/common/apps/summary';
import { readConfig } from '@runner/common/config/file';
import { codeHostOf } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { viewOf } from '@runner/deploy/instances/view';

/** What of the registry the page shows. */
export interface Registry {
  /** Undefined if no app is registered, or the registry cannot be read. */
  readonly apps: readonly AppSummary[] | undefined;
  /** The address of an app's repository on its host. */
  repositoryOf(app: string): string | undefined;
}

type Place = Readonly<{ io: Io; paths: Paths }>;

/** The registered apps, or only `app`; `note` reports what cannot be read. */
export async function registryOf(
  { io, paths }: Place,
  { app, offline }: { readonly app: string | undefined; readonly offline: boolean },
  note: (text: string) => void,
): Promise<Registry> {
  const noted = (error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    note(`${error.message} (${error.code})`);
  };
  const none: Registry = { apps: undefined, repositoryOf: () => undefined };
  try {
    const { apps: all, unreadable } = listApps(paths);
    for (const { failure } of unreadable) noted(failure);
    const apps = all.filter((each) => app === undefined || each.app === app);
    if (apps.length === 0) return none;
    const view = await viewOf({ io, paths }, apps, offline);
    const repositories = new Map(apps.map((each) => [each.app, each.repo]));
    const host = codeHostOf(readConfig(paths), io.env).gitUrl;
    return {
      apps: apps.map((each) => summaryOf(paths, each, view)),
      repositoryOf(name) {
        const repository = repositories.get(name);
        return repository && /^[\w.-]+\/[\w.-]+$/.test(repository)
          ? `${host}/${repository}`
          : undefined;
      },
    };
  } catch (error) {
    noted(error);
    return none;
  }
}
