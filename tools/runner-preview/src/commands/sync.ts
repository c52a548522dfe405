import { type PreviewMark, removalOf } from '@runner/common/apps/preview';
import {
  allNames,
  appNames,
  findApp,
  listApps,
  previewNames,
  requireOwnApp,
} from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { onFailure, unlessFailure } from '@runner/common/foundation/attempt';
import { previewedApp } from '@runner/common/foundation/names';
import type { Paths } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { nameOf } from '../act/context.ts';
import { type SyncResult, syncPreviews } from '../act/sync.ts';
import { working } from './work.ts';

/** What is printed of each app. */
type Synced = { app: string } & SyncResult & { failed: string[] };

export const sync = command({
  name: 'sync',
  needsRoot: true,
  about: 'Bring the previews of apps in line with the code host now',
  details:
    'fetch --deploy starts it in the background once it has deployed the apps. The exit status is 1 if the\n' +
    'code host did not answer, or a preview could not be changed or has just failed.',
  positionals: { apps: { many: true, about: 'Names of apps [default: all that have previews]' } },
  examples: ['runner preview sync shop'],
  async run(context) {
    const { paths, args } = context;
    for (const name of args.apps) requireOwnApp(paths, name);
    const names = args.apps.length > 0 ? [...new Set(args.apps)] : withPreviews(paths);
    let status = 0;
    for (const app of names) {
      const before = failedOf(paths, app).map(({ commit }) => commit);
      const found = await working(context, 'fetch', (previews) =>
        syncPreviews(previews, app),
      ).catch(onFailure(({ message }) => ({ waiting: [], problems: [message] })));
      const failed = failedOf(paths, app);
      const isNew = failed.some(({ commit }) => !before.includes(commit));
      if (found.problems.length > 0 || isNew) status = 1;
      await context.print({ app, ...found, failed: failed.map(nameOf) } satisfies Synced);
    }
    return { status };
  },
  human({ app, waiting, problems, failed }: Synced) {
    const words = [
      ...waiting.map(({ key, why }) => `${key} ${why}`),
      ...problems.map((each) => `problem: ${each}`),
      ...failed.map((each) => `${each} failed; see: runner why ${each}`),
    ];
    return (
      words.map((each) => `${harmlessLine(app)}: ${harmlessLine(each)}\n`).join('') ||
      `${harmlessLine(app)}: previews are in line\n`
    );
  },
});

/** Apps that have previews, or had some that are still there. */
function withPreviews(paths: Paths): string[] {
  const left = allNames(paths).flatMap((name) => previewedApp(name) ?? []);
  const has = (name: string) => unlessFailure(() => findApp(paths, name)?.previews, undefined);
  return [...new Set([...left, ...appNames(paths).filter(has)])];
}

function failedOf(paths: Paths, of: string): PreviewMark[] {
  return listApps(paths, previewNames(paths, of))
    .apps.flatMap(({ preview }) => preview ?? [])
    .filter((preview) => preview.outcome === 'failed' && !removalOf({ preview }));
}
