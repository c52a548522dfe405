/** Rollouts of real deploys on five servers: canary, resume, cancel, rollback, pipes, and what a broker could do to them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { type Ended, run, start } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBroker } from '../../libs/fleet/src/broker/nats.ts';
import { gate, makeWorld, TOKEN, type World } from '../deploys/world.ts';
import { openWay, type Way } from './cut.ts';
import { makeStage, type Stage } from './stage.ts';
import { must } from './world.ts';

interface Scene extends Stage {
  world: World;
  way: Way;
}
const test = suite<Scene>('orders');
const SERVERS = ['web1', 'web2', 'web3', 'web4', 'web5'];
const ALL = ['--canary', '1', '--max-parallel', '2'];
const SECRET = 'env-secret-0123456789abcdef';

test.before(async (scene) => {
  if (!hasBroker()) return;
  const world = await makeWorld();
  const ways: Way[] = [];
  const agentUrl = async (url: string) => {
    ways.push(await openWay(url));
    return (ways[0] as Way).url;
  };
  const stage = await makeStage(SERVERS, { world, agentUrl });
  Object.assign(scene, stage, { world, way: ways[0] });
  const root = stage.roots.web1 as string;
  await must(run('runner-env', ['set', 'shop', 'API_KEY', '--file', '-'], { root, stdin: SECRET }));
  await Promise.all(SERVERS.map((server) => stage.startAgent(server)));
});
test.after(async ({ close, world }) => {
  await close?.();
  await world?.close();
});

/** The id of each deploy of a version that began, by server. */
function begun({ log }: Stage, version: string): Record<string, unknown[]> {
  const of = (server: string) => {
    const text = readFileSync(log(server), 'utf8').split('\n').filter(Boolean);
    return text
      .map((line) => JSON.parse(line))
      .filter((record) => record.event_type === 'DeployStarted' && record.version === version)
      .map(({ deploy_id: id }) => id);
  };
  return Object.fromEntries(SERVERS.map((server) => [server, of(server)]));
}
const counts = (ids: Record<string, unknown[]>) => Object.values(ids).map((each) => each.length);
const words = (ended: { lines: Record<string, unknown>[] }) =>
  ended.lines.slice(1, -1).map(({ server, status }) => `${server} ${status}`);
const deploys = ({ operator }: Stage, ...args: string[]) =>
  start('runner-fleet', ['deploy', 'shop', ...ALL, ...args, '--json'], { root: operator.root });
const end = (ended: Ended) => JSON.parse(ended.stdout.trim().split('\n').at(-1) as string);
const quick = (build = 'true') => ({ deploy: `build: "${build}"\n` });

const withBroker = whenBroker(test);

withBroker('a canary that fails: the four others are never ordered', async (scene) => {
  await scene.world.push('v1', quick());
  const first = await scene.fleet('deploy', 'shop', ...ALL);
  assert.equal([first.status, first.lines.at(-1)?.done], [0, 5], first.stderr);
  assert.equal(first.lines[0]?.batches, [['web1'], ['web2', 'web3'], ['web4', 'web5']]);
  await scene.world.push('v2', quick('exit 3'));
  const second = await scene.fleet('deploy', 'shop', ...ALL);
  assert.equal([second.status, second.lines.at(-1)?.result], [1, 'stopped']);
  assert.equal([second.lines.at(-1)?.failed, second.lines.at(-1)?.not_ordered], [1, 4]);
  assert.equal(counts(begun(scene, 'v2')), [1, 0, 0, 0, 0]);
});

