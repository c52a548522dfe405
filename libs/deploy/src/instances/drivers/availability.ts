/** Whether the supervisor of an app is available, without starting anything. */
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { Env } from '@runner/common/foundation/io';
import { word } from '@runner/common/text/shell';
import { stepEnvironment } from '../../run/environment.ts';
import type { Blame } from '../../run/step.ts';
import { findProgram } from '../../sandbox/probe.ts';
import { ask } from './ask.ts';
import { askUnit, unitsOf } from './unit-state.ts';

/** Why a target cannot be started, and whose fault that is. */
export interface Obstacle {
  readonly words: string;
  readonly blame: Blame;
}

const ofServer = (words: string): Obstacle => ({ words: `start: ${words}`, blame: 'server' });
const notFound = (program: string) => ofServer(`${program} is not on PATH`);

/** What is missing for the driver to work; empty if nothing is. */
export function obstacles(
  app: string,
  { start, instances }: Pick<DeployFile, 'start' | 'instances'>,
  outer: Env,
): Obstacle[] {
  const env = stepEnvironment(outer);
  if (start.type === 'pm2') return onPath('pm2', env) ? [] : [notFound('pm2')];
  if (start.type === 'compose') return dockerObstacles(env);
  if (start.type !== 'systemd') return [];
  if (!onPath('systemctl', env)) return [notFound('systemctl')];
  const units = instances.flatMap((instance) => unitsOf(start.unit, instance));
  return units.flatMap((unit) => {
    const { status, stdout } = askUnit(start, unit, env, 'show', '--property=LoadState', '--value');
    if (status !== 0) return [ofServer('systemd does not answer')];
    if (!/^not-found\s*$/.test(stdout)) return [];
    const fix = start.user
      ? `systemctl --user edit --force --full ${word(unit)}`
      : `sudo runner setup ${word(app)}`;
    return [{ ...ofServer(`systemd has no unit ${unit}: ${fix}`), blame: 'commit' }];
  });
}

function dockerObstacles(env: Record<string, string>): Obstacle[] {
  if (!onPath('docker', env)) return [notFound('docker')];
  const isMissing = (args: readonly string[]) => ask('docker', args, { env }).status !== 0;
  if (isMissing(['compose', 'version']))
    return [ofServer('docker compose is missing: install the plugin')];
  // The client alone answers the question above.
  const server = ['version', '--format', '{{.Server.Version}}'];
  return isMissing(server) ? [ofServer('docker does not answer')] : [];
}

export function onPath(program: string, { PATH = '' }: Record<string, string>): boolean {
  return findProgram(program, PATH) !== undefined;
}
