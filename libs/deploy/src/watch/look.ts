/** Looking at a release: each source at its own pace, until one of them is sure or the time is over. */

import type { ProxyMark, WatchState } from '@runner/common/apps/watch';
import type { WatchRules } from '@runner/common/deploy-file/watch';
import type { Target } from '../instances/drivers/driver.ts';
import { systemState } from '../instances/drivers/unit-state.ts';
import type { Operation } from '../journal/operation.ts';
import { BEFORE_ALL } from '../proxy/mark.ts';
import { stepEnvironment } from '../run/environment.ts';
import { commandSource, healthSource, querySource } from './asked.ts';
import { haproxySource } from './haproxy.ts';
import { outputSource } from './output.ts';
import { requestSources } from './requests.ts';
import { processSource } from './running.ts';
import { type Judgement, judge, type WatchSource } from './source.ts';

/** Shortest time between two looks at the clock of the sources, in ms. */
const TICK = 10;
/** Between two looks at what else is going on, in ms. */
const AROUND = 2_000;
/** What is due within this share of its time is looked at now: the process wakes up once for all of it. */
const EARLY = 0.25;

/** When its deploy began, what the proxy had seen when it got its first request, and what had no version before. */
export type WatchBeginning = ProxyMark & Pick<WatchState, 'from' | 'first'>;

/** The sources that a `.deploy.yml` asks for. */
export function sourcesOf(
  op: Operation,
  rules: WatchRules,
  targets: readonly Target[],
  { from, access_log, haproxy, first = [] }: WatchBeginning,
): WatchSource[] {
  const { io, paths } = op;
  const began = io.elapsed();
  const elapsed = () => io.elapsed() - began;
  const { accessLog: path } = rules;
  const isFirst = ({ instance }: Target) => first.includes(instance.name);
  const { unusual = [] } = op.app;
  const parts = unusual.flatMap(({ from: { access_log: start }, to: { access_log: end } }) =>
    start && end ? [{ from: start, to: end }] : [],
  );
  const each = targets.flatMap((target) => [
    healthSource(target),
    processSource(target),
    rules.logs
      ? outputSource({ io, paths, target, from, isFirst: isFirst(target) }, elapsed)
      : undefined,
    commandSource(rules, target),
  ]);
  const common = [
    querySource(rules, io.env),
    haproxySource(
      rules,
      haproxy,
      targets.every(isFirst)
        ? [{ from: BEFORE_ALL, to: { ...(haproxy && { haproxy }) } }]
        : unusual,
    ),
    ...(path === undefined
      ? []
      : requestSources(rules, { path, from: access_log, unusual: parts }, elapsed)),
  ];
  return [...each, ...common].filter((source) => source !== undefined);
}

/**
 * Looks for `time` ms. `around` is called every two seconds; if it returns false, or a signal comes, the result
 * is undefined.
 */
export async function lookUntil(
  { io, signal }: Operation,
  sources: readonly WatchSource[],
  time: number,
  around: () => Promise<boolean>,
): Promise<Judgement | undefined> {
  const until = io.elapsed() + time;
  const server = () => systemState(stepEnvironment(io.env));
  // Its bus is closed early in a shutdown; to some users, and in some containers, it never answers.
  const hadAnswer = server() !== '';
  const isShuttingDown = () => {
    const state = server();
    return state === 'stopping' || (hadAnswer && state === '');
  };
  const due = new Map<WatchSource, number>();
  const busy = new Set<WatchSource>();
  let wake = () => {};
  let called = Number.NEGATIVE_INFINITY;
  const one = async (source: WatchSource) => {
    busy.add(source);
    try {
      await source.look();
    } catch {
      // A source that fails finds nothing.
    } finally {
      busy.delete(source);
      wake();
    }
  };
  for (;;) {
    const now = io.elapsed();
    for (const source of sources) {
      const { every } = source;
      if (busy.has(source) || (due.get(source) ?? 0) > now + every * EARLY) continue;
      due.set(source, now + every);
      void one(source);
    }
    const isBad =
      sources.some(({ finding }) => finding === 'bad') &&
      // One that is bad before the server is down is bad after the boot, too.
      (now >= until || !isShuttingDown());
    if (isBad) await Promise.all(sources.map((source) => source.isQuick && one(source)));
    if (isBad || now >= until) return judge(sources);
    if (signal.aborted) return undefined;
    if (now - called >= AROUND * (1 - EARLY)) {
      called = now;
      if (!(await around())) return undefined;
    }
    // Until the next source is due, or one has an answer.
    const idle = sources.filter((source) => !busy.has(source));
    const next = Math.min(until, called + AROUND, ...idle.map((source) => due.get(source) ?? now));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(TICK, next - io.elapsed()));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
