/** Units that an app no longer uses and that the next boot would start beside its active version. */
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { stepEnvironment } from '../run/environment.ts';
import { askUnit, manager, shownOf, unitsFor } from './drivers/unit-state.ts';
import { fileOfRelease } from './kept-file.ts';
import { activeFile } from './target.ts';

/** A unit, and whether the user's own manager has it. */
interface UsedUnit {
  readonly unit: string;
  readonly user: boolean;
}

/** The enabled units of an app's kept versions that no active version uses: a sentence, and the command that disables each. */
export function leftEnabled({ io, paths }: Server, app: AppState) {
  if (!activeFile(paths, app)) return [];
  const kept = keptFiles(paths, app).flatMap(unitsIn);
  if (kept.length === 0) return [];
  const inUse = new Set(
    listApps(paths)
      .apps.flatMap((each) => usedNow(paths, each))
      .map(keyOf),
  );
  const unused = new Map(
    kept.filter((each) => !inUse.has(keyOf(each))).map((each) => [keyOf(each), each]),
  );
  const env = stepEnvironment(io.env);
  return [...unused.values()].flatMap(({ unit, user }) => {
    const { stdout } = askUnit({ user }, unit, env, 'show', '--property', 'UnitFileState');
    if (shownOf(stdout)('UnitFileState') !== 'enabled') return [];
    const words = `${unit}, which ${app.app} no longer uses, is enabled: the next boot would start it`;
    const fix = ['systemctl', ...manager({ user }), 'disable', '--now', word(unit)].join(' ');
    return [{ unit, user, words, fix }];
  });
}

/** The units of an app that run: those of what is active, and of what runs from before `traffic`. */
export function unitsInUse(paths: Paths, app: AppState): string[] {
  return [...new Set(usedNow(paths, app).map(({ unit }) => unit))];
}

const keyOf = ({ unit, user }: UsedUnit) => `${user} ${unit}`;

function unitsIn(file: DeployFile): UsedUnit[] {
  const user = file.start.type === 'systemd' && file.start.user;
  return unitsFor(file).map((unit) => ({ unit, user }));
}

/** The units of what is active, and of what still runs from before `traffic`. */
function usedNow(paths: Paths, { app, instances }: AppState): UsedUnit[] {
  const running = Object.values(instances).flatMap(({ current, before_traffic: before }) =>
    [current, before].flatMap((each) => (each && fileOfRelease(paths, app, each)) ?? []),
  );
  return running.flatMap(unitsIn);
}

function keptFiles(paths: Paths, { app, instances }: AppState): DeployFile[] {
  const kept = Object.values(instances).flatMap(({ previous }) => previous);
  const releases = new Map(kept.map((each) => [each.release, each]));
  return [...releases.values()].flatMap((each) => fileOfRelease(paths, app, each) ?? []);
}
