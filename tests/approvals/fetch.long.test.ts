import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { killedAfter } from '@runner/testing/killing';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, inWorld, type World } from '../deploys/world.ts';
import { shiftedClock } from '../model/clock.ts';

const test = suite('fetch and approvals');

const RULE = 'require_approval: { shop: { deploy: 1, by: [root] } }\n';
const fetch = async ({ root }: World) =>
  JSON.parse((await run('runner-fetch', ['--deploy', '--json'], { root })).stdout.trim());

/** A world whose next commit needs an approval. */
const asking = (body: (world: World) => Promise<void>) =>
  inWorld(async (world) => {
    await world.launch('v1');
    appendFileSync(join(world.root, 'config.yml'), RULE);
    await world.push('v2');
    await body(world);
  });

test('fetch --deploy plans a commit once, and an approval deploys it at once', () =>
  asking(async (world) => {
    const { root } = world;
    const first = await fetch(world);
    assert.is(first.result, 'approval');
    const id = /p-[0-9a-f]{8}/.exec(first.text)?.[0] ?? '';
    assert.is((await fetch(world)).text, first.text);
    assert.equal(world.kinds().slice(2), ['ApprovalWanted']);
    const status = await run('runner-status', ['shop', '--json'], { root });
    assert.is(JSON.parse(status.stdout).plans[0].id, id);
    assert.match(
      (await run('runner-list', [], { root })).stdout,
      `v2 waits for approval ${id} by root`,
    );
    assert.is((await run('runner-status', ['--check'], { root })).status, 0);
    // What is pushed meanwhile is not what was approved.
    await world.push('v3');
    const began = performance.now();
    const approved = await run('runner-approve', [id], { root });
    assert.is(approved.status, 0, approved.stderr);
    await until(() => world.kinds().includes('DeployStarted', 4), 'it is not deployed');
    const { PLAN_LOG } = process.env;
    const line = `approval to DeployStarted: ${Math.round(performance.now() - began)} ms`;
    if (PLAN_LOG)
      appendFileSync(PLAN_LOG, `${line}, of which approve: ${Math.round(approved.ms)} ms\n`);
    await until(async () => (await world.page()) === 'v2', 'v2 does not answer');
    await until(
      () => world.kinds().filter((kind) => kind === 'DeploySuccess').length === 2,
      'no end',
    );
    const last = world.events().at(-1);
    assert.equal(
      [last?.version, last?.plan, last?.approved_by, last?.user],
      ['v2', id, ['root'], 'fetch'],
    );
    // The commit that was pushed since waits for an approval of its own.
    const next = await fetch(world);
    assert.is(next.result, 'approval', JSON.stringify(next));
    assert.is(next.version, 'v3');
  }));

test('a plan of an earlier version of runner, which knew no accepted schema, still counts', () =>
  asking(async (world) => {
    const first = await fetch(world);
    const path = join(world.root, 'plans', `${/p-[0-9a-f]{8}/.exec(first.text)?.[0]}.json`);
    const { sum: _, text, ...rest } = JSON.parse(readFileSync(path, 'utf8'));
    const held = { text: text.replace(/\s*"accept_schema": ?null,/, ''), ...rest };
    assert.is.not(held.text, text);
    const sum = createHash('sha256').update(JSON.stringify(held)).digest('hex');
    writeFileSync(path, `${JSON.stringify({ sum, ...held })}\n`);
    assert.is((await fetch(world)).text, first.text);
  }));

