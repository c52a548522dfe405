/** Random histories of an audit log, and what really happened in them. */
import type { LogRecord } from '@runner/common/audit/record';
import { randomOf } from '@runner/testing/random';

/** What one deploy was, noted while its records are written. */
export interface Fact {
  readonly app: string;
  readonly start: number;
  readonly end?: number;
  readonly kind: 'success' | 'failed' | 'rolled_back' | 'interrupted' | 'killed' | 'by hand';
  readonly version: string;
  readonly lead?: number;
  readonly took?: number;
  readonly restored?: number;
  /** Of a rolled back deploy: how long the app was down. */
  readonly down?: number;
  readonly left?: string;
}

/** The clocks of Berlin go back in this moment. */
const WINTER = Date.parse('2026-10-25T01:00:00.000Z');

/** A time as a server in Berlin writes it: an hour of that night comes twice. */
function inBerlin(at: number): string {
  const hours = at < WINTER ? 2 : 1;
  return new Date(at + hours * 3_600_000).toISOString().replace('Z', `+0${hours}:00`);
}

/** Records of two apps over about three months, across a change of the clocks and days without any. */
export function storyOf(seed: number): { records: LogRecord[]; facts: Fact[] } {
  const random = randomOf(seed);
  const facts: Fact[] = [];
  const records: LogRecord[] = [];
  const active = new Map<string, string>();
  let now = Date.parse('2026-08-20T00:00:00.000Z');
  for (let number = 1; number <= 80; number += 1) {
    now += Math.floor(random() * (number % 20 === 0 ? 9 : 1.6) * 86_400_000);
    const app = random() < 0.7 ? 'shop' : 'blog';
    const id = number.toString(16).padStart(8, '0');
    const version = `v${number}`;
    const instances = random() < 0.3 ? ['blue', 'green'] : ['default'];
    const add = (event_type: string, at: number, more: LogRecord) => {
      for (const instance of instances)
        records.push({
          timestamp: seed % 2 === 0 ? inBerlin(at) : new Date(at).toISOString(),
          event_type,
          project: app,
          instance,
          version,
          deploy_id: id,
          instances,
          ...more,
        });
    };
    const previous = active.get(app);
    if (previous !== undefined && random() < 0.15) {
      add('RollbackSuccess', now, { version: 'older', from_version: previous, reason: 'by hand' });
      facts.push({ app, start: now, end: now, kind: 'by hand', version: 'older', left: previous });
      active.delete(app);
      continue;
    }
    if (previous !== undefined && random() < 0.05) {
      add('RollbackSuccess', now, { version: previous, from_version: previous });
      facts.push({ app, start: now, end: now, kind: 'by hand', version: previous });
      continue;
    }
    const took = 1000 + Math.floor(random() * 600_000);
    const lead = Math.floor(random() * 100_000) * 1000;
    const [start, end] = [now, now + took];
    now = end;
    add('DeployStarted', start, { committed_at: new Date(end - lead).toISOString() });
    const fact = { app, start, end, version, took };
    const steps = ['fetch', 'build', 'hook', 'start', 'health', 'stop'].map((stage) => {
      return { stage, ms: Math.floor((random() * took) / 6) };
    });
    const chance = random();
    if (chance < 0.6) {
      add('DeploySuccess', end, { duration_ms: took, steps, gap_ms: number });
      facts.push({ ...fact, kind: 'success', lead });
      active.set(app, version);
    } else if (chance < 0.7) {
      add('DeployFailure', end, {
        duration_ms: took,
        stage: 'build',
        error: 'no',
        steps: steps.slice(0, 2),
      });
      facts.push({ ...fact, kind: 'failed' });
    } else if (chance < 0.85) {
      // Some were probed, some have the time of their rollback, some neither.
      const seen = [{ gap_ms: 5000 }, { steps: [{ stage: 'rollback', ms: 900 }], gap_ms: 0 }, {}];
      const rolledBack = {
        ...{ duration_ms: took, stage: 'health', error: 'no', rolled_back: true },
        ...seen[number % 3],
      };
      add('DeployFailure', end, rolledBack);
      now += 2000;
      add('RollbackSuccess', now, { version: 'older', from_version: version });
      const down = [5000, 2900, 2000][number % 3] as number;
      facts.push({ ...fact, kind: 'rolled_back', restored: now, down });
    } else if (chance < 0.95) {
      add('DeployFailure', end, {
        duration_ms: took,
        stage: 'build',
        interrupted: true,
        error: '',
      });
      facts.push({ ...fact, kind: 'interrupted' });
    } else {
      facts.push({ app, start, kind: 'killed', version });
    }
  }
  return { records, facts };
}
