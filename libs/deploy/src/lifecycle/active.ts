/** What is active of an app, for commands that change nothing of it. */
import { openSecrets } from '@runner/common/app-secrets/open';
import { requireApp } from '@runner/common/apps/store';
import type { Server } from '@runner/common/foundation/paths';
import { redactor } from '@runner/common/secrets/redactor';
import type { Target } from '../instances/drivers/driver.ts';
import { keptTarget } from '../instances/target.ts';
import { contextOf } from '../journal/operation.ts';
import { chosenInstances, nothingActive } from './chosen.ts';

/**
 * The active instances of an app, or only one of them, with the secrets of today. Throws
 * `app_not_found`, `instance_not_found`, `version_not_found`.
 */
export function activeTargets(
  { io, paths, note }: Server & { note(text: string): void },
  name: string,
  only: string | undefined,
): readonly [Target, ...Target[]] {
  const app = requireApp(paths, name);
  const chosen = chosenInstances(app, only);
  const op = contextOf({ io, paths, note }, app, {
    redact: redactor(),
    secrets: openSecrets(paths, io.env, app.app),
  });
  const [first, ...more] = chosen.flatMap(([each, current]) => keptTarget(op, each, current) ?? []);
  if (!first) throw nothingActive(app.app);
  return [first, ...more];
}
