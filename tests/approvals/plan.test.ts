import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandPlan, createPlan } from '@runner/common/apps/plans';
import { takeLock } from '@runner/common/files/lock';
import { processIo } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, inWorld, type World } from '../deploys/world.ts';

const test = suite('approvals');

/** Asks for approvals; the tests run as root, without sudo. */
function requireApproval({ root }: World, rule: string): void {
  appendFileSync(join(root, 'config.yml'), `require_approval: { shop: ${rule} }\n`);
}

const json = (text: string) => JSON.parse(text.trim().split('\n').at(-1) ?? '{}');

test('a new plan removes those that ended a week ago, but the newest of each maker', () =>
  inWorld(async (world) => {
    const { root } = world;
    await world.launch('v1');
    const paths = pathsOf(root);
    const summary = { problems: [] };
    const needs = { count: 0, by: [], not_author: false };
    const common = { app: 'shop', verb: 'deploy', summary, needs, facts: {} };
    for (const [at, by] of ['fetch', 'ada', 'fetch', 'ada', 'fetch'].entries()) {
      const [made, expires] = [1, 2].map((day) => `2026-01-0${day}T00:00:0${at}.000Z`);
      const plan = { ...common, id: `p-0000000${at}`, by, made, expires };
      createPlan({ io: processIo(), paths }, plan as unknown as CommandPlan);
    }
    const planned = await run('runner-plan', ['deploy', 'shop', '--json'], { root });
    const { id } = json(planned.stdout);
    const names = [id, 'p-00000003', 'p-00000004'].map((each) => `${each}.json`);
    assert.equal(readdirSync(paths.plansDir).sort(), names.sort());
  }));

test('a deploy that needs an approval is refused, planned, approved, and applied once', () =>
  inWorld(async (world) => {
    const { root } = world;
    await world.launch('v1');
    requireApproval(world, '{ deploy: 1, by: [root] }');
    await world.push('v2');
    const refused = await world.deploy();
    assert.is(refused.status, 1);
    assert.match(refused.stderr, 'runner plan deploy shop');
    assert.match(refused.stderr, '(approval_required)');
    const planned = await run('runner-plan', ['deploy', 'shop', '--json'], { root });
    assert.is(planned.status, 0, planned.stderr);
    const { id } = json(planned.stdout);
    const early = await run('runner-apply', [id], { root });
    assert.is(early.status, 1);
    assert.match(early.stderr, `${id} has 0 of 1 approvals`);
    const human = await run('runner-plan', ['show', id], { root });
    assert.match(human.stdout, `To approve it: runner approve ${id}`);
    const approved = await run('runner-approve', [id, '--no-apply', '--reason', 'looks good'], {
      root,
    });
    assert.is(approved.status, 0);
    const wanted = world.events().find(({ event_type: kind }) => kind === 'ApprovalWanted');
    assert.match(String(wanted?.reason), /^deploy, 1 commit by .+, waits for approval p-/);
    const stop = await run('runner-plan', ['stop', 'shop', '--reason', 'a new disk'], { root });
    assert.match(stop.stdout, /^ {2}reason: +a new disk$/m);
    const applied = await run('runner-apply', [id, '--json'], { root });
    assert.is(applied.status, 0);
    assert.is(await world.page(), 'v2');
    const again = await run('runner-apply', [id], { root });
    assert.equal([again.status, again.stdout], [0, `${id} was applied: v2 was deployed\n`]);
    assert.equal(world.kinds().slice(-4), [
      'ApprovalWanted',
      'PlanApproved',
      'DeployStarted',
      'DeploySuccess',
    ]);
    const last = world.events().at(-1);
    assert.is(last?.plan, id);
    assert.equal(last?.approved_by, ['root']);
  }));

test('a plan for a rollback goes where it says, also after a deploy that failed', () =>
  inWorld(async (world) => {
    const { root } = world;
    for (const version of ['v1', 'v2']) await world.launch(version);
    await world.push('v3', { deploy: deployFile(world.port, 'build: exit 1\n') });
    assert.is((await world.deploy()).status, 1);
    const lost = await run('runner-rollback', ['shop', '--database', '1234abcd'], { root });
    assert.equal([lost.status, lost.stdout], [2, '']);
    assert.match(lost.stderr, /^error: v2 is active, and v3 failed: .* --to\n$/);
    const planned = await run('runner-plan', ['rollback', 'shop', '--json'], { root });
    const applied = await run('runner-apply', [json(planned.stdout).id], { root });
    assert.match(applied.stdout, /^Rolled back shop from v2 to v1/);
    assert.is(await world.page(), 'v1');
  }));

test('a plan that the next fetch does not wait for is not what comes next, nor ready once a rule asks for more', () =>
  inWorld(async (world) => {
    const { root } = world;
    await world.launch('v1');
    await world.push('v2');
    const { id } = json((await run('runner-plan', ['deploy', 'shop', '--json'], { root })).stdout);
    const status = async () =>
      json((await run('runner-status', ['shop', '--json'], { root })).stdout);
    const free = await status();
    assert.is(free.plans[0].waits, `needs no approval: runner apply ${id}`);
    assert.not.match(free.next, id);
    requireApproval(world, '{ deploy: 1, by: [root] }');
    assert.equal((await status()).plans, []);
    assert.not.match((await run('runner-list', [], { root })).stdout, id);
    await run('runner-fetch', ['--deploy'], { root });
    assert.match((await status()).next, /^v2 waits for approval p-/);
    // `apply` and `approve` refuse what a changed secret or setting has overtaken.
    await run('runner-env', ['set', 'shop', 'A', '--file', '-'], { root, stdin: 'x1y2z3' });
    const outdated = await status();
    assert.equal(outdated.plans, []);
    assert.not.match(outdated.next, /p-[0-9a-f]{8}/);
    assert.not.match((await run('runner-list', [], { root })).stdout, /p-[0-9a-f]{8}/);
  }));

test('a rule that is for no app, such as *, is refused, not passed over', () =>
  inWorld(async (world) => {
    await world.push('v1');
    appendFileSync(
      join(world.root, 'config.yml'),
      'require_approval: { "*": { deploy: 1, by: [root] } }\n',
    );
    const refused = await world.deploy();
    assert.is(refused.status, 1);
    assert.match(refused.stderr, 'require_approval.*: is not a valid name (config_invalid)');
  }));

test('a plan does not wait for the deploy of an app that is called plans', () =>
  inWorld(async (world) => {
    await world.launch('v1');
    using _deploy = takeLock(pathsOf(world.root).lock('plans'), 0);
    const planned = await run('runner-plan', ['stop', 'shop'], world);
    assert.is(planned.status, 0, planned.stderr);
  }));

test.run();
