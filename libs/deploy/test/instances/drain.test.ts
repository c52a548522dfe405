/** When what was kept running while a release was watched may drain. */
import type { AppState } from '@runner/common/apps/state';
import { withDrains } from '@runner/deploy/instances/drain';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('drain');

test('what a watch kept running has the whole time of its drain once that ends', () => {
  const at = (second: string) => `2026-05-04T09:00:${second}.000Z`;
  const draining = { slot: 'b' as const, since: at('00'), until: at('30') };
  const idle = { current: null, previous: [] };
  const instances = { default: { ...idle, draining }, worker: idle };
  const now = new Date(at('40'));
  assert.equal(withDrains({ instances } as unknown as AppState, now).instances, {
    default: {
      ...idle,
      draining: { slot: 'b', since: at('40'), until: '2026-05-04T09:01:10.000Z' },
    },
    worker: idle,
  });
});

test.run();
