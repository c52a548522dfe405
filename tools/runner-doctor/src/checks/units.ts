/** Whether the apps' units are there, listed, and load the secrets; units that no app uses; what setup made. */
import { findApp, listApps } from '@runner/common/apps/store';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { userName } from '@runner/common/files/person';
import { orElse } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import {
  obstacles,
  unlistedUnits,
  unlistedWords,
} from '@runner/deploy/instances/drivers/availability';
import { leftEnabled } from '@runner/deploy/instances/left-enabled';
import { proxies, unreadable } from '@runner/deploy/instances/proxies';
import { readRecord, setupApps, setupDrift } from '@runner/deploy/instances/setup-record';
import { activeFile } from '@runner/deploy/instances/target';
import { closedReleases, identityOf, unreadSecretsOf } from '@runner/deploy/instances/unit-check';
import { type Findings, orOk, problem, warning } from '../foundation/finding.ts';

export function units({ io, paths }: Server): Findings {
  const { apps } = listApps(paths);
  const problems = apps.flatMap((app) => {
    const file = activeFile(paths, app);
    return file ? lackingOf({ io, paths }, app.app, file) : [];
  });
  const changed = apps
    .flatMap(({ app }) => setupDrift(io.env, app))
    .map(({ words, fix, isMissing }) => (isMissing ? problem : warning)(words, fix));
  const closed = apps.flatMap(({ app }) => closedToCaddy({ io }, app));
  const lacking = apps
    .flatMap((app) => unreadSecretsOf({ io, paths }, app))
    .map(({ words, fix }) => problem(words, fix));
  const left = apps
    .flatMap((app) => leftEnabled({ io, paths }, app))
    .map(({ words, fix }) => warning(words, fix));
  const undone = setupApps(io.env, paths.root)
    .filter((app) => !findApp(paths, app))
    .map((app) => {
      const words = `runner setup made things for ${app}, which is not registered`;
      return warning(words, `sudo runner setup ${word(app)} --undo`);
    });
  return orOk(
    [problems, changed, closed, lacking, left, undone],
    'runner may control the units of its apps',
  );
}

/** Units that are missing, not in the list, or may not enter their release: `runner setup` makes all that. */
function lackingOf(server: Server, app: string, file: DeployFile): Findings {
  const { start } = file;
  if (start.type !== 'systemd' || start.user) return [];
  const missing = obstacles(app, file, server.io.env).filter(({ blame }) => blame === 'commit');
  const words = [
    ...missing.map((each) => each.words),
    ...unlistedUnits(file).map((unit) => unlistedWords(unit)),
    ...closedReleases(server, app, file),
  ];
  const fix = `sudo runner setup ${word(app)}`;
  return words.map((each) => problem(each.replace(/^start: /, ''), fix));
}

/** The operator's certificate and key, as setup checks them: a renewal may have closed them since. */
function closedToCaddy({ io }: Pick<Server, 'io'>, app: string): Findings {
  const { choices, made = [] } = orElse(() => readRecord(io.env, app), undefined) ?? {};
  const { cert, key } = choices ?? {};
  if (!cert || !key || !made.some(({ id }) => id === 'reload caddy')) return [];
  const running = proxies().find(({ program }) => program === 'caddy');
  const user = running ?? identityOf({ io }, 'caddy', () => '');
  const found = user && unreadable(user, userName(user.uid), [cert, key]);
  return found ? [problem(found.words, found.fix)] : [];
}
