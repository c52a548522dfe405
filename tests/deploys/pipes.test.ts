import type { Ended } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recordsOf, sh } from './pipes.ts';
import { impatient, inWorld } from './world.ts';

const test = suite('records in a pipe');

const kindsOf = (ended: Ended) => recordsOf(ended).map(({ event }) => event);

test('--events prints the records that deploy, rollback, stop, start and restart write', () =>
  inWorld(async (world) => {
    await world.push('v1');
    const first = await world.deploy(['--events']);
    assert.is(first.status, 0, first.stderr);
    assert.equal(kindsOf(first), ['DeployStarted', 'DeploySuccess']);
    assert.match(first.stderr, /^Deployed shop v1 in /m);
    assert.equal(recordsOf(first), world.events());

    await world.push('v2', { deploy: impatient(world.port), health: 503 });
    const failed = await world.deploy(['--events']);
    assert.is(failed.status, 1);
    assert.equal(kindsOf(failed), ['DeployStarted', 'DeployFailure', 'RollbackSuccess']);
    assert.match(failed.stderr, /Deploy FAILED for shop v2/);

    await world.push('v3');
    const fetched = await sh(world, 'runner-fetch --deploy --events');
    assert.equal(kindsOf(fetched), ['DeployStarted', 'DeploySuccess']);
    assert.match(fetched.stderr, /^shop: deployed v3$/m);
    const all: unknown[] = [];
    for (const command of ['rollback', 'stop', 'start', 'restart'])
      all.push(...kindsOf(await sh(world, `runner-${command} shop --events`)));
    assert.equal(all, ['RollbackSuccess', 'AppStopped', 'AppStarted', 'AppRestarted']);
    assert.is(world.events().length, 11);
  }));

test.run();
