/** Fifty agents on one machine: how fast they answer, what they need, and how fast events come together. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { hasBroker } from '@runner/testing/broker';
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { openBroker } from '../libs/fleet/src/broker/nats.ts';
import { makeStage, type Stage } from '../tests/fleet/stage.ts';
import { must } from '../tests/fleet/world.ts';
import { quantile } from './harness/measure.ts';
import { memoryIn, privateIn, processorTime, smapsOf } from './harness/process.ts';
import { printSetting, roundsWanted } from './harness/setting.ts';

const COUNT = 50;
/** Seconds without work. */
const IDLE = 60;
const RECORDS = 100_000;

const row = (what: string, figure: string, budget = '') =>
  process.stdout.write(`| ${what} | ${figure} | ${budget} |\n`);
const median = (all: readonly number[]) => quantile(all, 0.5);

/** The best time of some rounds, in ms. */
async function timeOf(rounds: number, work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    await work();
    best = Math.min(best, performance.now() - began);
  }
  return best;
}

/** From the signed order to the last signed result, and the first, in ms. */
async function held(stage: Stage, verb: string): Promise<{ first: number; last: number }> {
  const command = start('runner-fleet', [verb, 'shop', '--json'], { root: stage.operator.root });
  const times: number[] = [];
  for await (const _line of command.stdout) times.push(performance.now());
  const [plan = 0, first = 0] = times;
  return { first: first - plan, last: (times.at(-2) ?? 0) - plan };
}

async function measure(stage: Stage, servers: readonly string[], rounds: number): Promise<void> {
  const pids = servers.map((server) => stage.agents[server]?.pid as number);
  const [pings, first, last, cpu]: number[][] = [[], [], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const { lines } = await stage.fleet('status');
    const rows = (lines[0]?.servers ?? []) as { ping_ms: number | null }[];
    pings?.push(Math.max(...rows.map(({ ping_ms: ms }) => ms ?? Number.POSITIVE_INFINITY)));
    for (const verb of ['hold', 'unhold']) {
      const before = pids.reduce((sum, pid) => sum + processorTime(pid), 0);
      const times = await held(stage, verb);
      first?.push(times.first);
      last?.push(times.last);
      cpu?.push((pids.reduce((sum, pid) => sum + processorTime(pid), 0) - before) / servers.length);
    }
  }
  const best = (all: number[] = []) =>
    `${Math.min(...all).toFixed(0)} ms, median ${median(all).toFixed(0)} ms`;
  row('a ping, until all have answered', best(pings), '200 ms');
  row('hold: first signed result', best(first));
  row('hold: last signed result', best(last), '1,000 ms');
  row('hold: CPU time of an agent, without ssh-keygen', `${median(cpu ?? []).toFixed(0)} ms`);
  const total = await timeOf(rounds, () => must(stage.operator.fleet(['status'])));
  const bare = await timeOf(rounds, async () => execFileSync(process.execPath, ['-e', '0']));
  const beyond = (total - Math.min(...(pings ?? []))) / bare;
  row(
    'fleet status',
    `${total.toFixed(0)} ms: a ping and ${beyond.toFixed(2)} × node -e 0`,
    '1.6 ×',
  );
  const floor = execFileSync(
    process.execPath,
    ['-e', `process.stdout.write(fs.readFileSync('/proc/self/smaps_rollup', 'utf8'))`],
    { encoding: 'utf8' },
  );
  const nodes = privateIn(floor);
  const own = median(pids.map((pid) => privateIn(smapsOf(pid))));
  row('memory of an agent: private', `${own.toFixed(1)} MB`);
  row('memory of node -e: private', `${nodes.toFixed(1)} MB`);
  row('memory of an agent beyond that', `${(own - nodes).toFixed(1)} MB`, '25 MB');
  row(
    'RSS of an agent',
    `${median(pids.map((pid) => memoryIn(smapsOf(pid), 'Rss'))).toFixed(1)} MB`,
  );
  const before = pids.map(processorTime);
  await pause(IDLE * 1_000);
  const idle = pids.map((pid, index) => (processorTime(pid) - (before[index] ?? 0)) / (IDLE * 10));
  row('idle, of a core', `${median(idle).toFixed(3)} %`, '0.2 %');
}

/** Records a second from the start of the agent until all are in the broker, and until they are read and checked. */
async function collect(stage: Stage, server: string): Promise<void> {
  await stage.killAgent(server);
  const lines = Array.from({ length: RECORDS }, (_, index) =>
    JSON.stringify({
      timestamp: new Date(1_700_000_000_000 + index * 1_000).toISOString(),
      event_type: 'DeploySuccess',
      project: 'shop',
      instance: 'default',
      version: `v${index}`,
      deploy_id: index.toString(16).padStart(8, '0'),
      commit: '4f2a91c0d3e14f2a91c0d3e14f2a91c0d3e14f2a',
      duration_ms: index % 9_000,
      seq: index,
      prev: index.toString(16).padStart(32, '0'),
    }),
  );
  appendFileSync(stage.log(server), `${lines.join('\n')}\n`);
  const seed = readFileSync(`${stage.operator.root}/fleet/operator.nk`, 'utf8').trim();
  const broker = await openBroker({ url: stage.broker.url, ca: undefined, seed, name: 'bench' });
  const began = performance.now();
  await stage.startAgent(server);
  const connected = performance.now();
  await until(async () => {
    const stored = await broker.last('EVENTS', `runner.event.${server}`);
    return stored && JSON.parse(JSON.parse(stored.text).body).to > lines.join('\n').length;
  }, 'the events do not come');
  const stored = performance.now();
  await broker.close();
  const rate = (from: number, to: number) =>
    `${Math.round(RECORDS / ((to - from) / 1_000)).toLocaleString('en')} a second`;
  row(
    `${RECORDS.toLocaleString('en')} events collected, with the start of the agent`,
    rate(began, stored),
  );
  row('the same from when it is connected', rate(connected, stored), '50,000 a second');
  const reading = performance.now();
  await must(stage.operator.fleet(['events', '--server', server, '--raw']));
  row('the same read and checked by fleet events --raw', rate(reading, performance.now()));
}

async function main(): Promise<void> {
  const rounds = roundsWanted(5);
  printSetting('Several servers', rounds);
  if (!hasBroker()) return void process.stdout.write('\nskipped: nats-server is not installed\n');
  const servers = Array.from({ length: COUNT }, (_, index) => `web${index + 1}`);
  const stage = await makeStage(servers);
  for (const root of Object.values(stage.roots)) {
    const args = ['--repo', 'acme/shop', '--branch', 'main', '--public'];
    await must(run('runner-add', args, { root }));
    await must(
      run('runner-audit', ['emit', 'DeployStarted', '--project', 'shop', '--version', 'v1'], {
        root,
      }),
    );
  }
  process.stdout.write(`\n| ${COUNT} agents on one machine | | budget |\n|---|---|---|\n`);
  const began = performance.now();
  await Promise.all(servers.map((server) => stage.startAgent(server)));
  row(
    'all started at once, until all are connected',
    `${((performance.now() - began) / 1_000).toFixed(1)} s`,
  );
  await measure(stage, servers, rounds);
  await collect(stage, 'web1');
  row('load of the machine at the end', (loadavg()[0] ?? 0).toFixed(1));
  await stage.close();
}

void main();
