/** Whether commands from repositories run in the sandbox. */
import { readConfig } from '@runner/common/config/file';
import { sandboxSettingOf } from '@runner/common/config/sandbox';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { bubblewrap } from '@runner/deploy/sandbox/probe';
import { modeIn } from '@runner/deploy/sandbox/sandbox';
import { type Context, type Found, ok, problem, warning } from '../foundation/finding.ts';

export function sandbox({ io: { env }, paths }: Context): readonly Found[] {
  // An invalid config.yml is reported by the `config` check.
  const read = () => sandboxSettingOf(readConfig(paths), '', modeIn(env)).mode;
  const mode = unlessFailure(read, undefined);
  if (mode === undefined) return [];
  if (mode === 'off') return [ok('the sandbox is switched off in the configuration')];
  const found = bubblewrap(env);
  if ('program' in found) return [ok(`commands from repositories run in the sandbox (${mode})`)];
  const mend = 'apt-get install bubblewrap';
  if (mode === 'required')
    return [problem(`config.yml requires a sandbox: ${found.problem}`, mend)];
  return [warning(`builds can read all keys and apps: ${found.problem}`, mend)];
}
