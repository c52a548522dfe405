/** Whether commands from repositories run in the sandbox. */
import { readConfig } from '@runner/common/config/file';
import { type SandboxMode, sandboxSettingOf } from '@runner/common/config/sandbox';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { bubblewrap } from '@runner/deploy/sandbox/probe';
import { modeIn } from '@runner/deploy/sandbox/sandbox';
import { type Context, type Found, ok, problem, warning } from '../foundation/finding.ts';

export function sandbox({ io: { env }, paths }: Context): readonly Found[] {
  const mode = modeOf(paths, env);
  if (mode === undefined) return [];
  if (mode === 'off') return [ok('the sandbox is switched off in the configuration')];
  const found = bubblewrap(env);
  if ('program' in found) return [ok(`commands from repositories run in the sandbox (${mode})`)];
  const mend = 'apt-get install bubblewrap';
  if (mode === 'required')
    return [problem(`config.yml requires a sandbox: ${found.problem}`, mend)];
  return [warning(`builds can read all keys and apps: ${found.problem}`, mend)];
}

function modeOf(paths: Paths, env: Env): SandboxMode | undefined {
  try {
    return sandboxSettingOf(readConfig(paths), '', modeIn(env)).mode;
  } catch (error) {
    // Reported by the `config` check.
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
