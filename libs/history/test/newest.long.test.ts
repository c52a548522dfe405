import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsOf } from '@runner/common/foundation/paths';
import { readDeploys } from '@runner/history/deploys/read';
import { temporaryFolder } from '@runner/testing/temp';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

type Written = Record<string, unknown>;

/** How the deploy with this number ends: its records, after the start of each instance. */
function endOf(shape: number, id: string, version: string): Written[] {
  const own = { deploy_id: id, version };
  const failed = { ...own, event_type: 'DeployFailure', stage: 'health', rolled_back: true };
  if (shape === 0) return [];
  if (shape === 1) return [failed, { ...own, event_type: 'RollbackSuccess', from_version: 'v0' }];
  return [{ ...own, event_type: 'DeploySuccess', duration_ms: 5 }];
}

/** A log of that many deploys, a few at a time; `odd` of a thousand are without a start or an id. */
function logOf(deploys: number, shapes: readonly number[], odd: number): string {
  const open: Written[][] = [];
  const lines: Written[] = [];
  const shape = (index: number) => shapes[index % shapes.length] as number;
  for (let index = 0; index < deploys; index += 1) {
    const id = index % 1000 < odd ? undefined : String(index).padStart(8, '0');
    const [version, project] = [`v${index}`, `app${shape(index * 7) % 3}`];
    const start = { event_type: 'DeployStarted', deploy_id: id, version };
    const isStarted = index % 1000 >= odd / 2;
    const records = [...(isStarted ? [start] : []), ...endOf(shape(index) % 4, id ?? '', version)];
    open.push(records.map((record) => ({ project, ...record, instance: 'default' })));
    while (open.length > shape(index * 3) % 6) {
      const at = shape(index) % open.length;
      lines.push(...(open[at]?.splice(0, 1) ?? []));
      if (open[at]?.length === 0) open.splice(at, 1);
    }
  }
  lines.push(...open.flat());
  const timed = lines.map((record, index) => ({
    timestamp: new Date(1_750_000_000_000 + index * 1000).toISOString(),
    ...record,
  }));
  return timed.map((record) => `${JSON.stringify(record)}\n`).join('');
}

test('the newest deploys are the same, whether all of the log is read or only its end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        count: fc.integer({ min: 1, max: 3_000 }),
        shapes: fc.array(fc.nat(100), { minLength: 1, maxLength: 50 }),
        odd: fc.constantFrom(0, 0, 0, 2, 500),
        last: fc.constantFrom(1, 3, 20, 100),
        project: fc.constantFrom(undefined, 'app1'),
      }),
      async ({ count, shapes, odd, last, project }) => {
        const root = temporaryFolder('newest');
        mkdirSync(join(root, 'logs'));
        writeFileSync(join(root, 'logs/deploy-events.jsonl'), logOf(count, shapes, odd));
        const paths = pathsOf(root);
        const read = (most?: number) =>
          readDeploys({ paths, project, last: most, note: () => {} }).catch(() => []);
        const [all, newest] = [await read(), await read(last)];
        assert.equal(newest.slice(-last), all.slice(-last));
      },
    ),
    { numRuns: 40 },
  );
});

test.run();
