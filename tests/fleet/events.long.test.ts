/** The events of all servers in one place: exactly once, in order, byte by byte, whatever happens between. */
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBroker } from '../../libs/fleet/src/broker/nats.ts';
import { subjects } from '../../libs/fleet/src/broker/subjects.ts';
import { openWay, type Way } from './cut.ts';
import { lines, makeStage, type Stage } from './stage.ts';
import { makeOperator, must } from './world.ts';

interface Scene extends Stage {
  way: Way;
}
const test = suite<Scene>('events');
const SERVERS = ['web1', 'web2', 'web3'];
/** Of all faults together. */
const ROUNDS = Number(process.env.FLEET_ROUNDS ?? 3);

test.before(async (scene) => {
  if (!hasBroker()) return;
  const ways: Way[] = [];
  const agentUrl = async (url: string) => {
    ways.push(await openWay(url));
    return (ways[0] as Way).url;
  };
  Object.assign(scene, await makeStage(SERVERS, { agentUrl }), { way: ways[0] });
  for (const server of SERVERS) mkdirSync(dirname(scene.log(server)), { recursive: true });
  for (const server of SERVERS) write(scene, server, 5);
  await Promise.all(SERVERS.map((server) => scene.startAgent(server)));
});
test.after(async ({ close }) => close?.());

let number = 0;

/** Appends records, and a text that is not one. */
function write({ log }: Stage, server: string, count: number): void {
  let text = '';
  for (let left = count; left > 0; left -= 1) {
    number += 1;
    const timestamp = new Date(1_700_000_000_000 + number * 1_000).toISOString();
    const record = {
      timestamp,
      event_type: 'DeployStarted',
      project: 'shop',
      version: `v${number}`,
    };
    text += `${JSON.stringify({ ...record, note: '\u00e4 "quoted" \u{1f680}' })}\n`;
  }
  appendFileSync(log(server), text);
}

/** All files of the log, oldest first. */
function written({ log }: Stage, server: string): string {
  const folder = dirname(log(server));
  const age = (name: string) =>
    Number(/\.(\d+)/.exec(name.replace('deploy-events.jsonl', ''))?.[1] ?? 0);
  return readdirSync(folder)
    .sort((a, b) => age(b) - age(a))
    .map((name) => {
      const bytes = readFileSync(log(server, name));
      return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    })
    .join('');
}

/** As logrotate does: each file one further, the older ones compressed. */
function rotate({ log }: Stage, server: string): void {
  const name = (n: number, end = '') => log(server, `deploy-events.jsonl.${n}${end}`);
  for (let n = 20; n > 0; n -= 1) {
    if (existsSync(name(n, '.gz'))) renameSync(name(n, '.gz'), name(n + 1, '.gz'));
    if (!existsSync(name(n))) continue;
    writeFileSync(log(server, 'new'), gzipSync(readFileSync(name(n))));
    renameSync(log(server, 'new'), name(n + 1, '.gz'));
    rmSync(name(n));
  }
  if (existsSync(log(server))) renameSync(log(server), name(1));
}

const central = async ({ operator }: Stage, server: string) =>
  (await operator.fleet(['events', '--raw', '--server', server])).stdout;

async function allAreEqual(scene: Stage, what: string): Promise<void> {
  for (const server of SERVERS)
    await until(
      async () => (await central(scene, server)) === written(scene, server),
      `${server} differs after ${what}`,
    );
}

const withBroker = whenBroker(test);

withBroker('agent ship prints the log, without a broker', async (scene) => {
  const shipped = await run('runner-agent', ['ship'], { root: scene.roots.web1 as string });
  const read = await scene.operator.fleet(['events', '--stdin', '--raw'], {
    stdin: shipped.stdout,
  });
  assert.equal([read.status, read.stdout], [0, written(scene, 'web1')], read.stderr);
  const forged = shipped.stdout.replace('"server":"web1"', '"server":"web2"');
  const refused = await scene.operator.fleet(['events', '--stdin', '--raw'], { stdin: forged });
  assert.equal([refused.status, refused.stdout], [1, '']);
});

