import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, type World } from '../../../tests/deploys/world.ts';
import { TOOLS } from '../src/tools.ts';
import { addGrant, commandLines, dataOf, tokensOf, withAgent } from './agent.ts';

const test = suite<{ world: World; etc: string }>('mcp');
const isRoot = process.getuid?.() === 0;

test.before(async (context) => {
  context.world = await makeWorld();
  context.etc = temporaryFolder('etc');
  const { root, port, push, deploy } = context.world;
  await push('v1', { deploy: deployFile(port) });
  assert.is((await deploy(['--no-notify'])).status, 0);
  await push('v2', { deploy: 'build: "echo src/a.ts:1:2 - error TS2322: no; exit 2"\n' });
  assert.is((await deploy(['--no-notify'])).status, 1);
  for (const name of ['api', 'other'])
    await run('runner-add', ['--repo', `acme/${name}`, '--branch', 'main', '--public'], { root });
  if (!isRoot) return;
  for (const level of ['look', 'propose', 'operate'])
    await addGrant({ root, etc: context.etc }, level, level, 'shop', 'api');
});
test.after(async ({ world }) => {
  await world.close();
});

test('the list of tools costs at most 2,000 tokens, and has what the level allows', async ({
  world: { root },
  etc,
}) => {
  for (const [grant, count] of isRoot
    ? ([
        [undefined, 5],
        ['look', 5],
        ['operate', 7],
      ] as const)
    : ([[undefined, 5]] as const)) {
    await withAgent({ root, etc, ...(grant && { grant }) }, async ({ client }) => {
      const { tools } = await client.listTools();
      assert.equal(
        tools.map(({ name }) => name),
        TOOLS.slice(0, count).map(({ name }) => name),
      );
      const tokens = tokensOf(JSON.stringify({ tools, more: client.getInstructions() }));
      assert.ok(tokens <= 2_000, `${tokens} tokens`);
    });
  }
});

test('without a grant an agent looks at all apps, and each call is recorded before it is answered', async ({
  world,
}) => {
  await withAgent(world, async (agent) => {
    const explained = dataOf((await agent.call('explain', { app: 'shop' })).text);
    assert.is(JSON.parse(explained).failure.cause, 'src/a.ts:1:2 - error TS2322: no');
    const { deploy_id } = JSON.parse(explained).failure;
    assert.match(
      dataOf((await agent.call('logs', { app: 'shop', deploy: deploy_id })).text),
      /^> src\/a\.ts/m,
    );
    assert.match(dataOf((await agent.call('status')).text), /"app":"other"/);
    const past = dataOf((await agent.call('history', { app: 'shop' })).text);
    assert.match(past, /"result":"failed".*"trigger":"manual"/);
    assert.match(dataOf((await agent.call('changes', { app: 'shop' })).text), /"subject":"v2"/);
    const refused = await agent.call('plan', { app: 'shop', verb: 'deploy' });
    assert.ok(refused.isError);
    assert.is(dataOf(refused.text), 'usage: there is no tool of this name');
    const calls = world.events().filter(({ event_type }) => event_type === 'AgentCall');
    assert.equal(
      calls.map(({ tool, outcome, project }) => [tool, outcome, project]),
      [
        ['explain', 'done', 'shop'],
        ['logs', 'done', 'shop'],
        ['status', 'done', '-'],
        ['history', 'done', 'shop'],
        ['changes', 'done', 'shop'],
        ['plan', 'usage', '-'],
      ],
    );
  });
  assert.is((await run('runner-audit', ['verify'], { root: world.root })).status, 0);
});

test('apps that are not of the grant do not exist, whatever the arguments are', async ({
  world,
  etc,
}) => {
  if (!isRoot) return;
  await withAgent({ root: world.root, etc, grant: 'look' }, async (agent) => {
    assert.not.match((await agent.call('status')).text, /other/);
    const other = dataOf((await agent.call('status', { app: 'other' })).text);
    const none = dataOf((await agent.call('status', { app: 'nope' })).text);
    assert.is(other.replace('other', 'nope'), none);
    for (const args of [
      { app: '--root=/' },
      { app: 'shop', root: '/' },
      { app: 'shop; id' },
      { app: ['shop'] },
      { app: '../shop' },
    ])
      assert.match(dataOf((await agent.call('status', args)).text), /^usage: these arguments/);
  });
});

