import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandPlan, createPlan, listPlans } from '@runner/common/apps/plans';
import { processIo } from '@runner/common/foundation/io';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freshRoot } from '../files/scratch.ts';

/** Bytes that this process has read. */
const read = () => Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

test('each of many apps is asked for its plans without reading all of them again', () => {
  const paths = freshRoot();
  const server = { io: processIo(), paths };
  const apps = Array.from({ length: 20 }, (_, at) => `app${at}`);
  const made = '2026-01-01T00:00:00.000Z';
  for (const [at, app] of [...apps, ...apps, ...apps].entries()) {
    const id = `p-${String(at).padStart(8, '0')}`;
    createPlan(server, { id, app, made, version: 'v'.repeat(2000) } as unknown as CommandPlan);
  }
  const files = readdirSync(paths.plansDir).map((name) => join(paths.plansDir, name));
  const size = files.reduce((sum, path) => sum + statSync(path).size, 0);
  const before = read();
  for (const app of apps)
    assert.equal([...new Set(listPlans(paths, app).map(({ plan }) => plan.app))], [app]);
  assert.ok(read() - before < 3 * size, `${read() - before} bytes of ${size}`);
  assert.is(listPlans(paths).length, 60);
});

test.run();