withBroker(
  'a killed command starts no further batch; resume continues, once per server',
  async (scene) => {
    const { build, reached, open } = gate();
    await scene.world.push('v3', { deploy: build });
    const controller = deploys(scene);
    await reached();
    const shown = await run('runner-agent', ['status', '--json'], {
      root: scene.roots.web1 as string,
    });
    const { pid, orders } = JSON.parse(shown.stdout);
    assert.equal([typeof pid, orders[0].verb, orders[0].status], ['number', 'deploy', null]);
    const rollout = orders[0].order as string;
    const other = await scene.fleet('deploy', 'shop');
    assert.equal([other.status, other.lines.at(-1)?.error], [75, 'rollout_running']);
    process.kill(controller.pid, 'SIGKILL');
    await controller.done;
    open();
    let resumed = await scene.fleet('resume', rollout);
    assert.is(resumed.status, 75, 'its claim is kept for a while');
    await until(async () => {
      resumed = await scene.fleet('resume', rollout);
      return resumed.status !== 75;
    }, 'the claim of a dead command does not end');
    assert.equal(
      [resumed.status, resumed.lines[0]?.batches],
      [
        0,
        [
          ['web2', 'web3'],
          ['web4', 'web5'],
        ],
      ],
      resumed.stderr,
    );
    assert.equal(counts(begun(scene, 'v3')), [1, 1, 1, 1, 1]);
    assert.match((await scene.fleet('resume', rollout)).stderr, /is not the newest/);
    const newest = String(resumed.lines[0]?.rollout);
    assert.equal((await scene.fleet('resume', newest)).lines[0]?.batches, []);
  },
);

withBroker('cancel and Ctrl-C let running deploys finish and order nothing more', async (scene) => {
  for (const how of ['cancel', 'SIGINT']) {
    const { build, reached, open } = gate();
    await scene.world.push(`v4-${how}`, { deploy: build });
    const controller = deploys(scene);
    await reached();
    const list = (await scene.fleet('rollouts', 'shop')).lines[0]?.rollouts as {
      rollout: string;
      state: string;
    }[];
    const { rollout, state } = list.at(-1) as { rollout: string; state: string };
    assert.is(state, 'running');
    if (how === 'cancel') {
      assert.is((await scene.fleet('cancel', rollout)).status, 0);
      assert.match((await scene.fleet('cancel', rollout)).stderr, /rollout_not_found/);
      const older = String(list[0]?.rollout);
      assert.match((await scene.fleet('cancel', older)).stderr, /is not running/);
    } else process.kill(controller.pid, 'SIGINT');
    open();
    const ended = await controller.done;
    const wanted = how === 'cancel' ? [1, 'cancelled', 4] : [130, 'interrupted', 4];
    assert.equal([ended.status, end(ended).result, end(ended).not_ordered], wanted, ended.stderr);
    const answered = async () =>
      (await scene.fleet('results', rollout)).lines[0]?.status === 'deployed';
    await until(answered, 'what runs does not end');
    assert.equal(counts(begun(scene, `v4-${how}`)), [1, 0, 0, 0, 0]);
  }
});

withBroker('rollback on all, to the version before or a named one', async (scene) => {
  await scene.world.push('v5', quick());
  assert.is((await scene.fleet('deploy', 'shop', ...ALL)).status, 0);
  const back = await scene.fleet('rollback', 'shop', ...ALL, '--on', 'web2,web3');
  assert.equal(words(back), ['web2 rolled_back', 'web3 rolled_back'], back.stderr);
  const named = await scene.fleet('rollback', 'shop', ...ALL, '--on', 'web4', '--to', 'v3');
  assert.equal(words(named), ['web4 rolled_back']);
  const status = (await scene.fleet('status', 'shop')).lines[0];
  const rows = status?.servers as { apps: { version: string }[]; state: string }[];
  assert.equal(
    rows.map(({ apps }) => apps[0]?.version),
    ['v5', 'v3', 'v3', 'v3', 'v5'],
  );
});

