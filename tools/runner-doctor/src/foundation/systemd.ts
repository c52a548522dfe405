/** systemd units, read with systemctl. */
import type { Io } from '@runner/common/foundation/io';
import { type Findings, problem, warning } from './finding.ts';
import { runFor } from './program.ts';

export type UnitProperties = Readonly<Record<string, string | undefined>>;

/** Returns a function from a unit's name to its properties; undefined if systemd is not running. */
export async function showUnits(
  io: Io,
  names: readonly string[],
  properties: readonly string[],
): Promise<((name: string) => UnitProperties | undefined) | undefined> {
  const shown = ['Id', 'LoadState', 'ActiveState', 'UnitFileState', ...properties];
  const ask = ['show', `--property=${shown.join(',')}`, ...names];
  const ran = await runFor(io, 'systemctl', ask);
  if (ran === undefined || ran.status !== 0) return undefined;
  const units = ran.stdout
    .trim()
    .split(/\n{2,}/)
    .map(unitOf);
  return (name) => units.find(({ Id }) => Id === name);
}

function unitOf(text: string): UnitProperties {
  return Object.fromEntries(
    text.split('\n').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}

/** Findings about an installed unit that should be active. */
export function unitFindings(name: string, consequence: string, unit: UnitProperties): Findings {
  const enable = `systemctl enable --now ${name}`;
  if (unit.ActiveState === 'failed')
    return problem(`${name} has failed: ${consequence}`, `systemctl restart ${name}`);
  if (unit.ActiveState !== 'active')
    return warning(`${name} is ${unit.ActiveState}: ${consequence}`, enable);
  if (unit.UnitFileState === 'disabled')
    return warning(
      `${name} is running but not enabled: it will not start at the next boot`,
      enable,
    );
  return [];
}
