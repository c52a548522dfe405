/** What an app ran when the backup was made from which it was restored, until that runs here. */

import { Failure } from '../foundation/failure.ts';
import type { RanVersion } from './deployed.ts';
import type { AppState, RestoredInstances } from './state.ts';
import { versionArgument } from './versions.ts';

/** A deploy that brings back what ran. */
export interface Return extends RanVersion {
  /** Only this instance; undefined: all. */
  readonly instance: string | undefined;
}

/**
 * The deploys that bring back what ran: one if it was one commit. What an operator stopped stays
 * stopped, and what was deployed here since the restore stays too.
 */
export function returnsOf({
  restored,
  stopped,
  instances,
}: Pick<AppState, 'restored' | 'stopped' | 'instances'>): Return[] {
  const all = Object.entries(restored?.instances ?? {});
  const due = all.filter(([name]) => !stopped?.instances.includes(name));
  const [first] = due;
  if (!first) return [];
  const isOne =
    due.length === all.length &&
    all.every(([, { commit }]) => commit === first[1].commit) &&
    Object.values(instances).every(({ current }) => !current);
  return isOne
    ? [{ ...first[1], instance: undefined }]
    : due.map(([instance, ran]) => ({ ...ran, instance }));
}

/** What is restored once these instances have been deployed, or all of them. */
export function withoutReturned(
  { restored }: Pick<AppState, 'restored'>,
  names: readonly string[] | 'all',
): RestoredInstances | undefined {
  const left = Object.entries(restored?.instances ?? {}).filter(
    ([name]) => names !== 'all' && !names.includes(name),
  );
  return left.length > 0 ? { instances: Object.fromEntries(left) } : undefined;
}

/** The versions, each once. */
export function ranWords(ran: readonly RanVersion[]): string {
  return [...new Set(ran.map(({ version }) => version))].join(', ');
}

/** The command that deploys by hand what ran. */
export function returnCommand(app: string, ran: readonly RanVersion[]): string {
  const [first] = ran;
  return first
    ? `runner deploy ${app} --ref ${versionArgument(first, ran)}`
    : `runner deploy ${app}`;
}

/** Refuses instances that ran before a restore and have no release here. Throws `version_not_found`. */
export function refuseRestored(
  { app, restored }: Pick<AppState, 'app' | 'restored'>,
  only: string | undefined,
): void {
  const ran = Object.entries(restored?.instances ?? {}).flatMap(([name, each]) =>
    only === undefined || name === only ? [each] : [],
  );
  if (ran.length === 0) return;
  throw new Failure(
    'version_not_found',
    `${ranWords(ran)} of '${app}' ran before the restore and is not deployed here yet: run runner fetch ${app} --deploy, or ${returnCommand(app, ran)}`,
  );
}