test('events that the output did not take are printed again with the same cursor', async () => {
  const { fleet, enrol } = await makeOperator();
  const root = temporaryFolder('web1');
  await enrol('web1', root);
  const emit = ['emit', 'DeployStarted', '--project', 'shop', '--version', 'v1'];
  await must(run('runner-audit', emit, { root }));
  const stdin = await must(run('runner-agent', ['ship'], { root }));
  const events = ['events', '--stdin', '--json', '--cursor', join(root, 'cursor')];
  const full = openSync('/dev/full', 'w');
  const lost = await fleet(events, { stdin, fds: { 1: full } });
  closeSync(full);
  assert.match(lost.stderr, /output_failed/);
  assert.is(lines(await must(fleet(events, { stdin }))).length, 1);
  assert.is(await must(fleet(events, { stdin })), '');
});

test('long lines are shipped; one that no message can hold is a gap', async () => {
  const { fleet, enrol } = await makeOperator();
  const root = temporaryFolder('web1');
  await enrol('web1', root);
  const line = (version: string, note = '') =>
    `${JSON.stringify({ event_type: 'DeployStarted', project: 'shop', version, note })}\n`;
  const before = [line('v1', 'y'.repeat(750_000)), line('v2'), line('v3', 'z'.repeat(1_048_330))];
  const after = [line('v5'), `${'x'.repeat(17_000_000)}\n`, line('v6')];
  const long = line('v4', randomBytes(3_000_000).toString('base64'));
  mkdirSync(join(root, 'logs'));
  const log = join(root, 'logs/deploy-events.jsonl');
  writeFileSync(log, [...before, long, ...after].join(''));
  const shipped = async () => {
    const stdin = await must(run('runner-agent', ['ship'], { root }));
    return fleet(['events', '--stdin', '--raw'], { stdin });
  };
  const { stdout, stderr } = await shipped();
  assert.ok(stdout === [...before, ...after].join(''), `${stdout.length} bytes: ${stderr}`);
  assert.is(stderr.match(/events_gap/g)?.length, 1, stderr);
  writeFileSync(log, long);
  const alone = await shipped();
  assert.equal([alone.stdout, alone.stderr.match(/events_gap/g)?.length], ['', 1]);
});

withBroker(
  'lossy connections, rotations, killed agents and brokers, and a lost tail lose or duplicate nothing',
  async (scene) => {
    await allAreEqual(scene, 'the start');
    const older = temporaryFolder('older');
    for (let round = 1; round <= ROUNDS; round += 1) {
      const busy = setInterval(() => {
        for (const server of SERVERS) write(scene, server, 1 + (number % 7));
      }, 50);
      scene.way.cut();
      rotate(scene, 'web1');
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      await scene.killAgent('web2');
      scene.way.reconnect();
      await scene.broker.kill();
      if (round === 1) cpSync(scene.broker.store, older, { recursive: true });
      await scene.startBroker();
      await scene.startAgent('web2');
      rotate(scene, 'web3');
      await new Promise((resolve) => setTimeout(resolve, 1_000 * round));
      await scene.broker.kill();
      if (round === ROUNDS) {
        rmSync(scene.broker.store, { recursive: true });
        cpSync(older, scene.broker.store, { recursive: true });
      }
      await scene.startBroker();
      rotate(scene, 'web1');
      clearInterval(busy);
      await allAreEqual(scene, `round ${round}`);
    }
    const verified = await scene.fleet('verify');
    assert.is(verified.status, 0, verified.stdout);
  },
);