test('an answer has at most 8,000 bytes, with the lines around it', async ({ world }) => {
  const log = join(world.root, 'apps/shop/instances/default/run/output.log');
  appendFileSync(log, `first\n${`${'x'.repeat(60)}\n`.repeat(198)}last\n`);
  await withAgent(world, async (agent) => {
    const { text } = await agent.call('logs', { app: 'shop', lines: 200 });
    assert.match(dataOf(text), /^first\n[\s\S]+\nlast$/);
    const bytes = Buffer.byteLength(text);
    assert.ok(bytes > 6_000 && bytes <= 8_000, `${bytes} bytes`);
    // Of more than is kept of them, the last ones are.
    appendFileSync(log, `${`${'y'.repeat(20_000)}\n`.repeat(150)}the last\n`);
    assert.match(
      dataOf((await agent.call('logs', { app: 'shop', lines: 200 })).text),
      /\nthe last$/,
    );
  });
});

test('a refused call names the argument, and what it may be', async ({ world: { root }, etc }) => {
  if (!isRoot) return;
  await withAgent({ root, etc, grant: 'propose' }, async ({ call, client }) => {
    const says = async (tool: string, args: object) =>
      dataOf((await call(tool, args)).text).replace('usage: these arguments are refused: ', '');
    assert.equal(
      [
        await says('status', { application: 'shop' }),
        await says('plan', { app: 'shop', verb: 'destroy' }),
        await says('plan', { app: 'shop' }),
        await says('explain', { app: '../shop' }),
        await says('logs', { app: 'shop', lines: 1.5 }),
        await says('changes', { app: 'shop', to: 'v1' }),
      ],
      [
        "status has no 'application', but app",
        "'verb' must be one of deploy, rollback, restart, start, stop",
        "'verb' is missing",
        "'app' must be a name of letters, digits, ., _ and -, at most 63",
        "'lines' must be a whole number from 1 to 200",
        "'to' needs 'from'",
      ],
    );
    const params = { name: 'status', arguments: 'abc' };
    const raw = await client.request(
      { method: 'tools/call', params } as never,
      CallToolResultSchema,
    );
    const [{ text }] = raw.content as unknown as [{ text: string }];
    assert.is(dataOf(text), 'usage: these arguments are refused: they are not an object');
  });
});

test('a message that cannot be read, or has more than 1 MiB, is answered and recorded, and the session goes on', async ({
  world,
}) => {
  const before = world.events().length;
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const stdin = `no json\n${ping}${' '.repeat(1_500_000)}\n${ping}\n`;
  const { status, stdout, stderr } = await run('runner-mcp', [], { root: world.root, stdin });
  const message = 'a message is not one of the protocol, or longer than 1 MiB';
  const answers = stdout.trim().split('\n');
  assert.equal(
    answers.map((line) => JSON.parse(line)),
    [
      { jsonrpc: '2.0', error: { code: -32600, message } },
      { jsonrpc: '2.0', error: { code: -32600, message } },
      { jsonrpc: '2.0', id: 1, result: {} },
    ],
  );
  assert.equal([status, stderr], [0, `runner mcp: ${message}\n`.repeat(2)]);
  assert.equal(
    world
      .events()
      .slice(before)
      .map(({ event_type, tool, outcome }) => [event_type, tool, outcome]),
    [1, 2].map(() => ['AgentCall', '-', 'usage']),
  );
});

