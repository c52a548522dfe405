/** Agents on a real broker: presence, canary and batches, and orders that are repeated, altered or late. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { run } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBroker } from '../../libs/fleet/src/broker/nats.ts';
import { gate, makeWorld, TOKEN, type World } from '../deploys/world.ts';
import { lines, makeStage, type Stage } from './stage.ts';
import { must } from './world.ts';

interface Scene extends Stage {
  world: World;
}
const test = suite<Scene>('rollout');
const SERVERS = ['web1', 'web2', 'web3'];
/** What it deploys: no app of it listens, so that three servers fit on one machine. */
const deployFile = (build = 'true') => `build: "${build}"\n`;

test.before(async (scene) => {
  if (!hasBroker()) return;
  const world = await makeWorld();
  Object.assign(scene, await makeStage(SERVERS, { world }), { world });
  await Promise.all(SERVERS.map((server) => scene.startAgent(server)));
});
test.after(async ({ close, world }) => {
  await close?.();
  await world?.close();
});

const withBroker = whenBroker(test);

withBroker('the same commit is deployed on all, the canary first', async (stage) => {
  const commit = await stage.world.push('v1', { deploy: deployFile() });
  const {
    status,
    lines: all,
    stderr,
  } = await stage.fleet('deploy', 'shop', '--on', 'web', '--max-parallel', '2');
  assert.is(status, 0, stderr);
  const [plan, ...rest] = all;
  assert.equal([plan?.commit, plan?.batches], [commit, [['web1'], ['web2', 'web3']]]);
  assert.equal(
    rest.slice(0, 3).map(({ status: each }) => each),
    ['deployed', 'deployed', 'deployed'],
  );
  assert.equal([rest[3]?.result, rest[3]?.done], ['done', 3]);
  const shown = await stage.fleet('status');
  const servers = shown.lines[0]?.servers as {
    state: string;
    apps: { version: string; behind: boolean }[];
  }[];
  assert.equal(
    servers.map(({ state, apps }) => [state, apps[0]?.version, apps[0]?.behind]),
    SERVERS.map(() => ['up', 'v1', false]),
  );
});

withBroker(
  'agent check lists what is right and what is missing; a second agent is refused',
  async ({ operator, roots, broker }) => {
    const root = roots.web1 as string;
    const good = await run('runner-agent', ['check', '--json'], { root });
    assert.equal(
      [good.status, lines(good.stdout)[0]?.checks],
      [
        0,
        [
          { check: 'files', error: null, message: 'web1' },
          { check: 'signers', error: null, message: operator.signers },
          { check: 'broker', error: null, message: broker.url },
        ],
      ],
    );
    assert.is((await run('runner-agent', ['run'], { root })).status, 75);
    const stranger = temporaryFolder('stranger');
    await run(
      'runner-agent',
      ['init', 'web9', '--broker', broker.url, '--signers', operator.signers],
      { root: stranger },
    );
    assert.match(
      (await run('runner-agent', ['check'], { root: stranger })).stdout,
      /broker_refused/,
    );
    assert.match((await run('runner-agent', ['run'], { root: stranger })).stderr, /broker_refused/);
  },
);

withBroker('a canary that fails: the others are never ordered', async (stage) => {
  await stage.world.push('v2', { deploy: deployFile('exit 3') });
  const { status, lines: all } = await stage.fleet('deploy', 'shop');
  const end = all.at(-1);
  assert.equal(
    [status, end?.result, end?.failed, end?.not_ordered, end?.resumable],
    [1, 'stopped', 1, 2, true],
  );
  const shown = await stage.fleet('results', String(end?.rollout));
  assert.equal(
    shown.lines.map(({ status: each }) => each),
    ['failed', 'not_ordered', 'not_ordered'],
  );
  await stage.world.push('v3', { deploy: deployFile() });
});

withBroker('hold and unhold answer from all; a held server is not deployed', async (stage) => {
  assert.is((await stage.fleet('hold', 'shop', '--on', 'web2', '--reason', 'sale')).status, 0);
  const seen = await stage.operator.fleet(['status', '--on', 'web2']);
  assert.match(seen.stdout, /shop .*paused by alice: sale$/m);
  const { status, lines: all } = await stage.fleet(
    'deploy',
    'shop',
    '--canary',
    '0',
    '--max-parallel',
    '3',
    '--max-failures',
    '1',
  );
  const by = Object.fromEntries(all.slice(1, -1).map((line) => [line.server, line.status]));
  assert.equal([status, by], [1, { web1: 'deployed', web2: 'held', web3: 'deployed' }]);
  assert.is((await stage.fleet('unhold', 'shop')).status, 0);
  const behind = await stage.fleet('deploy', 'shop', '--behind');
  assert.equal(behind.lines[0]?.batches, [['web2']]);
});