withBroker('order, sign and send in a pipe equal a deploy of one batch', async (scene) => {
  const { operator } = scene;
  const pipe = async (...args: string[]) => {
    const order = await must(operator.fleet(['order', ...args]));
    return must(operator.fleet(['sign'], { stdin: order }));
  };
  const ref = await scene.world.push('v6', quick());
  const held = await pipe('hold', 'shop', '--on', 'web5', '--reason', 'freeze');
  assert.is((await operator.fleet(['send', '--wait', '60s'], { stdin: held })).status, 0);
  const sealed = await pipe('deploy', 'shop', '--ref', ref);
  const sent = await operator.fleet(['send', '--wait', '60s', '--json'], { stdin: sealed });
  const by = Object.fromEntries(
    sent.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ server, status }) => [server, status]),
  );
  // web2, web3 and web4 rolled back v5, which puts v5 on hold, not v6.
  assert.equal(
    [sent.status, by],
    [1, { web1: 'deployed', web2: 'deployed', web3: 'deployed', web4: 'deployed', web5: 'held' }],
  );
  const unheld = await pipe('unhold', 'shop', '--on', 'web5');
  assert.is((await operator.fleet(['send', '--wait', '60s'], { stdin: unheld })).status, 0);
  assert.is((await operator.fleet(['send'], { stdin: '{}' })).status, 1);
});

withBroker(
  'a hostile broker: orders repeated, altered, of others: no further deploy',
  async (scene) => {
    const { operator, broker } = scene;
    const seed = readFileSync(join(operator.root, 'fleet/operator.nk'), 'utf8').trim();
    const owner = await openBroker({ url: broker.url, ca: undefined, seed, name: 'hostile' });
    const before = SERVERS.map((server) => readFileSync(scene.log(server), 'utf8'));
    const old: string[] = [];
    for await (const { text } of owner.all('ORDERS', 'runner.order.*')) old.push(text);
    const deploy = old.filter((text) => text.includes('deploy')).at(-1) as string;
    const { body, ...rest } = JSON.parse(deploy);
    const altered = (change: Record<string, unknown>) =>
      JSON.stringify({ ...rest, body: JSON.stringify({ ...JSON.parse(body), ...change }) });
    const lies = [
      ...old,
      altered({ id: 'r-00000001' }),
      altered({ deadline: '2036-01-01T00:00:00.000Z' }),
      altered({ servers: ['web1'], verb: 'rollback', ref: '' }),
      'junk',
      '{}',
      JSON.stringify({ ...JSON.parse(deploy), by: 'mallory' }),
    ];
    for (const server of SERVERS)
      for (const lie of lies) await owner.store(`runner.order.${server}`, lie);
    await owner.close();
    // What comes after them in the mailbox is answered after them.
    const held = async () => (await scene.fleet('hold', 'shop', '--wait', '60s')).status === 0;
    await until(held, 'not all answer');
    // A hold does not wait for deploys: this one does.
    const late = { ref: '4f2a91c0'.repeat(5), servers: SERVERS, ahead: -2 };
    const stdin = scene.operator.signed('deploy', 'shop', late);
    const sent = await scene.operator.fleet(['send', '--wait', '170s'], { stdin });
    assert.is(sent.stdout.match(/ expired /g)?.length, 5, sent.stdout);
    assert.is((await scene.fleet('unhold', 'shop', '--wait', '60s')).status, 0);
    const after = SERVERS.map((server) => readFileSync(scene.log(server), 'utf8'));
    assert.equal(after, before);
  },
);

withBroker('a server that was away is behind, and is not deployed late', async (scene) => {
  await scene.killAgent('web5');
  await scene.world.push('v7', quick());
  const args = ['--offline', 'wait', '--deadline', '30s', '--wait', '120s', '--canary', '0'];
  const missed = await scene.fleet('deploy', 'shop', ...args, '--max-parallel', '5');
  assert.equal([missed.status, missed.lines.at(-1)?.no_answer], [4, 1], missed.stdout);
  const row = async () => {
    const { servers } = (await scene.fleet('status', 'shop', '--on', 'web5')).lines[0] as {
      servers: { state: string; apps: { version: string; behind: boolean }[] }[];
    };
    return [servers[0]?.state, servers[0]?.apps[0]?.behind];
  };
  assert.equal(await row(), ['offline', true]);
  await new Promise((resolve) => setTimeout(resolve, 31_000));
  await scene.startAgent('web5');
  const rollout = String(missed.lines.at(-1)?.rollout);
  const status = async () =>
    (await scene.fleet('results', rollout)).lines.find(({ server }) => server === 'web5')?.status;
  await until(async () => (await status()) === 'expired', 'the late order is not refused');
  assert.equal(await row(), ['up', true]);
  assert.is(begun(scene, 'v7').web5?.length, 0);
  const caught = await scene.fleet('deploy', 'shop', '--behind');
  assert.equal([caught.status, caught.lines[0]?.batches], [0, [['web5']]], caught.stdout);
});

