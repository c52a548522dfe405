/** Figures against what really happened in random histories, counted in another way. */
import { Deploys } from '@runner/history/deploys/fold';
import { figuresOf, percentile } from '@runner/history/figures/figures';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Fact, storyOf } from './story.ts';

const since = Date.parse('2026-09-10T00:00:00.000Z');
const until = Date.parse('2026-11-22T00:00:00.000Z');

/** The smallest value that at least this part of all values does not exceed. */
function nearest(values: readonly number[], part: number): number | null {
  const fits = (limit: number) =>
    values.filter((value) => value <= limit).length >= (part / 100) * values.length;
  const found = values.filter(fits);
  return found.length === 0 ? null : Math.min(...found);
}

/** The seconds until an app was well again after a failed change; undefined if it was no failed change. */
function restoreOf(fact: Fact, facts: readonly Fact[]): number | undefined {
  if (fact.kind === 'rolled_back') return (fact.down ?? 0) / 1000;
  const next = facts.find(
    ({ app, start, kind }) =>
      app === fact.app &&
      start > fact.start &&
      ['success', 'rolled_back', 'by hand'].includes(kind),
  );
  const left = facts.some(
    ({ kind, left, app }) => kind === 'by hand' && app === fact.app && left === fact.version,
  );
  if (fact.kind !== 'success' || !left || !next) return undefined;
  return (
    ((next.kind === 'rolled_back' ? (next.restored ?? 0) : (next.end ?? 0)) - (fact.end ?? 0)) /
    1000
  );
}

test('the figures of 20 random histories match an independent count', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const { records, facts } = storyOf(seed);
    const deploys = new Deploys();
    for (const record of records) deploys.add(record);
    const { slowest_steps, ...figures } = figuresOf(deploys.all, { since, until });
    assert.is(slowest_steps.length, 5);
    const own = facts.filter(
      ({ start, kind }) => start >= since && start < until && kind !== 'by hand',
    );
    const changes = own.filter(({ kind }) => kind === 'success' || kind === 'rolled_back');
    const restores = changes.flatMap((fact) => restoreOf(fact, facts) ?? []);
    const leads = own.flatMap(({ lead }) => (lead === undefined ? [] : lead / 1000));
    const took = own.flatMap((fact) => fact.took ?? []);
    const days = (until - since) / 86_400_000;
    assert.equal(
      figures,
      {
        since: '2026-09-10T00:00:00.000Z',
        until: '2026-11-22T00:00:00.000Z',
        deploys: own.length,
        changes: changes.length,
        per_day: Number((own.length / days).toFixed(4)),
        lead_time_s: { p50: nearest(leads, 50), p90: nearest(leads, 90) },
        change_failure_rate: Number((restores.length / changes.length).toFixed(4)),
        time_to_restore_s: { p50: nearest(restores, 50), p90: nearest(restores, 90) },
        duration_ms: { p50: nearest(took, 50), p95: nearest(took, 95) },
      },
      `seed ${seed}`,
    );
  }
});

test('a percentile is a value by nearest rank, and null without values', () => {
  assert.equal(
    [50, 90, 100].map((part) => percentile([3, 1, 2, 4], part)),
    [2, 4, 4],
  );
  assert.is(percentile([], 50), null);
});

test.run();
