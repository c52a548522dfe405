import { namedApps, type PauseResult, resumeApps } from '@runner/common/apps/pause';
import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';

export const resume = command({
  needsRoot: true,
  about: 'Resume the automatic deploys of an app',
  details: 'The next fetch --deploy deploys the commit that was waiting.',
  positionals: { app: { about: 'Name of the app; required without --all' } },
  options: { all: { about: 'All registered apps' } },
  examples: ['runner resume shop'],
  async run(context) {
    const { paths, args, options } = context;
    return { value: resumeApps(context, namedApps(paths, args.app, options.all)) };
  },
  human: ({ apps }: PauseResult) =>
    apps.length === 0
      ? 'Nothing was paused\n'
      : apps.map((app) => `Resumed ${harmlessLine(app)}\n`).join(''),
});
