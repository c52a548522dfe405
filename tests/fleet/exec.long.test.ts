/** `runner agent exec`: a signed order in, a signed result out, and every reason not to carry it out. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, gate, makeWorld, type World } from '../deploys/world.ts';
import { makeOperator, must, newSshKey, type Operator, resultIn } from './world.ts';

const test = suite<{ world: World; operator: Operator; commit: string }>('agent exec');

test.before(async (context) => {
  context.world = await makeWorld();
  context.operator = await makeOperator();
  await context.operator.enrol('web1', context.world.root, 'web');
  await context.operator.enrol('web2', join(context.operator.root, 'web2'));
  context.commit = await context.world.push('v1');
});
test.after(({ world }) => world.close());

const exec = (world: World, stdin: string) =>
  run('runner-agent', ['exec'], { root: world.root, stdin });

/** What web1 answers: status and code. */
async function judged(world: World, stdin: string) {
  const ended = await exec(world, stdin);
  const { status, code } = resultIn(ended.stdout);
  return [ended.status, status, code];
}

const altered = (sealed: string, change: Record<string, unknown>) => {
  const order = JSON.parse(sealed);
  return JSON.stringify({
    ...order,
    body: JSON.stringify({ ...JSON.parse(order.body), ...change }),
  });
};

test('an order is carried out once, and its signed result is repeated', async ({
  world,
  operator,
  commit,
}) => {
  const order = operator.signed('deploy', 'shop', { ref: commit });
  const first = await exec(world, order);
  const result = resultIn(first.stdout);
  assert.equal(
    [result.status, result.version, result.commit],
    ['deployed', 'v1', commit],
    first.stderr,
  );
  assert.is((await exec(world, order)).stdout, first.stdout);
  const starts = world.events().filter(({ event_type: kind }) => kind === 'DeployStarted');
  assert.equal(
    starts.map(({ trigger, user, deploy_id }) => [trigger, user, deploy_id]),
    [['fleet', 'alice', result.deploy_id]],
  );
  const shown = await operator.fleet(['results', '-', '--json'], { stdin: first.stdout });
  assert.is(JSON.parse(await must(Promise.resolve(shown))).server, 'web1');
  const forged = first.stdout.replace('deployed', 'failed');
  assert.match(
    (await operator.fleet(['results', '-'], { stdin: forged })).stderr,
    /signature_invalid/,
  );
});

test('an altered order, a foreign key and an unknown signer are refused', async ({
  world,
  operator,
  commit,
}) => {
  const order = operator.signed('hold', 'shop');
  const foreign = newSshKey(operator.root, 'foreign');
  const other = operator.signed('hold', 'shop', { key: foreign });
  const mallory = JSON.stringify({ ...JSON.parse(order), by: 'mallory' });
  assert.equal(await judged(world, altered(order, { app: 'blog' })), [
    1,
    'refused',
    'signature_invalid',
  ]);
  const { stdout, stderr } = await exec(world, other);
  const print = execFileSync('ssh-keygen', ['-lf', foreign], { encoding: 'utf8' }).split(' ')[1];
  assert.equal(resultIn(stdout).code, 'signer_unknown');
  for (const said of [stderr, resultIn(stdout).message])
    assert.ok(String(said).includes(`${print}`));
  assert.equal(await judged(world, mallory), [1, 'refused', 'signer_unknown']);
  const elsewhere = operator.signed('deploy', 'shop', { ref: commit, servers: ['web2'] });
  assert.equal(await judged(world, elsewhere), [1, 'refused', 'order_other_server']);
  for (const junk of ['{}', 'x', order.slice(0, 40)])
    assert.match((await exec(world, junk)).stderr, /order_invalid/);
});

test('agent.yml decides the allowed orders of each signer, and the key file must be safe', async ({
  world,
  operator,
}) => {
  const path = join(world.root, 'agent/agent.yml');
  const before = readFileSync(path, 'utf8');
  const order = operator.signed('hold', 'shop');
  appendFileSync(path, 'allow: { alice: { apps: [blog] } }\n');
  assert.equal(await judged(world, order), [1, 'refused', 'signer_unknown']);
  writeFileSync(path, `${before}allow: { alice: { apps: [shop], verbs: [deploy] } }\n`);
  assert.equal(await judged(world, order), [1, 'refused', 'signer_unknown']);
  for (const key of ['apps', 'verbs']) {
    writeFileSync(path, `${before}allow:\n  alice:\n    ${key}:\n    #  - hold\n`);
    assert.equal(await judged(world, order), [1, 'refused', 'signer_unknown'], key);
  }
  writeFileSync(path, before);
  chmodSync(operator.signers, 0o666);
  assert.equal(await judged(world, order), [1, 'failed', 'guard_tripped']);
  chmodSync(operator.signers, 0o644);
});