test('a plan of fetch that something has overtaken is replaced; one that expired is announced once', () =>
  asking(async (world) => {
    const { root } = world;
    const idIn = ({ text }: { text: string }) => /p-[0-9a-f]{8}/.exec(text)?.[0] ?? '';
    const first = idIn(await fetch(world));
    const set = ['set', 'shop', 'COLOUR', '--file', '-'];
    assert.is((await run('runner-env', set, { root, stdin: 'a secret colour' })).status, 0);
    const stale = await run('runner-approve', [first], { root });
    assert.is(stale.status, 1);
    assert.match(stale.stderr, `${first} no longer applies: secret COLOUR was set; run`);
    assert.match(stale.stderr, '(plan_changed)');
    const second = idIn(await fetch(world));
    assert.is.not(second, first);
    const short = await run('runner-plan', ['restart', 'shop', '--for', '1ms', '--json'], { root });
    assert.is(short.status, 0);
    // Another rule ends the plan of fetch.
    const stop = 'require_approval: { shop: { deploy: 1, stop: 1, by: [root] } }\n';
    const config = readFileSync(join(root, 'config.yml'), 'utf8');
    writeFileSync(join(root, 'config.yml'), config.replace(RULE, stop));
    const made = await run('runner-plan', ['stop', 'shop', '--for', '1ms', '--json'], { root });
    await fetch(world);
    await fetch(world);
    const expired = world.events().filter(({ event_type: kind }) => kind === 'PlanExpired');
    assert.equal(
      expired.map(({ plan }) => plan),
      [JSON.parse(made.stdout).id],
    );
    assert.is(await world.page(), 'v1');
  }));

test('a plan that could not be applied expires in silence: no one was asked to approve it', () =>
  inWorld(async (world) => {
    const { root } = world;
    await world.launch('v1');
    await world.push('v2', { deploy: deployFile(world.port, 'build: no-such-program-here\n') });
    const planned = await run('runner-plan', ['deploy', 'shop', '--for', '1ms', '--json'], {
      root,
    });
    assert.is(planned.status, 1);
    await run('runner-fetch', ['--deploy'], { root });
    const { plans } = JSON.parse((await run('runner-plan', ['list', '--json'], { root })).stdout);
    assert.match(JSON.stringify(plans), 'expired at');
    assert.not.ok(world.kinds().includes('PlanExpired'));
  }));

test('an approved plan of fetch that ends before the next deploy window says so, and is asked for again in it', () =>
  asking(async ({ root, kinds }) => {
    const windows = 'deploy_windows: [{ app: shop, allow: "mon 08:00-17:00" }]\n';
    appendFileSync(join(root, 'config.yml'), windows);
    const day = 86_400_000;
    const week = 7 * day;
    // The days of the epoch began with a Thursday.
    const monday = Math.ceil((Date.now() + week) / week) * week - 3 * day;
    const at = (hours: number) =>
      shiftedClock(Math.round((monday + hours * 3_600_000 - Date.now()) / 1_000));
    const fetched = async (hours: number) => {
      const env = at(hours);
      const { stdout } = await run('runner-fetch', ['--deploy', '--json'], { root, env });
      return JSON.parse(stdout.trim());
    };
    const idIn = ({ text }: { text: string }) => /p-[0-9a-f]{8}/.exec(text)?.[0] ?? '';
    const first = idIn(await fetched(16.5));
    const approved = await run('runner-approve', [first], { root, env: at(17.5) });
    assert.is(approved.status, 0, approved.stderr);
    assert.match(
      approved.stdout,
      /; waits until \S+ 08:00, but ends before: runner apply p-\w+ deploys it now\n/,
    );
    assert.is((await fetched(48)).result, 'closed');
    const again = await fetched(7 * 24 + 9);
    assert.match(again.text, /^v2 waits for approval p-/);
    assert.is.not(idIn(again), first);
    assert.is(kinds().filter((kind) => kind === 'ApprovalWanted').length, 2);
  }));

test('a plan whose fetch was killed before it was announced is announced by the next one, once', () =>
  asking(async (world) => {
    const made = `name === 'renameSync' && String(args[1]).includes('/plans/p-')`;
    const killed = await run('runner-fetch', ['--deploy'], {
      root: world.root,
      env: killedAfter(made),
    });
    assert.is(killed.signal, 'SIGKILL', killed.stderr);
    assert.is((await run('runner-fetch', [], { root: world.root })).status, 0);
    const { text } = await fetch(world);
    await fetch(world);
    const wanted = world.events().filter(({ event_type: kind }) => kind === 'ApprovalWanted');
    assert.is(wanted.length, 1);
    assert.match(text, String(wanted[0]?.plan));
  }));

