/**
 * Releases that break in many ways behind the real proxies, which say what they see: how many of them the
 * watch finds within a minute, and how fast. WATCH_FAULTS=n changes the number for each proxy.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { appFiles, killApp } from '@runner/testing/app';
import { IS_WHOLE } from '@runner/testing/extent';
import { randomOf } from '@runner/testing/random';
import {
  PLAIN_SITES,
  placeFor,
  programOf,
  REAL_PROXIES,
  type RealProxy,
  type RealProxyName,
  startRealProxy,
} from '@runner/testing/real-proxy';
import { trafficFile } from '@runner/testing/traffic-app';
import { request } from '@runner/testing/traffic-proxy';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeTrafficWorld, type TrafficWorld } from './world.ts';

const test = suite('watch behind a proxy');
const COUNT = Number(process.env.WATCH_FAULTS ?? (IS_WHOLE ? 30 : 4));
const MINUTE = 60_000;

/** What goes wrong: with a share of the requests, or with the process `after` ms. */
interface Fault {
  readonly kind: 'good' | 'errors' | 'slow' | 'lines' | 'crash' | 'leak' | 'deadlock';
  readonly share: number;
  readonly times: number;
  readonly after: number;
  /** Requests a second. */
  readonly rate: number;
}

const SERVER = `const { createServer } = require('node:http');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { kind, share, times, after } = JSON.parse(readFileSync(join(__dirname, 'FAULT'), 'utf8'));
const kept = [];
if (kind === 'crash') setTimeout(() => process.exit(1), after);
if (kind === 'leak') setInterval(() => kept.push(Array.from({ length: 200000 }, Math.random)), 100);
if (kind === 'deadlock') setTimeout(() => { for (;;); }, after);
createServer((request, response) => {
  if (request.url === '/health') return response.end();
  const isHit = Math.random() < share;
  if (isHit && kind === 'lines') console.error(new TypeError('cannot read total of undefined').stack);
  if (isHit && kind === 'errors') response.statusCode = 500;
  setTimeout(() => response.end(), (10 + 10 * Math.random()) * (kind === 'slow' ? times : 1));
}).listen(process.env.PORT);
`;

function faultOf(random: () => number, at: number): Fault {
  const between = (low: number, high: number) => low * (high / low) ** random();
  const kinds = [
    'errors',
    'slow',
    'crash',
    'errors',
    'leak',
    'lines',
    'errors',
    'deadlock',
  ] as const;
  const kind = at % 10 === 9 ? 'good' : (kinds[at % kinds.length] as Fault['kind']);
  const isOfProcess = ['crash', 'leak', 'deadlock'].includes(kind);
  return {
    kind,
    share: at % 12 === 6 ? between(0.01, 0.05) : between(0.05, 0.5),
    times: between(2.5, 10),
    after: Math.round(between(500, 20_000)),
    rate: isOfProcess ? between(0.1, 200) : between(kind === 'slow' ? 3 : 1, 200),
  };
}

/** Whether it breaks enough to be found within a minute. */
const isToBeFound = ({ kind, share }: Fault, name: RealProxyName) =>
  kind !== 'good' &&
  (share >= 0.05 || !['errors', 'lines'].includes(kind)) &&
  // Its counters have no times.
  !(kind === 'slow' && name === 'haproxy');

/** The command of HAProxy that begins to count again. */
function clearCounters(path: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ path }, () => socket.end('clear counters all\n'));
    socket.resume();
    socket.on('close', () => resolve());
  });
}

function loadOf(port: number, rate: number, random: () => number) {
  let isOver = false;
  const pending: Promise<unknown>[] = [];
  const one = async () => {
    while (!isOver) {
      pending.push(request(port));
      await sleep(Math.min(5_000, (-Math.log(1 - random()) * 1_000) / rate));
    }
  };
  void one();
  return async () => {
    isOver = true;
    await Promise.all(pending);
  };
}

