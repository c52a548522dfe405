import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld } from '../deploys/world.ts';
import { makeOperator, resultIn } from '../fleet/world.ts';

const test = suite('approvals in a fleet');

test('an order waits for an approval, which another order gives, if config.yml lists its signer', () =>
  inWorld(async (world) => {
    const { root } = world;
    await world.launch('v1');
    const operator = await makeOperator();
    await operator.enrol('web1', root);
    const rule = (by: string) => `require_approval: { shop: { deploy: 1, by: [${by}] } }\n`;
    appendFileSync(join(root, 'config.yml'), rule('alice'));
    const config = readFileSync(join(root, 'config.yml'), 'utf8');
    const commit = await world.push('v2');
    const order = async (verb: string, ref: string) => {
      const sealed = operator.signed(verb, 'shop', { ref });
      return resultIn((await run('runner-agent', ['exec'], { root, stdin: sealed })).stdout);
    };
    const held = await order('deploy', commit);
    assert.equal([held.status, held.code], ['held', 'approval']);
    const id = /p-[0-9a-f]{8}/.exec(String(held.message))?.[0] ?? '';
    assert.match(String(held.message), `waits for approval ${id} by alice`);
    const unknown = await order('approve', 'p-00000000');
    assert.equal([unknown.status, unknown.code], ['failed', 'plan_not_found']);
    const approved = await order('approve', id);
    assert.is(approved.status, 'approved', JSON.stringify(approved));
    // The approval has begun the deploy: an order given meanwhile waits for its end.
    const again = await order('deploy', commit);
    assert.is(again.status, 'up_to_date', JSON.stringify(again));
    assert.equal(
      [world.kinds().at(-1), world.events().at(-1)?.plan, world.events().at(-1)?.approved_by],
      ['DeploySuccess', id, ['alice']],
    );

    writeFileSync(join(root, 'config.yml'), config.replace('deploy: 1', 'rollback: 1'));
    const back = await order('rollback', '');
    assert.equal([back.status, back.code], ['held', 'approval']);
    const backId = /p-[0-9a-f]{8}/.exec(String(back.message))?.[0] ?? '';
    assert.is((await order('approve', backId)).status, 'approved');
    await until(() => world.kinds().at(-1) === 'RollbackSuccess', 'no rollback');
    assert.equal(world.events().at(-1)?.approved_by, ['alice']);
  }));

test.run();
