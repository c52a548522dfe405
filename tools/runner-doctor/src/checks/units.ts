/** Whether runner is allowed to control the apps' units, and whether they load the secrets. */
import { listApps } from '@runner/common/apps/store';
import { word } from '@runner/common/text/shell';
import { UNITS_FILE, unlistedUnits, unlistedWords } from '@runner/deploy/instances/drivers/units';
import { activeFile } from '@runner/deploy/instances/target';
import { unreadSecretsOf } from '@runner/deploy/instances/unit-check';
import { type Context, type Found, orOk, problem } from '../foundation/finding.ts';

export function units({ io, paths }: Context): readonly Found[] {
  const { apps } = listApps(paths);
  const found = apps.flatMap((app) => {
    const file = activeFile(paths, app);
    return file ? unlistedUnits(file) : [];
  });
  const add = (unit: string) => `echo ${word(unit)} | sudo tee --append ${UNITS_FILE}`;
  const problems = [...new Set(found)].map((unit) => problem(unlistedWords(unit), add(unit)));
  const lacking = apps
    .flatMap((app) => unreadSecretsOf({ io, paths }, app))
    .map(({ words, fix }) => problem(words, fix));
  return orOk([...problems, ...lacking], 'runner may control the units of its apps');
}
