/**
 * A canary behind the real proxies, with the configuration that `runner watch --proxy` prints.
 * CANARY_CLIENTS=n changes the number of clients,
 * CANARY_DEPLOYS=n that of the deploys through all steps.
 */
import { readlinkSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killApp } from '@runner/testing/app';
import { IS_WHOLE } from '@runner/testing/extent';
import {
  placeFor,
  programOf,
  REAL_PROXIES,
  type RealProxyName,
  startRealProxy,
} from '@runner/testing/real-proxy';
import { start } from '@runner/testing/run';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeTrafficWorld } from './world.ts';

const test = suite('canary behind a proxy');
const DEPLOYS = Number(process.env.CANARY_DEPLOYS ?? (IS_WHOLE ? 7 : 1));
const CLIENTS = Number(process.env.CANARY_CLIENTS ?? 600);
/** Enough time for all of them. */
const SECONDS = 40 + Math.round(CLIENTS / 100);
const CANARY = `traffic: { type: socket, drain: 1s }\nwatch: { for: ${SECONDS}s, logs: false }\ncanary: [25%]\n`;

interface Visit {
  readonly status: number;
  readonly version: string;
  readonly cookie: string;
}

function visit(port: number, headers: Record<string, string>): Promise<Visit> {
  return new Promise((resolve) => {
    const lost = () => resolve({ status: 0, version: '', cookie: '' });
    const sent = request({ port, headers, agent: false }, (answer) => {
      answer.resume();
      answer.on('error', lost);
      answer.on('end', () => {
        const [set = ''] = answer.headers['set-cookie'] ?? [];
        const cookie = set.split(';')[0] as string;
        resolve({
          status: answer.statusCode ?? 0,
          version: String(answer.headers.version),
          cookie,
        });
      });
    });
    sent.on('error', lost);
    sent.end();
  });
}

async function visits(port: number, count: number, headersOf: (at: number) => object) {
  const all: Visit[] = [];
  for (let at = 0; at < count; at += 50)
    all.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, count - at) }, (_, each) =>
          visit(port, headersOf(at + each) as Record<string, string>),
        ),
      )),
    );
  return all;
}

for (const name of REAL_PROXIES) {
  const sentence = `${name} gives a release its share, keeps each client where it was, and loses no request`;
  if (!programOf(name)) {
    test.skip(sentence, () => {});
    continue;
  }
  test(sentence, async () => {
    const world = await makeTrafficWorld();
    assert.is((await world.ship('v1', 'good', CANARY)).status, 0);
    const { stdout, status } = await world.runner('watch', 'shop', '--proxy', name);
    assert.is(status, 0);
    const proxy = await startRealProxy(name, stdout, await placeFor(name));
    const { port } = proxy;
    try {
      const deploy = trafficFile(CANARY);
      await world.push('v2', { deploy, files: trafficFiles('v2', 'good') });
      const deploying = start('runner-deploy', ['shop'], { root: world.root });
      // The last of the five links that lead to it: a client that asks before may move.
      const last = join(world.dir, 'share/04');
      await until(() => readlinkSync(last) === '../next', 'no canary');
      const agents = (at: number) => ({ 'user-agent': `client ${at}` });
      const first = await visits(port, CLIENTS, agents);
      const share = (100 * first.filter(({ version }) => version === 'v2').length) / CLIENTS;
      process.stdout.write(`(${CLIENTS} clients of ${name}: ${share.toFixed(2)} %, wanted 25)\n`);
      assert.ok(Math.abs(share - 25) <= 7, String(share));
      const again = await visits(port, CLIENTS, (at) => ({
        'user-agent': `other ${at}`,
        cookie: first[at]?.cookie ?? '',
      }));
      const moved = again.filter((each, at) => each.version !== first[at]?.version).length;
      const token = /next ([0-9a-f]{32})/.exec(stdout)?.[1] ?? '';
      const chosen = await visits(port, 20, () => ({ 'x-runner-version': `next ${token}` }));
      const byCookie = await visits(port, 20, () => ({ cookie: `runner_next=${token}` }));
      const all = [...first, ...again, ...chosen, ...byCookie];
      assert.is(all.filter((each) => each.status !== 200).length, 0);
      assert.is(moved, 0);
      assert.ok([...chosen, ...byCookie].every(({ version }) => version === 'v2'));
      assert.is((await deploying.done).status, 0);
      const after = await visits(port, 100, agents);
      assert.ok(after.every(({ version }) => version === 'v2'));
    } finally {
      proxy.close();
      killApp(world.root, 'shop');
      await world.close();
    }
  });
}

/** Visitors, each with a name of its own, until it is ended. */
function visitors(port: number) {
  let isOver = false;
  const pending: Promise<Visit>[] = [];
  const done = (async () => {
    for (let at = 0; !isOver; at += 1) {
      pending.push(visit(port, { 'user-agent': `visitor ${at}` }));
      await sleep(25);
    }
  })();
  return async () => {
    isOver = true;
    await done;
    return Promise.all(pending);
  };
}

const stepsOf = (shares: readonly number[]) =>
  `traffic: { type: socket, drain: 1s }\nwatch: { for: 10s, logs: false }\ncanary: [${shares.map((each) => `${each}%`).join(', ')}]\n`;

/** Deploys through all steps behind one proxy, then a release that dies. Returns what was counted. */
async function walk(name: RealProxyName) {
  const world = await makeTrafficWorld();
  const shares = IS_WHOLE ? Array.from({ length: 10 }, (_, at) => 10 * at + 5) : [5, 50, 95];
  assert.is((await world.ship('v1', 'good', stepsOf(shares))).status, 0);
  const { stdout } = await world.runner('watch', 'shop', '--proxy', name);
  const proxy = await startRealProxy(name, stdout, await placeFor(name));
  const end = visitors(proxy.port);
  try {
    for (let at = 0; at < DEPLOYS; at += 1) {
      const { status, stderr } = await world.ship(`v${at + 2}`, 'good', stepsOf(shares));
      assert.is(status, 0, stderr);
    }
    const good = await end();
    const lost = good.filter(({ status }) => status !== 200).length;
    const endBad = visitors(proxy.port);
    const bad = await world.ship('bad', 'fading', stepsOf([10, 20]));
    const all = await endBad();
    assert.is(bad.status, 1);
    const met = all.filter(({ status, version }) => status !== 200 || version === 'bad').length;
    return { lost, steps: DEPLOYS * shares.length, requests: good.length, met: met / all.length };
  } finally {
    await end();
    proxy.close();
    killApp(world.root, 'shop');
    await world.close();
  }
}

test('no request is lost at any step of a canary, and a bad one reaches only its share', async () => {
  const all = await Promise.all(REAL_PROXIES.filter(programOf).map(walk));
  for (const { lost, met, steps, requests } of all) {
    process.stdout.write(
      `(${steps} steps, ${requests} requests, ${lost} lost; a bad one of 10 % met ${(100 * met).toFixed(1)} % of its visitors)\n`,
    );
    assert.is(lost, 0);
    assert.ok(met <= 0.13, String(met));
  }
});

test.run();
