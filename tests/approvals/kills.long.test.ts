import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { killedAfter, staged } from '@runner/testing/killing';
import { run, start } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, gate, inWorld } from '../deploys/world.ts';

const test = suite('plans and kills');

test('a plan whose deploy was killed is not applied again, and goes with its app', () =>
  inWorld(async (world) => {
    const { root, port } = world;
    await world.launch('v1');
    appendFileSync(
      join(root, 'config.yml'),
      'require_approval: { shop: { deploy: 1, by: [root] } }\n',
    );
    const held = gate();
    await world.push('v2', { deploy: deployFile(port, held.build) });
    const { stdout } = await run('runner-plan', ['deploy', 'shop', '--json'], { root });
    const { id } = JSON.parse(stdout);
    assert.is((await run('runner-approve', [id, '--no-apply'], { root })).status, 0);
    const applying = start('runner-apply', [id], { root });
    await held.reached();
    process.kill((world.state().deploying as { pid: number }).pid, 'SIGKILL');
    const killed = await applying.done;
    assert.is(killed.status, 137);
    assert.match(
      killed.stderr,
      'runner apply: the deploy was killed by SIGKILL: the next command of shop cleans up\n',
    );
    held.open();
    const early = await run('runner-apply', [id], { root });
    assert.is(early.status, 1);
    const stands = 'it was killed: the next command of the app cleans up';
    assert.match(early.stderr, stands);
    assert.match((await run('runner-plan', ['list'], { root })).stdout, stands);
    const fetched = JSON.parse(
      (await run('runner-fetch', ['--deploy', '--json'], { root })).stdout,
    );
    assert.is(fetched.result, 'approval', JSON.stringify(fetched));
    // The same fetch cleans up and makes the next plan.
    assert.match(fetched.text, /^v2 waits for approval p-/);
    assert.is.not(/p-[0-9a-f]{8}/.exec(fetched.text)?.[0], id);
    const failure = world.events().find(({ event_type: kind }) => kind === 'DeployFailure');
    assert.equal([failure?.plan, failure?.approved_by], [id, ['root']]);
    const late = await run('runner-apply', [id], { root });
    assert.is(late.status, 1);
    const [why = ''] = /the deploy of v2 failed: .*(?= \(plan_ended\))/.exec(late.stderr) ?? [];
    assert.is.not(why, '', late.stderr);
    assert.ok((await run('runner-plan', ['list'], { root })).stdout.includes(why));
    const shown = await run('runner-plan', ['show', id, '--json'], { root });
    assert.equal(JSON.parse(shown.stdout).ended.why, why);
    assert.is(await world.page(), 'v1');
    assert.is((await run('runner-remove', ['shop', '--yes'], { root })).status, 0);
    assert.not.ok(existsSync(join(root, 'plans', `${id}.json`)));
  }));

test('a plan whose restart was killed, and finished by the next command, was done', () =>
  inWorld(async ({ root, port, push, deploy }) => {
    await push('v1', { deploy: deployFile(port) });
    assert.is((await deploy()).status, 0);
    const { stdout } = await run('runner-plan', ['restart', 'shop', '--json'], { root });
    const { id } = JSON.parse(stdout);
    const env = killedAfter(staged('health'));
    const args = ['shop', '--plan', id];
    assert.is((await run('runner-restart', args, { root, env })).signal, 'SIGKILL');
    assert.is((await run('runner-start', ['shop'], { root })).status, 0);
    const again = await run('runner-apply', [id], { root });
    assert.equal([again.status, again.stdout], [0, `${id} was applied: shop was restarted\n`]);
  }));

test.run();