withBroker(
  'an offline server is left unchanged, or its order waits and is carried out once',
  async (stage) => {
    await stage.killAgent('web3');
    const commit = await stage.world.push('v4', { deploy: deployFile() });
    const alone = ['--on', 'web3', '--offline', 'wait', '--wait', '1s', '--deadline', '1s'];
    const late = await stage.fleet('deploy', 'shop', '--ref', commit, ...alone);
    assert.equal(
      [late.status, late.lines[0]?.commit, late.lines[0]?.absent],
      [4, commit, ['web3']],
    );
    assert.match((await stage.fleet('deploy', 'shop', ...alone)).stderr, /use --ref with the full/);
    const refused = await stage.fleet('deploy', 'shop');
    assert.equal([refused.status, refused.lines[0]?.error], [1, 'server_offline']);
    assert.match(
      String(refused.lines[0]?.message),
      /^no answer from web3 \(last seen [^)]+ ago\);/,
    );
    const { stdout } = await stage.operator.fleet([
      'unhold',
      'shop',
      '--on',
      'web3',
      '--wait',
      '1s',
    ]);
    assert.match(stdout, /Next steps:\n {2}runner fleet results r-[0-9a-f]{8}\n$/);
    const { status, lines: all } = await stage.fleet(
      'deploy',
      'shop',
      '--offline',
      'wait',
      '--max-parallel',
      '2',
    );
    assert.equal([status, all.at(-1)?.result, all.at(-1)?.no_answer], [4, 'incomplete', 1]);
    await stage.startAgent('web3');
    const rollout = String(all.at(-1)?.rollout);
    await until(
      async () => (await stage.fleet('results', rollout)).status === 0,
      'web3 has not caught up',
    );
    const { lines: listed } = await stage.fleet('rollouts', 'shop');
    const known = listed[0]?.rollouts as { rollout: string; state: string }[];
    assert.is(known.find((each) => each.rollout === rollout)?.state, 'done');
  },
);

withBroker('an agent killed while it deploys finds the end: one deploy', async (stage) => {
  const { build, reached, open } = gate();
  await stage.world.push('v5', { deploy: build });
  const deploying = stage.fleet('deploy', 'shop', '--on', 'web1');
  await reached();
  await stage.killAgent('web1');
  await stage.startAgent('web1');
  open();
  const { status, lines: all } = await deploying;
  assert.equal([status, all[1]?.status], [0, 'deployed']);
  const log = readFileSync(join(stage.roots.web1 as string, 'logs/deploy-events.jsonl'), 'utf8');
  const id = `"deploy_id":"${all[1]?.deploy_id}"`;
  const starts = log
    .split('\n')
    .filter((line) => line.includes('DeployStarted') && line.includes(id));
  assert.is(starts.length, 1);
});

withBroker(
  'a deploy that was killed: resume continues it; what failed is not repeated',
  async (stage) => {
    const { build, reached, open } = gate();
    await stage.world.push('v5b', { deploy: build });
    const deploying = stage.fleet('deploy', 'shop', '--on', 'web1');
    await reached();
    const path = join(stage.roots.web1 as string, 'state/shop.json');
    process.kill(JSON.parse(readFileSync(path, 'utf8')).deploying.pid, 'SIGKILL');
    const { lines: all } = await deploying;
    assert.match(String(all[1]?.message), /^killed during build; /);
    assert.is(all[2]?.resumable, true);
    open();
    const resumed = await stage.fleet('resume', String(all[2]?.rollout));
    assert.equal([resumed.status, resumed.lines[1]?.status], [0, 'deployed'], resumed.stdout);
    await stage.world.push('v5c', { deploy: deployFile('exit 3') });
    const bad = await stage.fleet('deploy', 'shop', '--on', 'web1');
    const again = await stage.fleet('resume', String(bad.lines[2]?.rollout));
    assert.equal(
      [again.status, again.lines[0]?.batches, again.lines[1]?.status],
      [1, [], 'failed'],
    );
  },
);

