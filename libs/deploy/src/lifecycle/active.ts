/** What is active of an app, for commands that change nothing of it. */
import { openSecrets } from '@runner/common/app-secrets/open';
import { requireApp } from '@runner/common/apps/store';
import { newDeployId } from '@runner/common/audit/events';
import type { Server } from '@runner/common/foundation/paths';
import { redactor } from '@runner/common/secrets/redactor';
import { keptTarget, type ReleaseTarget, uninterrupted } from '../instances/target.ts';
import type { DeployLog } from '../run/log.ts';
import { openSandboxAnyway } from '../sandbox/sandbox.ts';
import { chosenInstances, nothingActive } from './chosen.ts';

/** Nothing is kept of these commands. */
const NO_LOG: DeployLog = {
  path: '',
  parts: [],
  line: () => {},
  capture: () => Promise.reject(new Error('there is no log')),
  close: () => {},
};

/**
 * The active instances of an app, or only one of them, with the secrets of today. Throws
 * `app_not_found`, `instance_not_found`, `version_not_found`.
 */
export function activeTargets(
  { io, paths, note }: Server & { note(text: string): void },
  name: string,
  only: string | undefined,
): readonly [ReleaseTarget, ...ReleaseTarget[]] {
  const app = requireApp(paths, name);
  const chosen = chosenInstances(app, only);
  const sandbox = openSandboxAnyway({ paths, env: io.env, app: app.app, note });
  const secrets = openSecrets(paths, io.env, app.app);
  const deployId = newDeployId(io.random);
  const job = { io, paths, app, deployId, log: NO_LOG, redact: redactor(), secrets, sandbox };
  const base = uninterrupted(job, 'today');
  const [first, ...more] = chosen.flatMap(
    ([each, current]) => keptTarget(base, each, current) ?? [],
  );
  if (!first) throw nothingActive(app.app);
  return [first, ...more];
}
