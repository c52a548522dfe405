/** Which instances of an app a command is for. */

import type { Deployed } from '@runner/common/apps/deployed';
import { refuseRestored } from '@runner/common/apps/restored';
import type { AppState } from '@runner/common/apps/state';
import { Failure } from '@runner/common/foundation/failure';

/** The active instances, or only one of them. Throws `instance_not_found`, `version_not_found`. */
export function chosenInstances(
  state: Pick<AppState, 'app' | 'instances' | 'restored'>,
  only: string | undefined,
): [name: string, current: Deployed][] {
  const { app, instances } = state;
  refuseRestored(state, only);
  if (only !== undefined && !Object.hasOwn(instances, only)) {
    const names = Object.keys(instances).join(', ') || 'none';
    throw new Failure(
      'instance_not_found',
      `'${app}' has no instance '${only.slice(0, 80)}'; it has: ${names}`,
    );
  }
  const active = Object.entries(instances).flatMap(([name, { current }]) =>
    current && (only === undefined || name === only) ? [[name, current] as [string, Deployed]] : [],
  );
  if (active.length === 0) throw nothingActive(app);
  return active;
}

/** What is said when there is no release to work with. */
export function nothingActive(app: string): Failure {
  return new Failure(
    'version_not_found',
    `nothing of '${app}' is active: run runner deploy ${app}`,
  );
}
