import { shortTime } from '@runner/common/apps/operator';
import { endOfPause, namedApps, type PauseResult, pauseApps } from '@runner/common/apps/pause';
import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';

export const pause = command({
  needsRoot: true,
  about: 'Pause the automatic deploys of an app',
  details:
    'Until the pause ends, fetch --deploy does not deploy the app; it keeps checking and logs once which\n' +
    'commit is waiting. runner deploy asks first, or needs --force; runner rollback always works. The app\n' +
    'keeps running.',
  positionals: { app: { about: 'Name of the app; required without --all' } },
  options: {
    all: { about: 'All registered apps' },
    until: {
      placeholder: 'TIME',
      about: 'End at this time, such as 2026-12-24T18:00+01:00 [default: until runner resume]',
      conflicts: ['for'],
    },
    for: { placeholder: 'TIME', about: 'End after 30m, 4h, 2d' },
    reason: { placeholder: 'TEXT', about: 'Reason, for status and fetch' },
  },
  examples: ['runner pause shop --for 4h --reason "sale"', 'runner pause --all'],
  async run(context) {
    const { io, paths, args, options } = context;
    const until = endOfPause(io.now(), options.until, options.for);
    const apps = namedApps(paths, args.app, options.all);
    return { value: pauseApps(context, apps, until, options.reason ?? null) };
  },
  human: ({ apps, paused }: PauseResult) => {
    const end = paused?.until ? `until ${shortTime(paused.until)}` : 'until runner resume';
    return apps.map((app) => `Paused ${harmlessLine(app)} ${end}\n`).join('');
  },
});