/** Deploys a release with a fault; how many ms after its deploy it was judged bad, or undefined. */
async function play(
  world: TrafficWorld,
  { name, port, log, admin }: RealProxy & { readonly name: RealProxyName },
  { version, fault, random }: { version: string; fault: Fault; random: () => number },
): Promise<number | undefined> {
  const source =
    name === 'haproxy' ? `haproxy: { socket: "${admin}", backend: shop }` : `access_log: "${log}"`;
  const deploy = trafficFile(
    `traffic: { type: socket, drain: 500ms }\nwatch: { for: 5m, ${source} }\n`,
  ).replace('exec node', 'exec node --max-old-space-size=40');
  const files = {
    ...appFiles(version),
    'server.js': SERVER,
    FAULT: JSON.stringify(fault),
  };
  // The version before, in its usual manner.
  if (name === 'haproxy') await clearCounters(admin);
  else writeFileSync(log, '');
  for (let at = 0; at < 10; at += 1)
    await Promise.all(Array.from({ length: 20 }, () => request(port)));
  await world.push(version, { deploy, files });
  const end = loadOf(port, fault.rate, random);
  try {
    const done = await world.deploy();
    assert.is(done.status, 0, `${JSON.stringify(fault)} ${done.stderr}`);
    const from = Date.now();
    const time = fault.kind === 'good' ? 15_000 : MINUTE + fault.after;
    for (;;) {
      const found = world
        .events()
        .find((each) => each.event_type === 'WatchFailed' && each.version === version);
      // A fault of the process begins later than the release.
      const isLater = ['crash', 'deadlock'].includes(fault.kind);
      if (found)
        return Math.max(
          0,
          Date.parse(String(found.timestamp)) - from - (isLater ? fault.after : 0),
        );
      if (Date.now() - from > time) return undefined;
      await sleep(100);
    }
  } finally {
    await end();
  }
}

/** Plays all releases behind one proxy. Returns those that were not found, and how many should have been. */
async function playAll(name: RealProxyName, seed: number) {
  const world = await makeTrafficWorld();
  const random = randomOf(seed);
  const live = join(world.dir, 'live/app.sock');
  const started = await startRealProxy(
    name,
    PLAIN_SITES[name]({ socket: live }),
    await placeFor(name),
  );
  const proxy = { name, ...started };
  const times = new Map<string, number[]>();
  const missed: string[] = [];
  let toBeFound = 0;
  try {
    await world.launch('v0', {
      deploy: trafficFile('traffic: { type: socket, drain: 500ms }\n'),
      files: { ...appFiles('v0'), 'server.js': SERVER, FAULT: '{}' },
    });
    for (let at = 0; at < COUNT; at += 1) {
      const fault = faultOf(random, at);
      const version = `v${at + 1}`;
      const time = await play(world, proxy, { version, fault, random });
      const { kind, share, rate } = fault;
      const words = `${kind} of ${(100 * share).toFixed(0)} % at ${rate.toFixed(1)}/s`;
      if (kind === 'good') assert.is(time, undefined, `${words}: ${seen(world)}`);
      if (isToBeFound(fault, name)) toBeFound += 1;
      if (time !== undefined) times.set(kind, [...(times.get(kind) ?? []), time]);
      else if (isToBeFound(fault, name)) missed.push(`${words}: ${seen(world)}`);
      if (time === undefined) assert.is((await world.runner('rollback', 'shop')).status, 0);
      else await settled(world);
      const { current } = world.instance() as { current: { version: string } };
      assert.is(current.version, 'v0', words);
    }
  } finally {
    proxy.close();
    killApp(world.root, 'shop');
    await world.close();
  }
  for (const [kind, all] of times) {
    all.sort((a, b) => a - b);
    const [middle, most] = [all[Math.floor(all.length / 2)], all.at(-1)];
    process.stdout.write(
      `(${all.length} ${kind} found behind ${name}: after ${middle} ms, ${most} at most)\n`,
    );
  }
  process.stdout.write(
    `(${toBeFound} to be found behind ${name}, missed: ${missed.join(', ') || 0})\n`,
  );
  return { missed, toBeFound };
}

const names = REAL_PROXIES.filter(programOf);

(names.length > 0 ? test : test.skip)(
  '95 % of the releases that break are found in a minute, and no good one is called bad',
  async () => {
    const all = await Promise.all(names.map((name, at) => playAll(name, 70 + at)));
    const missed = all.flatMap((each) => each.missed);
    const toBeFound = all.reduce((sum, each) => sum + each.toBeFound, 0);
    assert.ok(missed.length <= Math.max(1, 0.05 * toBeFound), missed.join('\n'));
  },
);

/** What the watch has seen. */
function seen(world: TrafficWorld): string {
  const { sources } = JSON.parse(readFileSync(join(world.root, 'apps/shop/watch.json'), 'utf8'));
  return sources.map(({ words }: { words: string }) => words).join('; ');
}

/** Waits until the version before has its requests again. */
async function settled(world: TrafficWorld): Promise<void> {
  for (const end = Date.now() + MINUTE; Date.now() < end; await sleep(50))
    if (!world.state().watch && !world.state().deploying) return;
  assert.unreachable('the way back does not end');
}

test.run();
