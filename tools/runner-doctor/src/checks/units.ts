/** Whether runner is allowed to control the apps' units, and whether they load the secrets. */
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { UNITS_FILE, unlistedUnits, unlistedWords } from '@runner/deploy/instances/drivers/units';
import { activeFile } from '@runner/deploy/instances/target';
import { unreadSecretsOf } from '@runner/deploy/instances/unit-check';
import { type CheckContext, type CheckResult, orOk, problem } from '../foundation/finding.ts';

export async function units({ io, paths }: CheckContext): Promise<readonly CheckResult[]> {
  const { apps } = listApps(paths);
  const found = apps.flatMap((app) => {
    const file = activeFile(paths, app);
    return file ? unlistedUnits(file) : [];
  });
  const add = (unit: string) => `echo ${word(unit)} | sudo tee --append ${UNITS_FILE}`;
  const problems = [...new Set(found)].map((unit) => problem(unlistedWords(unit), add(unit)));
  const lacking = await unitsWithoutSecrets({ io, paths }, apps);
  return orOk([...problems, ...lacking], 'runner may control the units of its apps');
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
