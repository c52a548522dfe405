/** Whether the supervisor of an app is available and lets runner control it, without starting anything. */
import { spawnSync } from 'node:child_process';
import { readTextIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import type { Env } from '@runner/common/foundation/io';
import { word } from '@runner/common/text/shell';
import { stepEnvironment } from '../../run/environment.ts';
import type { Blame } from '../../run/step.ts';
import { findProgram } from '../../sandbox/probe.ts';
import { ask } from './ask.ts';
import { NOT_ALLOWED } from './systemd.ts';
import { askUnit, type Startable, unitsFor } from './unit-state.ts';

/** Why a target cannot be started, and whose fault that is. */
interface Obstacle {
  readonly words: string;
  readonly blame: Blame;
}

const ofServer = (words: string): Obstacle => ({ words: `start: ${words}`, blame: 'server' });
const notFound = (program: string) => ofServer(`${program} is not on PATH`);

/** What is missing for the driver to work; empty if nothing is. */
export function obstacles(app: string, { start, instances }: Startable, outer: Env): Obstacle[] {
  const env = stepEnvironment(outer);
  if (start.type === 'pm2') return onPath('pm2', env) ? [] : [notFound('pm2')];
  if (start.type === 'compose') return dockerObstacles(env);
  if (start.type !== 'systemd') return [];
  if (!onPath('systemctl', env)) return [notFound('systemctl')];
  return unitsFor({ start, instances }).flatMap((unit) => {
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

/** One unit or template a line. */
const UNITS_FILE = '/etc/runner/units';
const UNITS_MAX = 1_048_576;
const PATIENCE = 30_000;

/**
 * Units of the system's manager that the list does not name, and so the packaged polkit rule does not let
 * `runner` control; empty without a list.
 */
export function unlistedUnits(file: Startable): string[] {
  if (file.start.type !== 'systemd' || file.start.user) return [];
  const text = orElse(() => readTextIfThere(UNITS_FILE, UNITS_MAX), undefined);
  if (text === undefined) return [];
  const listed = new Set(text.split('\n'));
  const templateOf = (unit: string) => unit.replace(/@.*(\.[a-z]+)$/, '@$1');
  return unitsFor(file).filter((unit) => !listed.has(unit) && !listed.has(templateOf(unit)));
}

/** Why a unit cannot be controlled, and what to type. */
export function unlistedWords(unit: string, fix?: string): string {
  const add = `echo ${word(unit)} | sudo tee -a ${UNITS_FILE}`;
  return `${UNITS_FILE} does not list ${unit}, so runner may not restart it: ${fix ?? add}`;
}

/** Whether systemd refuses to control a unit, asked with a verb that stops and starts nothing. */
export function isRefused(unit: string, env: Record<string, string>): boolean {
  const args = ['--no-ask-password', 'reset-failed', '--', unit];
  const { stderr } = spawnSync('systemctl', args, { env, encoding: 'utf8', timeout: PATIENCE });
  return NOT_ALLOWED.test(stderr ?? '');
}

/** Units that are not listed and that systemd refuses as well: another polkit rule may allow them. A sentence each. */
export function refusedUnits(file: Startable, env: Record<string, string>): string[] {
  const refused = unlistedUnits(file).filter((unit) => isRefused(unit, env));
  return refused.map((unit) => `start: ${unlistedWords(unit)}`);
}