withBroker(
  'follow prints what is new, also after a broker that lost everything, and continues after its cursor',
  async (scene) => {
    const cursor = join(temporaryFolder('cursor'), 'cursor');
    const events = ['events', '--json', '--cursor', cursor];
    const root = scene.operator.root;
    const following = start('runner-fleet', [...events, '-f'], { root, timeout: 120_000 });
    const printed = following.stdout[Symbol.asyncIterator]();
    const versions = async (count: number) => {
      const seen: unknown[] = [];
      while (seen.length < count) seen.push(JSON.parse((await printed.next()).value).version);
      return seen;
    };
    await until(() => existsSync(cursor), 'it has not begun');
    const next = (count: number) =>
      Array.from({ length: count }, (_, index) => `v${number + 1 + index}`);
    let wanted = next(2);
    write(scene, 'web1', 2);
    assert.equal(await versions(2), wanted);
    await scene.broker.kill();
    wanted = next(3);
    write(scene, 'web2', 3);
    await until(() => following.stderr().includes('broker_unreachable'), 'it notices nothing');
    rmSync(scene.broker.store, { recursive: true });
    await scene.startBroker();
    await must(scene.operator.fleet(['broker', 'check']));
    assert.equal(await versions(3), wanted);
    await until(() => readFileSync(cursor, 'utf8').includes('web2'), 'the cursor is not written');
    following.kill('SIGINT');
    assert.is((await following.done).status, 130);
    wanted = next(1);
    write(scene, 'web3', 1);
    const later = async () => lines((await scene.operator.fleet(events)).stdout);
    const rest: unknown[] = [];
    await until(async () => {
      rest.push(...(await later()).map(({ version }) => version));
      return rest.length >= 1;
    }, 'what came meanwhile is not printed');
    assert.equal(rest, wanted);
    assert.equal(await later(), []);
    writeFileSync(cursor, 'a file of mine');
    assert.match((await scene.operator.fleet(events)).stderr, /is not a cursor/);
    const wrong = [
      ['--since', 'x'],
      ['-n', 'x'],
      ['--event', 'x'],
      ['--raw', '-n', '1'],
    ];
    for (const args of wrong)
      assert.is((await scene.operator.fleet(['events', ...args])).status, 2, args.join(' '));
    const recent = await scene.fleet('events', '--since', '2000-01-01', '-n', '1');
    assert.equal([recent.status, recent.lines.length], [0, 1]);
  },
);

withBroker(
  'repeats by a hostile broker are dropped, and verify names its changes',
  async (scene) => {
    const seed = readFileSync(`${scene.operator.root}/fleet/operator.nk`, 'utf8').trim();
    const owner = await openBroker({ url: scene.broker.url, ca: undefined, seed, name: 'hostile' });
    const subject = 'runner.event.web1';
    const first = await owner.next('EVENTS', subject, 1);
    const of2 = await owner.next('EVENTS', 'runner.event.web2', 1);
    await owner.store(subject, first?.text ?? '');
    await owner.store(subject, of2?.text ?? '');
    await owner.store(subject, (first?.text ?? '').replace('shop', 'blog'));
    await owner.store(subject, 'junk');
    const seen = await scene.operator.fleet(['events', '--raw', '--server', 'web1']);
    assert.equal([seen.status, seen.stdout === written(scene, 'web1')], [1, true], seen.stderr);
    const { stdout } = await scene.operator.fleet(['verify']);
    assert.match(stdout, /web1 .*message \d+ of web1 does not follow/);
    assert.is(stdout.match(/is not signed by web1/g)?.length, 3, stdout);
    // Another server's result, and an unsigned one.
    await owner.store('runner.result.web1.r-00000001', '{"server":"web1","body":"{}","sig":"x"}');
    assert.match(
      (await scene.operator.fleet(['verify'])).stdout,
      /result \d+ is not signed by web1/,
    );
    write(scene, 'web1', 3);
    await allAreEqual(scene, 'lies');
    await owner.request(
      '$JS.API.STREAM.MSG.DELETE.EVENTS',
      JSON.stringify({ seq: first?.seq }),
      5_000,
    );
    const cut = await scene.operator.fleet(['verify', '--server', 'web1']);
    assert.match(
      cut.stdout,
      /; 1 message before the first: over 400 days old, or dropped by the broker\n$/,
    );
    await owner.close();
  },
);

