/** `runner start --boot`: what ran before a reboot. */
import { asleepSince } from '@runner/common/apps/slots';
import { appNames, listApps, previewNames } from '@runner/common/apps/store';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { fileOfRelease } from '../instances/kept-file.ts';
import { startAllBeforeTraffic } from '../instances/stop-before.ts';
import type { Reporter } from '../report/reporter.ts';
import { StepFailure } from '../run/step.ts';
import { changeRunning, type LifeOutcome } from './verbs.ts';

/** Starts what is active of each app, unless an operator stopped it or it sleeps. One that fails does not stop the others. */
export async function startAll(
  io: Io,
  paths: Paths,
  reporter: Reporter,
): Promise<{ apps: LifeOutcome[]; failed: string[] }> {
  const { apps, unreadable } = listApps(paths, [...appNames(paths), ...previewNames(paths)]);
  const done: LifeOutcome[] = [];
  const failed = unreadable.map(({ app }) => app);
  for (const { app, failure } of unreadable)
    reporter.note(`${app}: ${failure.message} (${failure.code})`);
  const note = (app: string, words: string) => {
    reporter.note(`${app}: ${words}`);
    failed.push(app);
  };
  for (const { app, instances, stopped } of apps) {
    for (const [instance, { current }] of Object.entries(instances)) {
      const file = current && fileOfRelease(paths, app, current);
      if (!file || file.start.type === 'none' || stopped?.instances.includes(instance)) continue;
      if (asleepSince(paths.app(app).instance(instance))) continue;
      try {
        const outcome = await changeRunning(
          { io, paths, app, instance, wait: 60_000, reporter, isBoot: true },
          'start',
        );
        done.push(outcome);
        if (outcome.result === 'failed') failed.push(app);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        note(app, `${error.message} (${error.code})`);
      }
    }
    if (!Object.values(instances).some((each) => each.before_traffic)) continue;
    try {
      await startAllBeforeTraffic(io, paths, app);
    } catch (error) {
      if (!(error instanceof Failure || error instanceof StepFailure)) throw error;
      note(app, error.message);
    }
  }
  return { apps: done, failed: [...new Set(failed)] };
}