test('what an agent proposes is done after a person approved it; restarts have a rate', async ({
  world,
  etc,
}) => {
  if (!isRoot) return;
  const { root } = world;
  let id = '';
  await withAgent({ root, etc, grant: 'propose' }, async (agent) => {
    const planned = await agent.call('plan', { app: 'shop', verb: 'restart' });
    ({ id } = JSON.parse(dataOf(planned.text)));
    assert.match(dataOf((await agent.call('apply', { plan: id })).text), /^approval_required: /);
    const env = { RUNNER_ETC: etc };
    const approved = await run('runner-approve', [id, '--no-apply'], { root, env });
    assert.is(approved.status, 0, approved.stderr);
    assert.not.ok((await agent.call('apply', { plan: id })).isError);
    assert.match(dataOf((await agent.call('apply', { plan: id })).text), /"result":"shop was re/);
  });
  // Before its effect, and before its answer.
  const applied = world.events().filter(({ tool }) => tool === 'apply');
  assert.equal(
    applied.map(({ outcome, plan }) => [outcome, plan]),
    ['begun', 'approval_required', 'begun', 'done', 'begun', 'done'].map((how) => [how, id]),
  );
  const turns = Array(5).fill(Date.now());
  mkdirSync(join(root, 'spool/agents'), { recursive: true });
  writeFileSync(
    join(root, 'spool/agents/operate.json'),
    JSON.stringify({ shop: turns, api: [...turns, 1], 'shop--pr-7': [1] }),
  );
  await withAgent({ root, etc, grant: 'operate' }, async (operator) => {
    const foreign = await operator.call('apply', { plan: id });
    assert.is(dataOf(foreign.text), `plan_not_found: there is no plan '${id}' of yours`);
    const outcomes: string[] = [];
    for (let turn = 0; turn < 2; turn += 1) {
      const plan = await operator.call('plan', { app: 'shop', verb: 'restart' });
      const done = await operator.call('apply', { plan: JSON.parse(dataOf(plan.text)).id });
      outcomes.push(done.isError ? (dataOf(done.text).split(':')[0] ?? '') : 'done');
    }
    assert.equal(outcomes, ['done', 'rate_limited']);
  });
  const left = JSON.parse(readFileSync(join(root, 'spool/agents/operate.json'), 'utf8'));
  assert.equal([Object.keys(left), left.api], [['shop', 'api'], turns]);
});

test('a session and plans are of the grant that they began with, not of the next of its name', async ({
  world: { root },
  etc,
}) => {
  if (!isRoot) return;
  const env = { RUNNER_ETC: etc };
  await addGrant({ root, etc }, 'changing', 'propose', 'shop');
  let id = '';
  await withAgent({ root, etc, grant: 'changing' }, async (agent) => {
    const planned = await agent.call('plan', { app: 'shop', verb: 'restart' });
    ({ id } = JSON.parse(dataOf(planned.text)));
    await run('runner-approve', [id, '--no-apply'], { root, env });
    // Another level is not another grant.
    await addGrant({ root, etc }, 'changing', 'operate', 'shop');
    assert.not.ok((await agent.call('status', { app: 'shop' })).isError);
    await run('runner-grant', ['remove', 'changing'], { root, env });
    await addGrant({ root, etc }, 'changing', 'operate', 'shop');
    const refused = await agent.call('status', { app: 'shop' });
    assert.is(
      dataOf(refused.text),
      "grant_invalid: the grant 'changing' of this session was removed",
    );
  });
  await withAgent({ root, etc, grant: 'changing' }, async (agent) => {
    const foreign = await agent.call('apply', { plan: id });
    assert.is(dataOf(foreign.text), `plan_not_found: there is no plan '${id}' of yours`);
  });
  const direct = await run('runner-apply', [id], {
    root,
    env: { ...env, RUNNER_GRANT: 'changing' },
  });
  assert.match(direct.stderr, `${id} was not made by the grant changing`);
});

test('a session that is dropped in a call leaves no process, and its rate stays', async ({
  world,
  etc,
}) => {
  for (const drop of ['close', 'SIGKILL', 'SIGTERM', 'SIGHUP'] as const) {
    await withAgent({ root: world.root, etc }, async (agent) => {
      const call = agent.call('changes', { app: 'shop' }).catch(() => undefined);
      if (drop === 'close') await agent.close();
      else process.kill(agent.pid, drop);
      await call;
      const isGone = async () =>
        !commandLines().some((line) => line.includes(`--root ${world.root}`));
      await until(isGone, `a process is left after ${drop}`);
    });
  }
});

test.run();
