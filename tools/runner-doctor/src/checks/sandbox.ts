/** Whether commands from repositories run in the sandbox, and what could run outside of it. */
import { closeSync } from 'node:fs';
import { userInfo } from 'node:os';
import { appNames, listApps } from '@runner/common/apps/store';
import { isThere } from '@runner/common/files/read';
import { failureIn, orElse, unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { activeFile } from '@runner/deploy/instances/target';
import { allowedPaths } from '@runner/deploy/sandbox/mounts';
import { bubblewrap } from '@runner/deploy/sandbox/probe';
import { settingOf } from '@runner/deploy/sandbox/sandbox';
import { openInMemory } from '@runner/deploy/sandbox/settings';
import { type CheckResult, type Findings, ok, problem, warning } from '../foundation/finding.ts';

export function sandbox(context: Server): Findings {
  const { io, paths } = context;
  const own = (app: string) => settingOf({ paths, env: io.env, app });
  // An invalid config.yml is reported by the `config` check.
  const mode = unlessFailure(() => own('').mode, undefined);
  if (mode === undefined) return [];
  // Throws for a path that is never opened.
  for (const app of orElse(() => appNames(paths), [])) allowedPaths({ paths, app }, own(app).allow);
  return [modeFinding(context, mode), lingering(paths)];
}

const MOUNT = 'mkdir -p /dev/shm && mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs /dev/shm';

function modeFinding({ io: { env } }: Server, mode: string): CheckResult {
  if (mode === 'off') return ok('the sandbox is switched off in the configuration');
  const found = bubblewrap(env);
  if ('program' in found) {
    const memory = failureIn(() => closeSync(openInMemory(Buffer.alloc(0), env)));
    if (memory) return problem(memory.message, MOUNT);
    return ok(`commands from repositories run in the sandbox (${mode})`);
  }
  const { fix } = found;
  return mode === 'required'
    ? problem(`config.yml requires a sandbox: ${found.problem}`, fix)
    : warning(`builds can read all keys and apps: ${found.problem}`, fix);
}

const LINGERING = '/var/lib/systemd/linger';

/** A system account's own manager, which no app needs: a commit that reached it would run outside of the sandbox. */
function lingering(paths: Paths): Findings {
  const { username, shell } = orElse(() => userInfo(), { username: '', shell: '' });
  const isAccount = /\/(?:nologin|false)$/.test(shell ?? '');
  if (!isAccount || !isThere(`${LINGERING}/${username}`)) return [];
  const isNeeded = listApps(paths).apps.some((app) => {
    const start = activeFile(paths, app)?.start;
    return start?.type === 'systemd' && start.user;
  });
  const words = `the systemd manager of ${username} runs although no app has user: true; what is enabled in it runs outside of the sandbox`;
  return isNeeded ? [] : [warning(words, `loginctl disable-linger ${word(username)}`)];
}