test('a late order expires, one of the future is a clock error, an older one is superseded', async ({
  world,
  operator,
}) => {
  const signed = (ahead: number) => operator.signed('hold', 'shop', { ahead });
  assert.equal(await judged(world, signed(-2)), [1, 'expired', 'order_expired']);
  assert.equal(await judged(world, signed(2)), [1, 'clock_skew', 'clock_skew']);
  const older = operator.signed('hold', 'shop');
  const newer = operator.signed('unhold', 'shop');
  assert.equal(await judged(world, newer), [0, 'resumed', null]);
  assert.equal(await judged(world, older), [1, 'superseded', 'order_superseded']);
});

test('hold pauses the app, and a paused app is not deployed; rollback is never refused', async ({
  world,
  operator,
}) => {
  const v2 = await world.push('v2');
  const deploy = () => operator.signed('deploy', 'shop', { ref: v2 });
  assert.equal(await judged(world, operator.signed('hold', 'shop')), [0, 'paused', null]);
  const refused = deploy();
  assert.equal(await judged(world, refused), [1, 'held', 'paused']);
  assert.equal(await judged(world, operator.signed('unhold', 'shop')), [0, 'resumed', null]);
  assert.equal(await judged(world, refused), [1, 'held', 'paused'], 'its answer stands');
  assert.equal(await judged(world, await deploy()), [0, 'deployed', null]);
  assert.equal(await judged(world, await deploy()), [0, 'up_to_date', 'up_to_date']);
  const back = operator.signed('rollback', 'shop');
  const first = await exec(world, back);
  // The log alone leads to the order.
  for (const record of world.events().filter(({ trigger }) => trigger === 'fleet'))
    assert.match(String(record.order), /^r-[0-9a-f]{8}$/, String(record.event));
  assert.is(world.events().at(-1)?.order, resultIn(first.stdout).order);
  assert.equal([resultIn(first.stdout).status, await world.page()], ['rolled_back', 'v1']);
  assert.is((await exec(world, back)).stdout, first.stdout);
  assert.equal(await judged(world, await deploy()), [1, 'held', 'held'], 'rolled back from v2');
});

test('an order that cannot be written down is not begun, and is carried out later', async ({
  world,
  operator,
}) => {
  const folder = join(world.root, 'agent/orders');
  const order = operator.signed('hold', 'shop');
  renameSync(folder, `${folder}.kept`);
  symlinkSync('/proc/nowhere', folder);
  const { status, stdout } = await exec(world, order);
  assert.equal([status, resultIn(stdout).status], [1, 'failed'], stdout);
  rmSync(folder);
  renameSync(`${folder}.kept`, folder);
  assert.equal(await judged(world, order), [0, 'paused', null]);
  assert.equal(await judged(world, operator.signed('unhold', 'shop')), [0, 'resumed', null]);
});

test('the result of a deploy that failed names its stage once, and the cause', async ({
  world,
  operator,
}) => {
  const ref = await world.push('v-bad', {
    deploy: 'build: "echo ENOSPC: no space left on device; exit 3"\n',
  });
  const { stdout } = await exec(world, operator.signed('deploy', 'shop', { ref }));
  const { status, message } = resultIn(stdout);
  assert.is(status, 'failed');
  assert.match(String(message), /^build: (?!build: ).*status 3: .*no space left/);
});

test('a watch that is not judged is no failure, and is said', async ({ world, operator }) => {
  const ref = await world.push('v-open', {
    deploy: deployFile(world.port, 'watch: { for: 10s, run: "true" }\n'),
  });
  for (const [status, shown] of [
    ['deployed', 'v1 -> v-open; '],
    ['up_to_date', ''],
  ]) {
    const { stdout } = await exec(world, operator.signed('deploy', 'shop', { ref }));
    const result = resultIn(stdout);
    assert.equal([result.status, result.code], [status, 'not_judged'], stdout);
    assert.match(String(result.message), /^watch: not judged: /);
    const text = await must(operator.fleet(['results', '-'], { stdin: stdout }));
    assert.match(text, new RegExp(`^web1 +${status} +${shown}watch: not judged: `));
  }
});

