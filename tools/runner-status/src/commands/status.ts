import { listApps, missingRoot, requireApp } from '@runner/common/apps/store';
import { type AppSummary, isHealthy, summaryOf } from '@runner/common/apps/summary';
import { isViewer } from '@runner/common/apps/viewed';
import { command } from '@runner/common/cli/command';
import { readTextIfThere } from '@runner/common/files/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure, notProvided } from '@runner/common/foundation/failure';
import { OFFLINE, viewOf } from '@runner/deploy/lifecycle/view';
import { type Detailed, detailed } from '../details.ts';
import { gaugesText } from '../prometheus.ts';
import { statusText, unhealthyLine } from '../status-text.ts';

/** Bytes of the file with the time of the last backup. */
const BACKUP_MAX = 64;
/** Width of output that is not a terminal. */
const WIDTH = 80;

/** What `--check` prints without an app. */
interface StatusCheck {
  healthy: boolean;
  /** Number of registered apps. */
  count: number;
  /** The apps that need an operator. */
  apps: AppSummary[];
  /** The other apps whose requests are held. */
  traffic_held: AppSummary[];
  /** Names of apps whose state cannot be read. */
  unreadable: string[];
}

export const status = command({
  about: 'Show one app in detail, or check all of them',
  details:
    "Shows each instance's version, since when and from which commit; the last failure; which process\n" +
    'holds the lock; disk usage; and what the next automatic deploy is waiting for. For monitoring,\n' +
    '--check exits with 1 while an app is broken, down, blocked or stale, has only failed so far, runs a\n' +
    'release that its watch judged bad, has a job that failed or was missed, or held requests that fail, but\n' +
    'not while a version runs and a failed deploy is tried again. --prometheus prints what alarms are set on, of all apps or one, for the node\n' +
    "exporter's textfile collector.",
  positionals: { app: { about: 'Name of the app; required without --check' } },
  options: {
    check: { about: 'Exit 1 if the app, or any app, needs an operator' },
    prometheus: {
      about: 'Print gauges for Prometheus',
      conflicts: ['json', 'output', 'check'],
    },
    offline: OFFLINE,
  },
  examples: ['runner status shop', 'runner status --check', 'runner status --prometheus'],
  safeInForeignRoot: true,
  async run({ io, paths, args, options, note }) {
    if (options.prometheus) {
      const missing = missingRoot(paths);
      if (missing) throw new Failure('file_unreadable', missing);
      const { apps: all, unreadable } =
        args.app === undefined
          ? listApps(paths)
          : { apps: [requireApp(paths, args.app)], unreadable: [] };
      for (const { failure } of unreadable) note(`${failure.message} (${failure.code})`);
      const view = await viewOf({ io, paths }, all, options.offline);
      const gauged = all.map((state) => {
        return { app: state.app, state, summary: summaryOf(paths, state, view), now: view.now };
      });
      const read = () => readTextIfThere(paths.lastBackup, BACKUP_MAX);
      const backup = unlessFailure(read, '')?.trim() ?? '';
      io.stdout.write(gaugesText(gauged, unreadable.length, backup));
      return {};
    }
    if (args.app !== undefined) {
      const app = requireApp(paths, args.app);
      const view = await viewOf({ io, paths }, [app], options.offline);
      const counts = !options.offline && !options.check && !isViewer(paths);
      const value = await detailed({ io, paths }, app, view, counts);
      return { value, status: options.check && !isHealthy(value) ? 1 : 0 };
    }
    if (!options.check) throw notProvided('<APP|--check>; runner list shows all apps');
    const { apps, unreadable } = listApps(paths);
    const view = await viewOf({ io, paths }, apps, options.offline);
    for (const { failure } of unreadable) note(`${failure.message} (${failure.code})`);
    const all = apps.map((app) => summaryOf(paths, app, view));
    const bad = all.filter((app) => !isHealthy(app));
    // A root that is misspelled is not a server without trouble.
    const missing = missingRoot(paths);
    if (missing) note(missing);
    const value: StatusCheck = {
      healthy: !missing && bad.length + unreadable.length === 0,
      count: apps.length + unreadable.length,
      apps: bad,
      traffic_held: all.filter((app) => app.traffic_hold && isHealthy(app)),
      unreadable: unreadable.map(({ app }) => app),
    };
    return { value, status: value.healthy ? 0 : 1 };
  },
  human(shown: Detailed | StatusCheck, style, { io }) {
    if (!('healthy' in shown))
      return statusText(shown, style, io.stdout.isTTY ? io.stdout.columns : WIDTH, io.now());
    const lines = [...shown.apps, ...shown.traffic_held]
      .map((app) => `${unhealthyLine(app)}\n`)
      .join('');
    if (!shown.healthy) return lines;
    return `${shown.count} ${shown.count === 1 ? 'app' : 'apps'} checked: none is broken, down, blocked or stale\n${lines}`;
  },
});
