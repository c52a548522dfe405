/** What came first in an app, whatever the clock did: versions, migrations and backups are compared. */
import type { DatabaseBackup, Migration } from './database.ts';
import type { Deployed } from './deployed.ts';
import type { AppState } from './state.ts';

/** Its time in ms, or what stands for it; states of 0.2.0 have no `order`. */
export function orderOf(one: Deployed | Migration | DatabaseBackup): number {
  return one.order ?? Date.parse('at' in one ? one.at : one.deployed_at);
}

/** For what is new: the time, or more, so that it is after all that the state has. */
export function nextOrder(
  { instances, migrations, database_backups }: AppState,
  now: Date,
): number {
  const versions = Object.values(instances).flatMap(({ current, previous }) => [
    ...(current ? [current] : []),
    ...previous,
  ]);
  const known = [...versions, ...(migrations ?? []), ...(database_backups ?? [])].map(orderOf);
  const gone = (migrations ?? []).map(({ gone_order: order = 0 }) => order);
  return [...known, ...gone].reduce((most, each) => Math.max(most, each + 1), now.getTime());
}
