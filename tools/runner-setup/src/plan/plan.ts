/** All that an app needs of the server. */
import { basename, join } from 'node:path';
import { readTextIfThere } from '@runner/common/files/read';
import { etcOf, type MadeThing, SETUP_FILE_MAX } from '@runner/deploy/instances/setup-record';
import { isThere, staleEntries, type ThingReport } from '../steps/apply.ts';
import { idOf, type Thing } from '../steps/thing.ts';
import type { AppNeeds, NeededThings } from './needs.ts';
import { siteThings } from './site.ts';
import { unitThings } from './unit.ts';

/** What setup would do. */
export type SetupPlan = ReturnType<typeof planOf>;

export function planOf(needs: AppNeeds) {
  const { machine } = needs;
  const parts = [unitThings(needs), leftUnits(needs), siteThings(needs)];
  const all = parts.flatMap((part) => part.things);
  const later = parts.flatMap((part) => part.later ?? []);
  const things = [...new Map(all.map((each) => [idOf(each), each])).values()];
  const reports = things.map(
    (thing): ThingReport => ({ thing, state: isThere(machine, thing) ? 'there' : 'wanted' }),
  );
  return {
    reports,
    /** What it made before and nothing needs now. */
    stale: removable(needs, staleEntries(machine, [...things, ...later])),
    notes: parts.flatMap((part) => part.notes),
  };
}

/** Units beside the slots, which the next boot would start again; and what was disabled before. */
function leftUnits({ facts, machine }: AppNeeds): NeededThings {
  const list = join(etcOf(machine.env), 'runner/units');
  // Others runner could not name to root: those of the list it may stop anyway.
  const listed = (readTextIfThere(list, SETUP_FILE_MAX) ?? '').split('\n');
  // What setup enabled it disables as stale.
  const isOurs = (unit: string) =>
    machine.record.made.some(({ kind, fields }) => kind === 'enabled' && fields.unit === unit);
  const left = facts.left.filter((unit) => listed.includes(unit) && !isOurs(unit));
  const before = machine.record.made
    .filter(({ kind }) => kind === 'disabled')
    .map(({ fields }) => fields.unit ?? '')
    .filter((unit) => !facts.units.includes(unit));
  const units = [...new Set([...left, ...before])];
  return { things: units.map((unit): Thing => ({ kind: 'disabled', unit })), notes: [] };
}

const IS_SITE =
  /\/(?:nginx|caddy|haproxy)\/|^reload (?:nginx|caddy|haproxy)$|haproxy\.service\.d\//;

/** While a version runs as a unit that setup made, that unit and what it needs stay. */
function removable({ facts }: AppNeeds, stale: readonly MadeThing[]): MadeThing[] {
  const names = new Set(
    facts.units.flatMap((unit) => [unit, unit.replace(/@.*(\.[a-z]+)$/, '@$1')]),
  );
  const isUsed = stale.some(
    ({ fields: { path = '', unit = '', line = '' } }) =>
      names.has(basename(path)) || names.has(unit) || names.has(line),
  );
  return stale.filter(({ id }) => !isUsed || IS_SITE.test(id));
}
