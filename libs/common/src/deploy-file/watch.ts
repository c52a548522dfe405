/** `watch` of `.deploy.yml`: how a release is judged after it is live. */
import { durationOf } from '../text/time.ts';
import { type Fail, listOf } from './values.ts';

/** What happens to a release that is judged bad. */
export type WatchPolicy = 'rollback' | 'report';

/** The longest watch, and the shortest that can judge anything, in ms. */
const LONGEST = 86_400_000;
const SHORTEST = 10_000;

export type WatchRules = NonNullable<ReturnType<typeof watchOf>>;

/** Throws what the section gets wrong. */
export function watchOf(given: unknown, fail: Fail) {
  if (given === undefined || given === false) return undefined;
  const section = given instanceof Map ? given : new Map<string, unknown>([['for', given]]);
  const text = section.get('for');
  const length = typeof text === 'string' ? (durationOf(text) ?? 0) : Number(text) * 1_000;
  const key = given instanceof Map ? 'watch.for' : 'watch';
  if (length > LONGEST) throw fail(key, 'is too long: the maximum is 24h');
  if (length < SHORTEST) throw fail(key, 'is too short: the minimum is 10s');
  const haproxy = section.get('haproxy') as Map<string, string> | undefined;
  if (haproxy && section.has('access_log'))
    throw fail('watch', 'takes access_log or haproxy, not both');
  const query = section.get('query') as Map<string, string> | undefined;
  return {
    /** How long, in ms. */
    for: length,
    policy: (section.get('policy') ?? 'rollback') as WatchPolicy,
    /** Share of failing requests, from 0 to 1, that must be found. */
    errors: percentage(section.get('errors'), 5, fail) / 100,
    /** How many times slower than before counts as slow. */
    latency: times(section.get('latency'), 2, fail),
    /** Whether new lines of errors in the output count. */
    logs: section.get('logs') !== false,
    run: section.get('run') as string | undefined,
    accessLog: section.get('access_log') as string | undefined,
    haproxy: haproxy && {
      socket: haproxy.get('socket') ?? '',
      backend: haproxy.get('backend') ?? '',
    },
    query: query && { url: query.get('url') ?? '', expr: query.get('expr') ?? '' },
  };
}

/** Of which the shares of a canary are multiples, in percent. */
const BUCKET = 5;

/** The shares of a canary, in percent. Throws what the section gets wrong. */
export function canaryOf(given: unknown, fail: Fail): number[] {
  const shares = listOf(given).map((each) => Number(String(each).replace(/%$/, '')));
  if (shares.some((share) => share % BUCKET !== 0 || share < BUCKET))
    throw fail('canary', `takes multiples of ${BUCKET}%, from 5% to 95%`);
  if (shares.some((share, at) => share <= (shares[at - 1] ?? 0)))
    throw fail('canary', 'must ascend');
  return shares;
}

function percentage(value: unknown, fallback: number, fail: Fail): number {
  if (value === undefined) return fallback;
  const share = Number(String(value).replace(/%$/, ''));
  if (share < 1 || share > 50) throw fail('watch.errors', 'must be from 1% to 50%');
  return share;
}

function times(value: unknown, fallback: number, fail: Fail): number {
  if (value === undefined) return fallback;
  const factor = Number(String(value).replace(/x$/, ''));
  if (factor < 1.5 || factor > 100) throw fail('watch.latency', 'must be from 1.5x to 100x');
  return factor;
}