test('a plan by hand that was killed before it was announced is announced by the next fetch, once', () =>
  asking(async (world) => {
    const { root } = world;
    const made = `name === 'renameSync' && String(args[1]).includes('/plans/p-')`;
    const killed = await run('runner-plan', ['deploy', 'shop'], { root, env: killedAfter(made) });
    assert.is(killed.signal, 'SIGKILL', killed.stderr);
    assert.is((await run('runner-fetch', [], { root })).status, 0);
    for (let times = 0; times < 2; times += 1) await fetch(world);
    const { plans } = JSON.parse((await run('runner-plan', ['list', '--json'], { root })).stdout);
    const wanted = world.events().filter(({ event_type: kind }) => kind === 'ApprovalWanted');
    assert.equal(
      wanted.map(({ plan }) => plan),
      plans.map(({ id }: { id: string }) => id),
    );
    const told = await run('runner-plan', ['deploy', 'shop'], { root });
    assert.is(told.status, 0, told.stderr);
    await fetch(world);
    assert.is(world.kinds().filter((kind) => kind === 'ApprovalWanted').length, 2);
  }));

test('an old plan of an app whose state cannot be read does not keep the others from being deployed', () =>
  asking(async (world) => {
    const { root, git } = world;
    const add = ['--repo', 'acme/blog', '--branch', 'main', '--token-from', 'shop'];
    await git.createRepo('acme/blog');
    await git.commit('acme/blog', { '.deploy.yml': '' }, 'b1', { tag: 'b1' });
    assert.is((await run('runner-add', add, { root })).status, 0);
    await run('runner-plan', ['deploy', 'shop', '--for', '1ms'], { root });
    writeFileSync(join(root, 'state/shop.json'), '{"version": 3');
    const done = await run('runner-fetch', ['--deploy'], { root });
    assert.match(done.stdout, /^blog: deployed b1$/m, done.stderr);
    assert.match(
      done.stderr,
      /runner fetch: plan p-\w+ of shop: .* is not JSON \(state_malformed\)/,
    );
  }));

test('an approved rollback waits for what the app is busy with; a refused one is announced', () =>
  inWorld(async (world) => {
    const { root } = world;
    for (const version of ['v1', 'v2']) {
      await world.launch(version);
    }
    appendFileSync(
      join(root, 'config.yml'),
      'require_approval: { shop: { rollback: 1, restart: 1, by: [root] } }\n',
    );
    const planned = async (verb: string) =>
      JSON.parse((await run('runner-plan', [verb, 'shop', '--json'], { root })).stdout).id;
    const restart = await planned('restart');
    await run('runner-approve', [restart, '--no-apply'], { root });
    const id = await planned('rollback');
    const holder = spawn('flock', [join(root, 'locks/shop.lock'), 'sh', '-c', 'echo; read x'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    assert.match((await run('runner-approve', [id], { root })).stdout, 'it is being applied');
    await setTimeout(2_000);
    holder.stdin.end('x\n');
    await until(async () => (await world.page()) === 'v1', 'it is not rolled back');
    await until(() => world.kinds().at(-1) === 'RollbackSuccess', 'no end');
    const refused = await run('runner-apply', [restart, '--announce'], { root });
    assert.match(refused.stderr, '(plan_changed)');
    const { event_type: kind, plan, reason } = world.events().at(-1) ?? {};
    assert.equal(
      [refused.status, kind, plan, reason],
      [
        1,
        'DeployWaiting',
        restart,
        `${restart} is approved, but its restart was refused; runner apply ${restart} says why`,
      ],
    );
  }));

test.run();
