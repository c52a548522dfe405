/** Source `requests`: what the proxy answered, against what it answered before the release. */
import type { WatchRules } from '@runner/common/deploy-file/watch';
import {
  AccessLog,
  type Answer,
  endOfLog,
  type LogPlace,
  type LogSpan,
} from '../proxy/access-log.ts';
import { SequentialTest, upperShare } from './sequence.ts';
import { Presence, type WatchSource } from './source.ts';

/** The share of failed requests that is usual anywhere: proxies give up, clients vanish. */
const USUAL_MIN = 0.002;
/** A broken release fails at least this many times more often than usual. */
const TIMES = 4;
const SHARE_MAX = 0.9;
/** The share of slow requests of a release that is slower: half of them, as its median has moved. */
const SLOW = 0.5;
/** Above this the time to answer says nothing: slow ones were usual. */
const SLOW_USUAL_MAX = 0.35;
/** Requests before the release, without which its time to answer has nothing to be compared with. */
const TIMED_MIN = 50;
/** The time to answer counts after these ms: caches are cold at first. */
const WARM_UP = 30_000;
/** A watch that is shorter, in ms, says nothing of the time to answer. */
export const TIMED_FOR_MIN = WARM_UP + 5_000;

/** Earlier requests are looked at in groups: one of which half failed is of an outage, which is not usual. */
const GROUP = 20;

const isFailed = ({ status }: Answer) => status >= 500;
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

/** A log, where the requests of the release begin, and what before that was not usual. */
interface WatchedLog {
  readonly path: string;
  readonly from: LogPlace | undefined;
  readonly unusual: readonly LogSpan[];
}

/** The two sources of a log: how many requests failed, and how many were slow. */
export function requestSources(
  { errors, latency, for: time }: Pick<WatchRules, 'errors' | 'latency' | 'for'>,
  { path, from = endOfLog(path), unusual }: WatchedLog,
  elapsed: () => number,
): WatchSource[] {
  const log = new AccessLog(path);
  const before = from ? withoutOutages(log.before(from, unusual)) : [];
  const failures = failureTest(before.filter(isFailed).length, before.length, errors);
  const presence = new Presence(path);
  const slow = time < TIMED_FOR_MIN ? undefined : slowTest(before, latency, presence);
  return [
    {
      name: 'requests',
      isOfProxy: true,
      every: 1_000,
      look() {
        const answers = log.next();
        presence.note(!log.isLost);
        failures.test.add(answers.filter(isFailed).length, answers.length);
        if (elapsed() >= WARM_UP) slow?.add(answers);
      },
      get finding() {
        return presence.finding(failures.test.finding);
      },
      get words() {
        return log.isOpen ? presence.words(failures.words()) : `${path} cannot be read`;
      },
      close: () => log.close(),
    },
    ...(slow ? [slow.source] : []),
  ];
}

/** Nothing ran, or requests were held: the quick errors of the proxy say neither what fails nor how long it takes. */
function withoutOutages(before: readonly Answer[]): Answer[] {
  const groups = Array.from({ length: Math.ceil(before.length / GROUP) }, (_, at) =>
    before.slice(at * GROUP, (at + 1) * GROUP),
  );
  return groups.filter((group) => group.filter(isFailed).length < GROUP / 2).flat();
}

/** Of `all` requests before the release `failed` did; `errors` is the share that must be found. */
export function failureTest(failed: number, all: number, errors: number) {
  const known = failed === 0 ? 0 : upperShare(failed, all);
  const usual = Math.min(SHARE_MAX / TIMES, Math.max(USUAL_MIN, known));
  const test = new SequentialTest({ usual, broken: Math.max(errors, TIMES * usual) });
  const then = all === 0 ? '' : `${percent(failed / all)} → `;
  const words = () => `5xx ${then}${percent(test.failed / (test.count || 1))} of ${test.count}`;
  return { test, words };
}

function slowTest(before: readonly Answer[], latency: number, presence: Presence) {
  const times = before.flatMap(({ seconds }) => seconds ?? []).sort((a, b) => a - b);
  if (times.length < TIMED_MIN) return undefined;
  const median = Math.max(0.001, times[Math.floor(times.length / 2)] as number);
  const limit = median * latency;
  const isSlow = (seconds: number) => seconds > limit;
  const usual = Math.max(0.05, upperShare(times.filter(isSlow).length, times.length));
  if (usual > SLOW_USUAL_MAX) return undefined;
  const test = new SequentialTest({ usual, broken: SLOW });
  const milliseconds = (seconds: number) => `${Math.round(seconds * 1_000)} ms`;
  return {
    add(answers: readonly Answer[]) {
      const timed = answers.flatMap(({ seconds }) => seconds ?? []);
      test.add(timed.filter(isSlow).length, timed.length);
    },
    source: {
      name: 'time to answer',
      isOfProxy: true,
      every: WARM_UP,
      look: () => {},
      get finding() {
        return presence.finding(test.finding);
      },
      get words() {
        return `${percent(test.failed / (test.count || 1))} of ${test.count} took over ${milliseconds(limit)}, ${latency} times the median of before`;
      },
    } satisfies WatchSource,
  };
}
