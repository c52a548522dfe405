/** `runner start --boot`: what ran before a reboot. */
import { join } from 'node:path';
import { removalOf } from '@runner/common/apps/preview';
import { asleepSince, liveRun } from '@runner/common/apps/slots';
import { appNames, listApps, previewNames } from '@runner/common/apps/store';
import { bootId, recordedProcess } from '@runner/common/files/process';
import { readTextIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { onFailure, unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { fileOfRelease } from '../instances/kept-file.ts';
import { startAllBeforeTraffic } from '../instances/stop.ts';
import { BOOT } from '../journal/journal.ts';
import type { Reporter } from '../report/reporter.ts';
import { StepFailure } from '../run/step.ts';
import { changeRunning, type LifeOutcome } from './verbs.ts';

/**
 * Starts what is active of each app, unless an operator stopped it or it sleeps. One that fails does not stop the
 * others. After a reboot `resume` goes on with a watch.
 */
export async function startAll(
  io: Io,
  paths: Paths,
  reporter: Reporter,
  resume: (server: Server, app: string) => Promise<void>,
): Promise<{ apps: LifeOutcome[]; failed: string[] }> {
  const { apps, unreadable } = listApps(paths, [...appNames(paths), ...previewNames(paths)]);
  const done: LifeOutcome[] = [];
  const failed = unreadable.map(({ app }) => app);
  const isFirst = readTextIfThere(bootFile(paths), BOOT_MAX) !== bootId();
  for (const { app, failure } of unreadable)
    reporter.note(`${app}: ${failure.message} (${failure.code})`);
  const note = (app: string, words: string): undefined => {
    reporter.note(`${app}: ${words}`);
    failed.push(app);
  };
  for (const { app, instances, stopped } of apps.filter((each) => !removalOf(each))) {
    const refused = onFailure(({ message, code }) => note(app, `${message} (${code})`));
    for (const [instance, { current }] of Object.entries(instances)) {
      if (!current || stopped?.instances.includes(instance)) continue;
      // One that cannot be read is for the start to report.
      if (fileOfRelease(paths, app, current)?.start.type === 'none') continue;
      if (asleepSince(paths.app(app).instance(instance))) continue;
      const start = async () => {
        const isBoot = isFirst && !hasRun(paths, app, instance);
        const request = { io, paths, app, instance, wait: 60_000, reporter, isBoot };
        return changeRunning({ ...request, ...(isFirst && { trigger: BOOT }) }, 'start');
      };
      const outcome = await start().catch(refused);
      if (outcome) done.push(outcome);
      if (outcome?.result === 'failed') failed.push(app);
    }
    if (isFirst) await resume({ io, paths }, app).catch(refused);
    if (!Object.values(instances).some((each) => each.before_traffic)) continue;
    try {
      await startAllBeforeTraffic(io, paths, app);
    } catch (error) {
      if (!(error instanceof Failure || error instanceof StepFailure)) throw error;
      note(app, error.message);
    }
  }
  // Last: what a kill leaves is started by the next one.
  unlessFailure(() => writeWhole(bootFile(paths), bootId()), undefined);
  return { apps: done, failed: [...new Set(failed)] };
}

const BOOT_MAX = 256;
/** The boot of the server in which all of this was last done: a second time is a start as any other. */
const bootFile = ({ locksDir }: Paths) => join(locksDir, 'boot');

/** Whether a process of an instance was started since the last boot: it has ended for another reason. */
function hasRun(paths: Paths, app: string, instance: string): boolean {
  return recordedProcess(liveRun(paths.app(app).instance(instance))) !== undefined;
}
