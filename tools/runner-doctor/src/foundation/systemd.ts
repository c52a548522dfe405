/** Units of systemd, as systemctl shows them. */
import type { Io } from '@runner/common/foundation/io';
import { type Found, problem, warning } from './finding.ts';
import { runFor } from './program.ts';

const TIMEOUT = 15_000;

/** The properties that were asked for. */
export type Unit = Readonly<Record<string, string | undefined>>;

/** These units, by their names; undefined where systemd is not running. */
export async function showUnits(
  io: Io,
  names: readonly string[],
  properties: readonly string[],
): Promise<((name: string) => Unit | undefined) | undefined> {
  const shown = ['Id', 'LoadState', 'ActiveState', 'UnitFileState', ...properties];
  const ask = ['show', `--property=${shown.join(',')}`, ...names];
  const ran = await runFor(io, TIMEOUT, 'systemctl', ask);
  if (ran === undefined || ran.status !== 0) return undefined;
  const units = ran.stdout
    .trim()
    .split(/\n{2,}/)
    .map(unitOf);
  return (name) => units.find(({ Id }) => Id === name);
}

function unitOf(text: string): Unit {
  return Object.fromEntries(
    text.split('\n').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}

/** An installed unit that should be active; `undone` says what is not done without it. */
export function judged(name: string, undone: string, unit: Unit): Found[] {
  const enable = `systemctl enable --now ${name}`;
  if (unit.ActiveState === 'failed')
    return [problem(`${name} has failed: ${undone}`, `systemctl restart ${name}`)];
  if (unit.ActiveState !== 'active')
    return [warning(`${name} is ${unit.ActiveState}: ${undone}`, enable)];
  if (unit.UnitFileState === 'disabled')
    return [warning(`${name} runs, but not after the next boot`, enable)];
  return [];
}
