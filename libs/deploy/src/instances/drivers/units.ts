/** Units that the packaged polkit rule lets `runner` control: those in a list. */
import { spawnSync } from 'node:child_process';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { readTextIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { word } from '@runner/common/text/shell';
import { NOT_ALLOWED } from './systemd.ts';
import { unitsOf } from './unit-state.ts';

/** One unit or template a line. */
export const UNITS_FILE = '/etc/runner/units';
const UNITS_MAX = 1_048_576;
const PATIENCE = 30_000;

/** Units of the system's manager that the list does not name; empty without a list. */
export function unlistedUnits({
  start,
  instances,
}: Pick<DeployFile, 'start' | 'instances'>): string[] {
  if (start.type !== 'systemd' || start.user) return [];
  const text = orElse(() => readTextIfThere(UNITS_FILE, UNITS_MAX), undefined);
  if (text === undefined) return [];
  const listed = new Set(text.split('\n'));
  const units = instances.flatMap((instance) => unitsOf(start.unit, instance));
  const templateOf = (unit: string) => unit.replace(/@.*(\.[a-z]+)$/, '@$1');
  return units.filter((unit) => !listed.has(unit) && !listed.has(templateOf(unit)));
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