withBroker('fetch shows new commits and deploys them', async (stage) => {
  await stage.world.push('v6', { deploy: deployFile() });
  const seen = await stage.fleet('fetch');
  assert.equal(seen.lines[0]?.batches, [['web1'], ['web2'], ['web3']]);
  const { status, lines: all } = await stage.fleet('fetch', '--deploy');
  assert.equal([status, all.at(-1)?.done], [0, 3]);
  assert.equal((await stage.fleet('fetch', 'shop')).lines[0]?.batches, []);
});

withBroker('a rollback that is resumed while it goes on goes back once', async (stage) => {
  const slow = `${deployFile()}start: { type: command, run: sleep 2 }\nstop: "true"\n`;
  for (const version of ['v7.1', 'v7.2', 'v7.3']) {
    await stage.world.push(version, { deploy: slow });
    assert.is((await stage.fleet('deploy', 'shop', '--on', 'web1')).status, 0);
  }
  const early = await stage.fleet('rollback', 'shop', '--on', 'web1', '--wait', '1s');
  assert.equal([early.status, early.lines[1]?.status], [4, 'no_answer']);
  const { lines: all } = await stage.fleet('resume', String(early.lines[0]?.rollout));
  assert.equal([all[1]?.status, all[1]?.version], ['rolled_back', 'v7.2']);
  const shown = await stage.operator.fleet(['status', 'shop', '--on', 'web1']);
  assert.match(shown.stdout, / shop v7\.2 /);
});

withBroker(
  'fetch skips a paused server, and everywhere a commit that failed on one; other apps continue',
  async (stage) => {
    const root = stage.roots.web3 as string;
    const add = ['--repo', 'acme/gone', '--branch', 'main', '--token', '-'];
    await must(run('runner-add', add, { root, stdin: TOKEN }));
    await stage.world.push('v6b', { deploy: deployFile() });
    assert.is((await stage.fleet('hold', 'shop', '--on', 'web2')).status, 0);
    const paused = await stage.fleet('fetch', 'shop');
    assert.equal([paused.status, paused.lines[0]?.batches], [0, [['web1'], ['web3']]]);
    assert.match(paused.stderr, /shop: web2: v6b waits: paused by alice/);
    assert.is((await stage.fleet('unhold', 'shop')).status, 0);
    await stage.world.push('v6c', { deploy: deployFile('exit 3') });
    const failed = await stage.fleet('fetch', '--deploy');
    assert.is(failed.status, 1);
    assert.match(failed.stderr, /gone: web3: .*acme\/gone/);
    const again = await stage.fleet('fetch', '--deploy', 'shop');
    assert.equal([again.status, again.lines[0]?.batches], [0, []], again.stdout);
    assert.match(again.stderr, /shop: web1: retry in/);
    await must(run('runner-remove', ['gone', '--yes'], { root }));
    await stage.world.push('v6d', { deploy: deployFile() });
    const good = await stage.fleet('fetch', '--deploy', '--max-parallel', '2', '--deadline', '20m');
    assert.equal([good.status, good.lines.at(-1)?.done], [0, 3], good.stdout + good.stderr);
  },
);