test('the result of a bad watch says what is active now', async ({ world, operator }) => {
  for (const [version, policy, words, runs] of [
    ['v-back', 'rollback', 'v-open is active again: ', 'v-open'],
    ['v-stays', 'report', 'v-stays stays, but is down: ', 'v-stays'],
  ] as const) {
    const deploy = `start: { type: process, run: exec sleep 3 }\nwatch: { for: 5m, policy: ${policy} }\n`;
    const ref = await world.push(version, { deploy });
    const result = resultIn((await exec(world, operator.signed('deploy', 'shop', { ref }))).stdout);
    assert.match(String(result.message), new RegExp(`^watch: ${words}process of default`));
    const { status, code, rollback_failed: failed } = result;
    assert.equal([status, code, result.runs, failed], ['failed', 'watch_bad', runs, false]);
  }
});

test('the result of a deploy that was killed says where', async ({ world, operator }) => {
  const { build, reached, open } = gate();
  const ref = await world.push('v-killed', { deploy: build });
  const going = exec(world, operator.signed('deploy', 'shop', { ref }));
  await reached();
  process.kill((world.state().deploying as { pid: number }).pid, 'SIGKILL');
  const { status, code, message } = resultIn((await going).stdout);
  assert.equal(
    [status, code, message],
    ['failed', 'interrupted', 'killed during build; the next command of the app cleans up'],
  );
  open();
});

test('an order that waited for another command until after its deadline is not begun', async ({
  world,
  operator,
}) => {
  const { build, reached, open } = gate();
  await world.push('v-first', { deploy: `${deployFile(world.port)}${build}` });
  const going = world.deploy();
  await reached();
  const ref = await world.push('v-late');
  const deadline = new Date(Date.now() + 3_000).toISOString();
  const late = exec(world, operator.signed('deploy', 'shop', { ref, deadline }));
  await pause(4_000);
  open();
  assert.is((await going).status, 0);
  const { status, code } = resultIn((await late).stdout);
  assert.equal([status, code, await world.page()], ['expired', 'order_expired', 'v-first']);
});

test('an empty pipe is not a success', async ({ world, operator }) => {
  const ended = [
    await exec(world, ''),
    ...(await Promise.all(
      [['sign'], ['results', '-']].map((args) => operator.fleet(args, { stdin: '' })),
    )),
  ];
  for (const { status, stderr } of ended)
    assert.ok(status === 1 && /is empty: .* \(order_invalid\)\n$/.test(stderr), stderr);
});

test('order and sign, piped, make an order that exec accepts', async ({ world, operator }) => {
  const stdin = await must(operator.fleet(['order', 'unhold', 'shop', '--on', 'web']));
  const order = await must(operator.fleet(['sign'], { stdin }));
  assert.equal(await judged(world, order), [0, 'resumed', null]);
});

test('a deploy says that its migration breaks the version before; a rollback over it must accept that', async ({
  world,
  operator,
}) => {
  const database = join(world.root, '..', 'shop.db');
  execFileSync('sqlite3', [database, 'create table orders(id int, note text)']);
  const command = "sqlite3 $(echo $DATABASE_URL | cut -c8-) 'alter table orders drop column note'";
  const deploy = deployFile(world.port, `migrate: "${command}"\n`).replace(
    'env: { ',
    `env: { DATABASE_URL: "sqlite:${database}", `,
  );
  const ref = await world.push('v8', { deploy });
  const done = resultIn((await exec(world, operator.signed('deploy', 'shop', { ref }))).stdout);
  assert.is(done.status, 'deployed', String(done.message));
  assert.match(String(done.message), /does not work with it: removes column orders\.note/);
  const refused = operator.signed('rollback', 'shop');
  assert.equal(await judged(world, refused), [1, 'failed', 'schema_changed']);
  const version = String(done.previous_version);
  const order = await must(
    operator.fleet(['order', 'rollback', 'shop', '--on', 'web1', '--accept-schema', version]),
  );
  const sealed = await must(operator.fleet(['sign'], { stdin: order }));
  // The plan that is to be approved accepts it, too.
  const config = join(world.root, 'config.yml');
  const before = readFileSync(config, 'utf8');
  appendFileSync(config, 'require_approval: { shop: { rollback: 1, by: [alice] } }\n');
  const { status, message } = resultIn((await exec(world, sealed)).stdout);
  assert.is(status, 'held');
  const plan = /p-[0-9a-f]{8}/.exec(String(message))?.[0] ?? '';
  const approval = operator.signed('approve', 'shop', { ref: plan });
  assert.equal(await judged(world, approval), [0, 'approved', null]);
  await until(() => world.kinds().at(-1) === 'RollbackSuccess', 'no rollback');
  assert.is(world.events().at(-1)?.version, version);
  writeFileSync(config, before);
});

test.run();
