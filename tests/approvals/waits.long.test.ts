import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld, TOKEN } from '../deploys/world.ts';

const test = suite('what waits');

test('an approved plan waits for who is to apply it, and what was overtaken is shown as such', () =>
  inWorld(async ({ root, push, deploy, page }) => {
    const runner = async (tool: string, ...args: string[]) => {
      const { stdout, stderr } = await run(`runner-${tool}`, args, { root });
      return `${stdout}${stderr}`;
    };
    const idIn = (text: string) => /p-[0-9a-f]{8}/.exec(text)?.[0] ?? '';
    const status = async () => JSON.parse(await runner('status', 'shop', '--json'));
    const typed = async () => JSON.parse(await runner('why', 'shop', '--json')).commands;
    await push('v1');
    assert.is((await deploy()).status, 0);
    appendFileSync(
      join(root, 'config.yml'),
      'require_approval: { shop: { deploy: 1, by: [root] } }\n',
    );
    await push('v2');
    const fetched = idIn(await runner('fetch', '--deploy'));
    assert.match(await runner('approve', fetched, '--no-apply'), `runner apply ${fetched}`);
    assert.match(await runner('fetch', '--deploy'), `v2 is approved: runner apply ${fetched}`);
    assert.is(await page(), 'v1');
    await push('v3');
    const own = idIn(await runner('plan', 'deploy', 'shop', '--json'));
    await runner('approve', own, '--no-apply');
    assert.match(await runner('fetch', '--deploy'), `v3 is approved: runner apply ${own}`);
    assert.is((await status()).next, `v3 is approved: runner apply ${own}`);
    await runner('apply', own);
    assert.is(await page(), 'v3');
    const plans = await runner('plan', 'list');
    assert.match(plans, new RegExp(`${fetched} .*outdated: active version of default was v1 `));
    const after = await status();
    assert.equal(after.plans, []);
    assert.is(after.next, 'the next push to main');
    // What is to be typed is what is not refused.
    await push('v4', { deploy: 'build: "exit 2"\n' });
    const bad = idIn(await runner('plan', 'deploy', 'shop', '--json'));
    await runner('approve', bad, '--no-apply');
    await runner('apply', bad);
    assert.is((await typed()).at(-1), 'runner plan deploy shop');
    const again = idIn(await runner('plan', 'deploy', 'shop', '--json'));
    assert.is((await typed()).at(-1), `runner approve ${again}`);
  }));

test('a plan with a problem says so wherever it waits, and cannot be approved', () =>
  inWorld(async ({ root, push, deploy }) => {
    const runner = (tool: string, ...args: string[]) => run(`runner-${tool}`, args, { root });
    await push('v1');
    assert.is((await deploy()).status, 0);
    appendFileSync(
      join(root, 'config.yml'),
      'require_approval: { shop: { deploy: 1, by: [root] } }\n',
    );
    await push('v2', { deploy: 'build: {run: "true", env: [NOPE]}\n' });
    const says =
      /v2 waits: (p-[0-9a-f]{8}) cannot be applied, it has a problem: .*NOPE.*; then run runner plan deploy shop/;
    const [, id = ''] = says.exec((await runner('fetch', '--deploy')).stdout) ?? [];
    assert.is.not(id, '');
    assert.match(JSON.parse((await runner('status', 'shop', '--json')).stdout).next, says);
    assert.match((await runner('fetch', '--deploy')).stdout, id);
    const approved = await runner('approve', id);
    assert.is(approved.status, 1);
    assert.is(approved.stdout, '');
    assert.match(approved.stderr, /cannot be applied, it has a problem: .* \(approval_refused\)/);
    const applied = await runner('apply', id);
    assert.is(applied.status, 1);
    assert.match(applied.stderr, /cannot be applied, it has a problem: .* \(plan_changed\)/);
    const wanted = await runner('audit', 'list', '--event', 'ApprovalWanted', '--json');
    assert.match(wanted.stdout, 'it has a problem');
    assert.is(wanted.stdout.trim().split('\n').length, 1);
  }));