withBroker(
  'records that were rotated away before they were sent are a gap, not silence',
  async (scene) => {
    await scene.killAgent('web3');
    for (const name of readdirSync(dirname(scene.log('web3')))) rmSync(scene.log('web3', name));
    write(scene, 'web3', 4);
    await scene.startAgent('web3');
    const wanted = written(scene, 'web3');
    await until(
      async () => (await central(scene, 'web3')).endsWith(wanted),
      'what is there is not sent',
    );
    const shown = await scene.operator.fleet(['events', '--server', 'web3', '-n', '1']);
    assert.equal([shown.status, /events_gap/.test(shown.stderr)], [1, true], shown.stderr);
    const verified = await scene.operator.fleet(['verify', '--server', 'web3']);
    assert.match(
      verified.stdout,
      /, 1 gap: records are missing: rotated away before they were sent, or too long to send\n$/,
    );
    const { servers } = (await scene.fleet('verify', '--server', 'web3')).lines[0] as {
      servers: { gaps: number }[];
    };
    assert.is(servers[0]?.gaps, 1);
  },
);

withBroker(
  'after the log was put back from a backup, what is new is sent, and nothing twice',
  async (scene) => {
    const live = scene.log('web3');
    const backup = readFileSync(live);
    write(scene, 'web3', 4);
    await until(
      async () => (await central(scene, 'web3')).endsWith(readFileSync(live, 'utf8')),
      'the end is not sent',
    );
    const sent = await central(scene, 'web3');
    await scene.killAgent('web3');
    writeFileSync(live, backup);
    write(scene, 'web3', 1);
    await scene.startAgent('web3');
    write(scene, 'web3', 2);
    const wanted = sent + readFileSync(live).subarray(backup.length).toString('utf8');
    await until(async () => (await central(scene, 'web3')) === wanted, 'what is new is not sent');
    await scene.killAgent('web3');
    rotate(scene, 'web3');
    write(scene, 'web3', 1);
    await scene.startAgent('web3');
    const more = wanted + readFileSync(live, 'utf8');
    await until(async () => (await central(scene, 'web3')) === more, 'the next file is not sent');
    assert.equal((await scene.operator.fleet(['verify', '--server', 'web3'])).status, 0);
  },
);

withBroker(
  'a server that is set up again, with other keys, keeps its history; its old key is no longer valid',
  async (scene) => {
    const { operator, roots, broker } = scene;
    const [root, text] = [roots.web2 as string, written(scene, 'web2')];
    await scene.killAgent('web2');
    renameSync(join(root, 'agent'), join(root, 'agent.old'));
    await must(operator.fleet(['remove', 'web2']));
    await operator.enrol('web2', root, 'web');
    await scene.startBroker();
    await must(operator.fleet(['broker', 'check']));
    await scene.startAgent('web2');
    write(scene, 'web2', 3);
    const wanted = written(scene, 'web2');
    assert.ok(wanted.startsWith(text) && wanted !== text);
    await until(async () => (await central(scene, 'web2')) === wanted, 'it is not the log');
    await must(operator.fleet(['verify', '--server', 'web2']));
    const thief = temporaryFolder('thief');
    cpSync(join(root, 'agent.old'), join(thief, 'agent'), { recursive: true });
    cpSync(join(root, 'logs'), join(thief, 'logs'), { recursive: true });
    const [old = ''] = (await must(run('runner-agent', ['ship'], { root: thief }))).split('\n');
    const login = {
      url: broker.url,
      ca: undefined,
      name: 'forger',
      seed: readFileSync(join(operator.root, 'fleet/operator.nk'), 'utf8').trim(),
    };
    const connection = await openBroker(login);
    await connection.store(subjects.events('web2'), old);
    await connection.close();
    const forged = await operator.fleet(['verify', '--server', 'web2']);
    assert.equal([forged.status, /is not signed by web2/.test(forged.stdout)], [1, true]);
  },
);

test.run();
