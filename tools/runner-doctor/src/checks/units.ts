/** Whether runner may control the apps' units, and whether they load the secrets; units that no app uses. */
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { UNITS_FILE, unlistedUnits, unlistedWords } from '@runner/deploy/instances/drivers/units';
import { leftEnabled } from '@runner/deploy/instances/left-enabled';
import { activeFile } from '@runner/deploy/instances/target';
import { unreadSecretsOf } from '@runner/deploy/instances/unit-check';
import {
  type CheckContext,
  type CheckResult,
  orOk,
  problem,
  warning,
} from '../foundation/finding.ts';

export async function units({ io, paths }: CheckContext): Promise<readonly CheckResult[]> {
  const { apps } = listApps(paths);
  const found = apps.flatMap((app) => {
    const file = activeFile(paths, app);
    return file ? unlistedUnits(file) : [];
  });
  const add = (unit: string) => `echo ${word(unit)} | sudo tee --append ${UNITS_FILE}`;
  const problems = [...new Set(found)].map((unit) => problem(unlistedWords(unit), add(unit)));
  const lacking = await unitsWithoutSecrets({ io, paths }, apps);
  const left = apps
    .flatMap((app) => leftEnabled({ io, paths }, app))
    .map(({ words, fix }) => warning(words, fix));
  return orOk([...problems, ...lacking, ...left], 'runner may control the units of its apps');
}

async function unitsWithoutSecrets(
  server: Server,
  apps: readonly AppState[],
): Promise<CheckResult[]> {
  const isUnit = ({ instances }: AppState) =>
    Object.values(instances).some(({ current }) => current?.start === 'systemd');
  const concerned = apps.filter(isUnit);
  if (concerned.length === 0) return [];
  const found = concerned.flatMap((app) => unreadSecretsOf(server, app));
  return found.map(({ words, fix }) => problem(words, fix));
}