withBroker(
  'a release that is down or whose watch was bad on one server is deployed on no other, by fetch or by hand',
  async (stage) => {
    const bad = 'start: { type: process, run: exec sleep 600 }\n';
    const commit = await stage.world.push('v6e', {
      deploy: `${bad}watch: { for: 5m, run: exit 4, policy: report }\n`,
    });
    const first = await stage.fleet('fetch', '--deploy', 'shop');
    assert.equal([first.status, first.lines[1]?.status], [1, 'failed'], first.stdout);
    const again = await stage.fleet('fetch', '--deploy', 'shop');
    assert.equal([again.status, again.lines[0]?.batches], [0, []], again.stdout);
    assert.match(again.stderr, /shop: web1: up to date, but its watch was bad: `exit 4`/);
    const stopped = async (...more: string[]) => {
      const { status, lines: all } = await stage.fleet('deploy', 'shop', '--ref', commit, ...more);
      assert.equal([status, all[1]?.status, all.at(-1)?.not_ordered], [1, 'failed', 2]);
      return all[1]?.code;
    };
    assert.is(await stopped(), 'watch_bad');
    const shown = async () => (await stage.operator.fleet(['status', '--on', 'web1'])).stdout;
    assert.match(await shown(), /shop v6e its watch was bad$/m);
    assert.is(await stopped('--behind'), 'watch_bad');
    killApp(stage.roots.web1 as string, 'shop');
    assert.is(await stopped(), 'not_running');
    assert.match(await shown(), /shop v6e down, its watch was bad$/m);
    const down = await stage.fleet('fetch', '--deploy', 'shop');
    assert.equal([down.status, down.lines[0]?.batches], [0, []], down.stdout);
    await stage.world.push('v6f', { deploy: `${bad}watch: { for: 10s, run: "true" }\n` });
    const good = await stage.fleet('deploy', 'shop', '--max-parallel', '2');
    const { done, not_judged } = good.lines.at(-1) ?? {};
    assert.equal([good.status, done, not_judged], [0, 3, 3], good.stdout);
  },
);

withBroker('fetch orders a commit that waits for an approval once', async (stage) => {
  const config = join(stage.roots.web2 as string, 'config.yml');
  const before = readFileSync(config, 'utf8');
  appendFileSync(config, 'require_approval: { shop: { deploy: 1, by: [alice] } }\n');
  await stage.world.push('v6g', { deploy: deployFile() });
  const first = await stage.fleet('fetch', '--deploy', 'shop');
  assert.equal(
    [first.status, first.lines[2]?.status, first.lines[2]?.code],
    [1, 'held', 'approval'],
  );
  const again = await stage.fleet('fetch', '--deploy', 'shop');
  assert.equal([again.status, again.lines[0]?.batches], [0, []], again.stdout);
  const waits = /shop: web2: v6g waits for approval p-[0-9a-f]{8} by alice, until /;
  assert.match(again.stderr, waits, JSON.stringify(again.stderr));
  const id = /p-[0-9a-f]{8}/.exec(again.stderr)?.[0] ?? '';
  const shown = await stage.operator.fleet(['status', '--on', 'web2']);
  assert.match(shown.stdout, new RegExp(`behind, deploy of v6g waits for approval ${id} by alice`));
  assert.is((await stage.fleet('approve', 'shop', id, '--on', 'web2')).status, 0);
  writeFileSync(config, before);
  const last = async () => (await stage.fleet('fetch', '--deploy', 'shop')).lines.at(-1);
  await until(async () => (await last())?.batches !== undefined, 'the others do not get it');
});

withBroker('a restriction in agent.yml takes effect without a restart', async (stage) => {
  const file = join(stage.roots.web2 as string, 'agent/agent.yml');
  const before = readFileSync(file, 'utf8');
  appendFileSync(file, 'allow: { alice: { apps: [blog] } }\n');
  const refused = await stage.fleet('hold', 'shop', '--on', 'web2');
  assert.equal([refused.status, refused.lines[1]?.code], [1, 'signer_unknown']);
  writeFileSync(file, before);
  assert.is((await stage.fleet('unhold', 'shop', '--on', 'web2')).status, 0);
});

withBroker('bad input is refused before a server is asked', async ({ operator }) => {
  const deploy = (...args: string[]) => operator.fleet(['deploy', 'shop', ...args]);
  const ended = await Promise.all([
    deploy('--canary', '1.5'),
    deploy('--max-parallel', '0'),
    deploy('--max-failures', 'x'),
    deploy('--deadline', '8d'),
    deploy('--wait', 'soon'),
    deploy('--reason', 'x'.repeat(201)),
  ]);
  for (const { status, stderr } of ended)
    assert.equal([status, /^error: /.test(stderr)], [2, true]);
  for (const args of [
    ['approve', 'shop', 'junk'],
    ['order', 'approve', 'shop'],
  ]) {
    const { status, stderr } = await operator.fleet(args);
    assert.equal([status, /the id of a plan, such as p-1a2b3c4d/.test(stderr)], [2, true], stderr);
  }
  assert.match((await operator.fleet(['resume', ''])).stderr, /there is no rollout '': see/);
  const name = await operator.fleet(['deploy', '../shop']);
  assert.equal([name.status, /name_invalid/.test(name.stderr)], [1, true], name.stderr);
  const unknown = await operator.fleet(['deploy', 'blog', '--plan']);
  assert.match(unknown.stderr, /web1: no app called 'blog' .*\(app_not_found\)/);
});