withBroker('stats, report and announcements of all servers', async (scene) => {
  const texts = await Promise.all(
    SERVERS.map(async (server) => readFileSync(scene.log(server), 'utf8')),
  );
  const wanted = texts
    .join('')
    .split('\n')
    .filter((line) => line.includes('DeploySuccess')).length;
  const all = () => scene.operator.fleet(['events', '--json']);
  const successes = (text: string) => text.split('"event_type":"DeploySuccess"').length - 1;
  await until(async () => successes((await all()).stdout) === wanted, 'events are missing');
  const central = (await all()).stdout;
  const root = join(temporaryFolder('central'), 'root');
  mkdirSync(join(root, 'logs'), { recursive: true });
  writeFileSync(join(root, 'logs/deploy-events.jsonl'), central);
  const deploysOf = async (folder: string) =>
    JSON.parse(await must(run('runner-stats', ['--json'], { root: folder }))).deploys as number;
  const each = await Promise.all(Object.values(scene.roots).map(deploysOf));
  assert.is(
    await deploysOf(root),
    each.reduce((sum, one) => sum + one, 0),
  );
  const page = await must(run('runner-report', ['--html', '-', '--offline'], { root }));
  assert.match(page, /shop/);
  const sent = await run('runner-notify', ['send', '--dry-run', '--channel', 'discord'], {
    root,
    stdin: central,
  });
  assert.is(sent.status, 0, sent.stderr);
  assert.match(sent.stdout, /v7/);
});

withBroker(
  'no token, key or secret is in the store, in the traffic or in what commands print',
  async (scene) => {
    const root = scene.roots.web1 as string;
    const read = (file: string) => readFileSync(join(root, file), 'utf8').trim();
    const secrets = [
      TOKEN,
      SECRET,
      read('mkey'),
      read('agent/login.nk'),
      read('agent/sign.key').split('\n')[1] as string,
    ];
    const decoded = Object.values(tree(dirname(scene.broker.store))).map((text) =>
      text.startsWith('base64:') ? Buffer.from(text.slice(7), 'base64').toString('latin1') : text,
    );
    const traffic = Buffer.concat(scene.way.traffic).toString('latin1');
    assert.match(traffic, /runner\.result\.web1/);
    const printed = (await scene.fleet('status')).stdout + (await scene.fleet('rollouts')).stdout;
    const places = [...decoded, traffic, printed];
    assert.equal(
      secrets.filter((secret) => places.some((text) => text.includes(secret))),
      [],
    );
  },
);

withBroker(
  'a canary whose watch finds it bad: the four others are never ordered',
  async (scene) => {
    const start = 'start: { type: process, run: exec sleep 6 }';
    await scene.world.push('v90', { deploy: `${start}\nwatch: 1m\n` });
    const ended = await scene.fleet('deploy', 'shop', ...ALL);
    assert.equal([ended.status, ended.lines.at(-1)?.result], [1, 'stopped'], ended.stderr);
    assert.equal(counts(begun(scene, 'v90')), [1, 0, 0, 0, 0]);
    const [, canary] = ended.lines;
    assert.equal([canary?.server, canary?.status], ['web1', 'failed']);
    assert.match(
      String(canary?.message),
      /^watch: v\d+ is active again(, but is down)?: process of default: it has ended/,
    );
  },
);

test.run();
