import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, inWorld } from './world.ts';

const SET_UP = 'runner notify setup --channel telegram';

test('a channel that .deploy.yml names and that is not set up is reported wherever it is looked for', () =>
  inWorld(async (world) => {
    const { root } = world;
    // Nothing listens there, and nothing is sent.
    const hook = 'http://127.0.0.1:1/api/webhooks/1/abc';
    appendFileSync(join(root, 'config.yml'), `notify: { discord_webhook: "${hook}" }\n`);
    const deploy = deployFile(world.port, 'notify: { channel: telegram }');
    await world.push('v1', { deploy });
    const { warnings } = JSON.parse((await world.deploy(['--check', '--json'])).stdout);
    assert.equal(warnings, [`notify: telegram is not active: run ${SET_UP}`]);
    const done = await world.deploy();
    assert.is(done.status, 0, done.stderr);
    assert.match(done.stderr, 'telegram is not active: ');
    assert.is((await world.deploy(['--no-notify'])).stderr.includes('telegram'), false);

    const args = ['status', '--offline'];
    const { channels } = JSON.parse(
      (await run('runner-notify', [...args, '--json'], { root })).stdout,
    );
    assert.equal(channels[0].named_by, ['shop']);
    const text = (await run('runner-notify', args, { root })).stdout;
    assert.match(text, 'the .deploy.yml of shop names it');
    const doctor = await run('runner-doctor', ['--json'], { root });
    const { findings } = JSON.parse(doctor.stdout);
    const found = findings.find(({ fix }: { fix?: string }) => fix?.startsWith(SET_UP));
    assert.is(found?.message, 'the .deploy.yml of shop names telegram, which is not active');
  }));

test.run();