withBroker('neither a token nor a key is in the store of the broker', async ({ broker, roots }) => {
  const mkey = readFileSync(join(roots.web1 as string, 'mkey'), 'utf8').trim();
  const found = Object.values(tree(broker.store)).filter((text) => {
    const plain = text.startsWith('base64:')
      ? Buffer.from(text.slice(7), 'base64').toString('latin1')
      : text;
    return [TOKEN, mkey].some((secret) => plain.includes(secret));
  });
  assert.equal(found, []);
});

withBroker('a killed broker loses nothing', async (stage) => {
  const { operator, broker } = stage;
  await broker.kill();
  assert.match((await operator.fleet(['status'])).stderr, /broker_unreachable/);
  await stage.startBroker();
  await until(
    async () => (await stage.fleet('status', '--strict')).status === 0,
    'not all are back',
  );
  const { lines: all } = await stage.fleet('rollouts');
  assert.ok(Number(all[0]?.count) >= 4);
  const held = await stage.fleet('hold', 'shop', '--wait', '60s');
  assert.is(held.status, 0, held.stdout);
  assert.is((await stage.fleet('unhold', 'shop', '--wait', '60s')).status, 0);
});

withBroker(
  'the events of all are in the broker, byte by byte, also through a rotation and a broker that lost its tail',
  async (stage) => {
    const { operator, broker, roots, log } = stage;
    const central = async (server: string) =>
      (await operator.fleet(['events', '--raw', '--server', server])).stdout;
    const files = (server: string) =>
      [log(server, 'deploy-events.jsonl.1'), log(server)]
        .map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : ''))
        .join('');
    const isEqual = (server: string) => async () => (await central(server)) === files(server);
    for (const server of SERVERS) await until(isEqual(server), `${server} differs`);
    await broker.kill();
    const older = temporaryFolder('older');
    cpSync(broker.store, older, { recursive: true });
    await stage.startBroker();
    renameSync(log('web1'), log('web1', 'deploy-events.jsonl.1'));
    const emit = ['emit', 'DeployStarted', '--project', 'shop', '--version', 'v9'];
    await must(run('runner-audit', emit, { root: roots.web1 as string }));
    await until(isEqual('web1'), 'web1 differs after the rotation');
    await broker.kill();
    rmSync(broker.store, { recursive: true });
    cpSync(older, broker.store, { recursive: true });
    await stage.startBroker();
    for (const server of SERVERS) await until(isEqual(server), `${server} differs after the loss`);
    const verified = await stage.fleet('verify');
    assert.is(verified.status, 0, verified.stdout);
    const shown = await stage.fleet('events', '--event', 'DeploySuccess', '--server', 'web2');
    assert.equal([...new Set(shown.lines.map(({ server }) => server))], ['web2']);
    const forged = JSON.stringify({ server: 'web2', body: '{"n":9}', sig: 'x' });
    const seed = readFileSync(join(operator.root, 'fleet/operator.nk'), 'utf8').trim();
    const owner = await openBroker({ url: broker.url, ca: undefined, seed, name: 'test' });
    await owner.store('runner.event.web2', forged);
    await owner.close();
    assert.match((await operator.fleet(['verify'])).stdout, /message \d+ is not signed by web2/);
  },
);

withBroker('a broker that lost everything is filled again from the servers', async (stage) => {
  const { operator, broker, roots } = stage;
  await broker.kill();
  rmSync(broker.store, { recursive: true });
  await stage.startBroker();
  const empty = async () => (await operator.fleet(['rollouts'])).stderr;
  assert.match(await empty(), /no streams yet: run runner fleet broker check \(broker_unsafe\)/);
  await must(operator.fleet(['broker', 'check']));
  const newest = readFileSync(join(roots.web2 as string, 'logs/deploy-events.jsonl'), 'utf8');
  const central = async () =>
    (await operator.fleet(['events', '--raw', '--server', 'web2'])).stdout;
  await until(async () => (await central()) === newest, 'web2 differs');
  const held = async () => (await stage.fleet('hold', 'shop', '--wait', '5s')).status === 0;
  await until(held, 'the agents take no orders');
});

test.run();
