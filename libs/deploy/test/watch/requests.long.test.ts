/**
 * Requests of made releases, a second at a time: 300 that break, and 3,000 that are good, a third of them
 * noisy. WATCH_RELEASES=n changes the number of good ones. Prints how many were found, and how fast.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WatchRules } from '@runner/common/deploy-file/watch';
import { endOfLog } from '@runner/deploy/proxy/access-log';
import { requestSources } from '@runner/deploy/watch/requests';
import { judge } from '@runner/deploy/watch/source';
import { IS_WHOLE } from '@runner/testing/extent';
import { randomOf } from '@runner/testing/random';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('requests of a watch');

const RULES: WatchRules & { accessLog: string } = {
  for: 600_000,
  policy: 'rollback',
  errors: 0.05,
  latency: 2,
  logs: true,
  run: undefined,
  query: undefined,
  haproxy: undefined,
  accessLog: join(temporaryFolder('watch'), 'access.log'),
};

const logNow = () => ({ path: RULES.accessLog, from: endOfLog(RULES.accessLog), unusual: [] });

type Random = () => number;
const between = (random: Random, low: number, high: number) => low * (high / low) ** random();

/** How a release answers at a second of its life. */
interface Manner {
  /** Requests a second. */
  readonly rate: number;
  /** Share of 5xx before, and at a second of the release. */
  readonly before: number;
  errors(second: number): number;
  /** How many times slower it is at a second. */
  slow(second: number): number;
}

/** Poisson, by its normal form where it is large. */
function countOf(random: Random, mean: number): number {
  if (mean > 30) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)));
  let [count, product] = [0, random()];
  for (const limit = Math.exp(-mean); product > limit; count += 1) product *= random();
  return count;
}

const normal = (random: Random) =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

function linesOf(random: Random, rate: number, errors: number, slow: number): string {
  return Array.from({ length: countOf(random, rate) }, () => {
    const status = random() < errors ? 500 : random() < 0.03 ? 404 : 200;
    const seconds = 0.04 * slow * Math.exp(0.5 * normal(random));
    return `{"status":${status},"duration":${seconds.toFixed(4)}}\n`;
  }).join('');
}

/** Plays a release; the second in which it was judged bad, or undefined. */
function play(random: Random, { rate, before, errors, slow }: Manner, seconds: number) {
  writeFileSync(RULES.accessLog, linesOf(random, Math.min(20_000, rate * 600), before, 1));
  let now = 0;
  const sources = requestSources(RULES, logNow(), () => now * 1_000);
  try {
    for (now = 0; now < seconds; now += 1) {
      appendFileSync(RULES.accessLog, linesOf(random, rate, errors(now), slow(now)));
      for (const source of sources) void source.look();
      if (judge(sources).verdict === 'bad') return now + 1;
    }
    return undefined;
  } finally {
    for (const source of sources) source.close?.();
  }
}

test('of releases that break 5 % of the requests or more, at one a second or more, 95 % are found in a minute', () => {
  const random = randomOf(7);
  const count = IS_WHOLE ? 300 : 100;
  const found: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const share = between(random, 0.05, 0.5);
    const manner = {
      rate: between(random, 1, 200),
      before: random() < 0.5 ? 0 : 0.001,
      errors: () => share,
      slow: () => 1,
    };
    const second = play(random, manner, 60);
    if (second !== undefined) found.push(second);
  }
  found.sort((a, b) => a - b);
  const median = found[Math.floor(found.length / 2)];
  process.stdout.write(
    `(${count} releases that break: ${found.length} found, half of them within ${median} s)\n`,
  );
  assert.ok(found.length >= 0.95 * count, `${found.length} of ${count}`);
});

test('releases that answer twice as slowly, or more, are found', () => {
  const random = randomOf(8);
  const count = IS_WHOLE ? 100 : 15;
  let found = 0;
  for (let at = 0; at < count; at += 1) {
    const times = between(random, 2.5, 10);
    const manner = { rate: between(random, 2, 50), before: 0, errors: () => 0, slow: () => times };
    if (play(random, manner, 120) !== undefined) found += 1;
  }
  process.stdout.write(`(${count} releases that are slower: ${found} found)\n`);
  assert.ok(found >= 0.95 * count, `${found} of ${count}`);
});

test('hardly any requests are not judged: neither good nor bad', () => {
  const random = randomOf(10);
  const count = IS_WHOLE ? 500 : 50;
  for (let at = 0; at < count; at += 1) {
    const rate = at % 5 === 0 ? 0 : between(random, 0.001, 0.05);
    writeFileSync(RULES.accessLog, linesOf(random, rate * 600, 0, 1));
    const sources = requestSources(RULES, logNow(), () => 0);
    for (let second = 0; second < 600; second += 1) {
      const lines = linesOf(random, rate, 0.002, 1);
      if (lines !== '') appendFileSync(RULES.accessLog, lines);
      for (const source of sources) void source.look();
    }
    const { verdict, words } = judge(sources);
    for (const source of sources) source.close?.();
    assert.is(verdict, 'not_judged', `${rate} a second: ${words}`);
  }
});

test('of good releases, noisy or not, at most one in a thousand is called bad', () => {
  const random = randomOf(9);
  const count = Number(process.env.WATCH_RELEASES ?? (IS_WHOLE ? 3_000 : 100));
  let wrong = 0;
  for (let at = 0; at < count; at += 1) {
    const before = [0, 0, 0.001, 0.01, 0.03][Math.floor(random() * 5)] as number;
    const isNoisy = at % 3 === 0;
    // Caches are cold for up to 25 s, and a second of errors comes now and then.
    const cold = 25 * random();
    const bad = Math.floor(random() * 90);
    const manner = {
      rate: between(random, 0.1, 100),
      before,
      errors: (second: number) => (isNoisy && second === bad ? 0.2 : before),
      slow: (second: number) => (isNoisy && second < cold ? 4 : 1),
    };
    const second = play(random, manner, 90);
    if (second !== undefined) {
      wrong += 1;
      process.stdout.write(`(${JSON.stringify(manner)} ${bad} at ${second})\n`);
    }
  }
  process.stdout.write(`(${count} releases that are good: ${wrong} called bad)\n`);
  assert.ok(wrong <= count / 1_000, `${wrong} of ${count}`);
});

test.run();
