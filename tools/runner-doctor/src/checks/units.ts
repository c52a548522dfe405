/** Whether runner is allowed to control the apps' units. */
import { listApps } from '@runner/common/apps/store';
import { word } from '@runner/common/text/shell';
import { UNITS_FILE, unlistedUnits, unlistedWords } from '@runner/deploy/instances/drivers/units';
import { activeFile } from '@runner/deploy/instances/target';
import { type Context, type Found, orOk, problem } from '../foundation/finding.ts';

export function units({ paths }: Context): readonly Found[] {
  const found = listApps(paths).apps.flatMap((app) => {
    const file = activeFile(paths, app);
    return file ? unlistedUnits(file) : [];
  });
  const add = (unit: string) => `echo ${word(unit)} | sudo tee --append ${UNITS_FILE}`;
  const problems = [...new Set(found)].map((unit) => problem(unlistedWords(unit), add(unit)));
  return orOk(problems, 'runner may control the units of its apps');
}