test('a plan of a paused app cannot be approved, and what takes a plan back is what works', () =>
  inWorld(async ({ root, push, deploy, events, git }) => {
    const runner = async (tool: string, ...args: string[]) => {
      const { status, stdout, stderr } = await run(`runner-${tool}`, args, { root });
      return `${stdout}${stderr}${status}`;
    };
    const idIn = (text: string) => /p-[0-9a-f]{8}/.exec(text)?.[0] ?? '';
    for (const version of ['v1', 'v2']) {
      await push(version);
      assert.is((await deploy()).status, 0);
    }
    appendFileSync(
      join(root, 'config.yml'),
      'require_approval: { shop: { deploy: 1, by: [root] } }\n',
    );
    assert.match(await runner('plan', 'deploy', 'shop'), /undo: +none: each instance has/);
    await runner('stop', 'shop');
    const restart = await runner('plan', 'restart', 'shop');
    assert.match(restart, /default: +stopped -> v2\n/);
    assert.match(restart, /gap: +none: it is stopped, and this starts it\n/);
    assert.match(restart, /undo: +runner stop shop\n/);
    await runner('start', 'shop');
    assert.match(await runner('plan', 'start', 'shop'), /gap: +none: what runs is left as it is\n/);
    await push('v3');
    await runner('pause', 'shop');
    const paused = await runner('plan', 'deploy', 'shop');
    assert.match(paused, /problem: +shop is paused by root: runner resume shop first\n[\s\S]*1$/);
    assert.match(
      await runner('approve', idIn(paused)),
      /has a problem: .*runner resume shop first/,
    );
    await runner('resume', 'shop');
    // One that is outdated is not one to approve.
    const old = idIn(await runner('plan', 'deploy', 'shop'));
    await run('runner-env', ['set', 'shop', 'A', '--file', '-'], { root, stdin: 'x1y2z3' });
    assert.match(
      await runner('apply', old),
      `${old} no longer applies: secret A was set; run runner plan deploy shop (plan_changed)`,
    );
    // What does not come to its commit is a failure of its plan, which can be applied later.
    const ready = idIn(await runner('plan', 'deploy', 'shop'));
    await runner('approve', ready, '--no-apply');
    git.revoke(TOKEN);
    await runner('apply', ready);
    const failure = events().findLast(({ event_type: kind }) => kind === 'DeployFailure');
    assert.equal(
      [failure?.version, failure?.plan, failure?.approved_by, failure?.stage],
      ['v3', ready, ['root'], 'fetch'],
    );
    assert.match(await runner('plan', 'list'), `ready: runner apply ${ready}`);
  }));

test('restarts, removals and boots need the approvals of restart, stop and start', () =>
  inWorld(async ({ root, push, deploy, page }) => {
    const runner = (tool: string, ...args: string[]) =>
      run(`runner-${tool}`, args, { root, stdin: 'a-new-value-1\n' });
    await push('v1');
    assert.is((await deploy()).status, 0);
    appendFileSync(
      join(root, 'config.yml'),
      'require_approval: { shop: { restart: 1, start: 1, stop: 1, by: [root] } }\n',
    );
    const set = await runner('env', 'set', 'shop', 'KEY', '--file', '-', '--restart');
    assert.is(set.status, 1);
    assert.match(set.stderr, 'nothing was set: leave out --restart, then run runner plan restart');
    assert.match((await runner('env', 'list', 'shop', '--json')).stdout, '"secrets":[]');
    const removed = await runner('remove', 'shop', '--yes');
    assert.is(removed.status, 1);
    assert.match(
      removed.stderr,
      "'shop' runs, and its stop needs an approval: run runner plan stop",
    );
    const record = join(root, 'apps/shop/instances/default/run/pid.json');
    const { pid } = JSON.parse(readFileSync(record, 'utf8'));
    process.kill(pid, 'SIGKILL');
    const crashed = await runner('start', '--boot');
    assert.match(crashed.stderr, "start of 'shop' needs an approval");
    assert.is(await page(), null);
    // As after a reboot: nothing was started in this boot.
    rmSync(record);
    rmSync(join(root, 'locks/boot'));
    assert.is((await runner('start', '--boot')).status, 0);
    assert.is(await page(), 'v1');
    process.kill(JSON.parse(readFileSync(record, 'utf8')).pid, 'SIGKILL');
    rmSync(record);
    const second = await runner('start', '--boot');
    assert.match(second.stderr, "start of 'shop' needs an approval");
    assert.is((await runner('stop', 'shop', '--emergency', 'end')).status, 0);
    assert.is((await runner('remove', 'shop', '--yes')).status, 0);
  }));

test('a plan whose command could not begin can be applied again', () =>
  inWorld(async ({ root, push, deploy }) => {
    const runner = async (tool: string, ...args: string[]) => {
      const { stdout, stderr } = await run(`runner-${tool}`, args, { root });
      return `${stdout}${stderr}`;
    };
    for (const version of ['v1', 'v2']) {
      await push(version);
      assert.is((await deploy()).status, 0);
    }
    appendFileSync(
      join(root, 'config.yml'),
      'require_approval: { shop: { rollback: 1, restart: 1, by: [root] } }\n',
    );
    for (const [verb, done] of [
      ['restart', /^Restarted shop v2/],
      ['rollback', /^Rolled back shop from v2 to v1/],
    ] as const) {
      const [id = ''] = /p-[0-9a-f]{8}/.exec(await runner('plan', verb, 'shop', '--json')) ?? [];
      await runner('approve', id, '--no-apply');
      const lock = join(root, 'locks/registry.lock');
      const holder = spawn('flock', ['-x', lock, 'sh', '-c', 'echo held; read x']);
      await once(holder.stdout, 'data');
      assert.match(await runner('apply', id), /the registry is busy.* \(locked\)/);
      holder.stdin.end();
      await once(holder, 'exit');
      assert.match(await runner('apply', id), done);
    }
  }));

test.run();
