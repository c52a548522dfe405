import { changeApp } from '@runner/common/apps/change';
import { removalOf } from '@runner/common/apps/preview';
import { previewNames, requireApp, requireOwnApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { show } from '../act/context.ts';
import { purgePreview, removePreview } from '../act/remove.ts';
import { lockPreviews } from '../act/sync.ts';
import { working } from './work.ts';

/** What `disable` prints. */
interface Disabled {
  app: string;
  removed: string[];
}

export const disable = command({
  name: 'disable',
  needsRoot: true,
  about: 'Remove all previews of an app, and make no more',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    purge: { about: 'Remove their files too: nothing can be brought back' },
    force: {
      about: 'With --purge: also what cannot be stopped, or be taken back on the code host',
    },
  },
  examples: ['runner preview disable shop'],
  async run(context) {
    const { io, paths, args, options } = context;
    const { app } = requireOwnApp(paths, args.app);
    const removed = await working(context, 'manual', async (previews) => {
      using _lock = lockPreviews(previews, app, 30);
      changeApp(
        { io, paths, app, command: 'preview' },
        ({ previews: _, ...now }) => now as typeof now & { app: string },
      );
      const removed: string[] = [];
      const problems: string[] = [];
      for (const name of previewNames(paths, app))
        try {
          const isRemoved = removalOf(requireApp(paths, name)) === 'removed';
          if (!isRemoved || options.purge) removed.push(name);
          if (!isRemoved) await removePreview(previews, name, 'previews were disabled');
          // The host may not have answered when it was removed.
          else await show(previews, name);
          if (options.purge) await purgePreview(previews, name);
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          if (options.force && options.purge) await purgePreview(previews, name);
          else problems.push(`${name}: ${error.message}`);
        }
      if (problems.length > 0)
        throw new Failure(
          'stop_failed',
          `not all previews are gone, and fetch --deploy goes on with it: ${problems.join('; ')}`,
        );
      return removed;
    });
    return { value: { app, removed } satisfies Disabled };
  },
  human: ({ app, removed }: Disabled) =>
    `${harmlessLine(app)} has no previews any more${removed.length > 0 ? `; removed ${removed.map(harmlessLine).join(', ')}` : ''}\n`,
});
