/** However small the table of deploys is, and however often the log is read: the verdict is the same. */
import { pathsOf } from '@runner/common/foundation/paths';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { keyOf } from '../src/deploy-ledger.ts';
import { verifyLog } from '../src/verifying.ts';
import { line, record, rootWithLog } from './log.ts';

const note = (text: string) => assert.unreachable(text);
const KINDS = [
  'DeployStarted',
  'DeployStarted',
  'DeploySuccess',
  'DeployFailure',
  'RollbackSuccess',
];

test('a table with room for a few deploys finds the same as one with room for all', async () => {
  const someEvent = fc.record({
    event_type: fc.constantFrom(...KINDS),
    project: fc.constantFrom('shop', 'shop', 'shop', 'blog'),
    instance: fc.constantFrom('default', 'eu'),
    // Ours, ours of older versions, foreign ones.
    deploy_id: fc
      .tuple(fc.constantFrom('', 'x', 'deploy-'), fc.nat(150))
      .map(([before, id]) => before + id.toString(16).padStart(8, '0')),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(someEvent, { minLength: 1, maxLength: 400 }), async (events) => {
      const half = Math.floor(events.length / 2);
      const text = (some: typeof events) => some.map((each) => line(record('v1', each))).join('');
      const root = rootWithLog(text(events.slice(0, half)), '.1');
      rootWithLog(text(events.slice(half)), '', root);
      const whole = await verifyLog({ paths: pathsOf(root), note });
      for (const slots of [16, 64])
        assert.equal(await verifyLog({ paths: pathsOf(root), note }, slots), whole);
    }),
    { numRuns: 60 },
  );
});

test('ids of 8 characters are all told apart, others by a hash', () => {
  const keys = new Set<number>();
  const ids = ['00000000', 'AAAAAAAA', '--------', '________', 'aaaaaaab', 'baaaaaaa', '0000000A'];
  for (let number = 0; number < 200_000; number += 1) ids.push(`id-${number}`, `${number}-of-web`);
  for (const id of ids) {
    const key = keyOf(id);
    assert.ok(Number.isSafeInteger(key) && key >= 0 && key < 2 ** 48, id);
    keys.add(key);
  }
  assert.is(keys.size, ids.length);
});

test.run();
