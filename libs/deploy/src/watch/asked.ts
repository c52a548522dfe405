/** Sources that are asked and answer yes or no: the health check, a command, a query. */
import type { WatchRules } from '@runner/common/deploy-file/watch';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import { send } from '@runner/common/http/request';
import { harmlessLine } from '@runner/common/text/harmless';
import { isObject, jsonObject } from '@runner/common/text/json';
import type { Target } from '../instances/drivers/driver.ts';
import { whatIsWrong } from '../instances/health.ts';
import { describeExit, succeeded } from '../run/child.ts';
import { shellStep, tryStep } from '../run/step.ts';
import { SequentialTest } from './sequence.ts';
import type { WatchSource } from './source.ts';

/** One question in a hundred may go wrong; of what is broken every second one does. */
const ASKED = { usual: 0.01, broken: 0.5 };
/** Between two questions at the beginning, and how many of them are asked so often. */
const AT_FIRST = { every: 100, count: 100 };
export const EVERY = { health: 1_000, command: 10_000, query: 15_000 };
/** Longest time for an answer of a command or a query, in ms. */
const PATIENCE = 10_000;
/** Characters of the error of a query that are shown. */
const SHOWN_MAX = 160;

/** What is wrong, or why no one can say, in words. */
type Answered = 'right' | { readonly wrong: string } | { readonly unknown: string };

function asked(name: string, every: () => number, question: () => Promise<Answered>): WatchSource {
  const test = new SequentialTest(ASKED);
  let [last, unknown] = ['', ''];
  return {
    name,
    get every() {
      return every();
    },
    async look() {
      const answer = await question();
      unknown = answer !== 'right' && 'unknown' in answer ? `; ${answer.unknown}` : '';
      if (unknown !== '') return;
      test.add(answer === 'right' ? 0 : 1, 1);
      if (answer !== 'right' && 'wrong' in answer) last = answer.wrong;
    },
    get finding() {
      return test.finding;
    },
    get words() {
      const { count, failed } = test;
      const found =
        failed === 0 ? `${count} of ${count} good` : `${failed} of ${count} failed: ${last}`;
      return `${found}${unknown}`;
    },
  };
}

/** The health check of an instance; undefined if it has none. */
export function healthSource(target: Target): WatchSource | undefined {
  const { health } = target.file;
  if (!health) return undefined;
  let count = 0;
  const every = () => {
    if (health.kind === 'cmd') return EVERY.command;
    return count < AT_FIRST.count ? AT_FIRST.every : EVERY.health;
  };
  return asked(`health of ${target.instance.name}`, every, async () => {
    count += 1;
    const wrong = await whatIsWrong(health, target);
    return wrong === undefined ? 'right' : { wrong };
  });
}

/** Runs the command of `watch.run` in an instance; undefined without one. */
export function commandSource(
  { run: command }: WatchRules,
  target: Target,
): WatchSource | undefined {
  if (command === undefined) return undefined;
  const { release: cwd, env, log, signal, confine } = target;
  return asked(
    `\`${command}\` of ${target.instance.name}`,
    () => EVERY.command,
    async () => {
      const confinement = confine('hook');
      const step = { stage: 'health' as const, command, cwd, env, timeout: PATIENCE, confinement };
      const { exit, output } = await tryStep(log, signal, shellStep(step));
      if (succeeded(exit)) return 'right';
      if (exit.interrupted) return { unknown: 'it was interrupted' };
      const last = output.trim().split('\n').at(-1) ?? '';
      return { wrong: [describeExit(exit, PATIENCE), last].filter(Boolean).join(': ') };
    },
  );
}

/** The query of `watch.query`: any result is bad, as of an alert. A server that does not answer says nothing. */
export function querySource({ query }: WatchRules, env: Env): WatchSource | undefined {
  if (!query) return undefined;
  const url = new URL('api/v1/query', query.url.replace(/\/*$/, '/'));
  url.searchParams.set('query', query.expr);
  const request = {
    method: 'GET',
    url: url.href,
    timeout: PATIENCE,
    limit: 1_048_576,
    env,
  } as const;
  return asked(
    `\`${query.expr}\``,
    () => EVERY.query,
    async () => {
      const answer = await send(request).catch((error) => {
        if (error instanceof Failure) return error;
        throw error;
      });
      if (answer instanceof Failure) return { unknown: answer.message };
      const { status, data, error } = jsonObject(answer.body) ?? {};
      const result = isObject(data) ? data.result : undefined;
      if (status !== 'success' || !Array.isArray(result))
        return {
          unknown: `status ${answer.status}: ${harmlessLine(String(error ?? 'no result')).slice(0, SHOWN_MAX)}`,
        };
      if (result.length === 0) return 'right';
      return { wrong: `it has ${result.length} ${result.length === 1 ? 'result' : 'results'}` };
    },
  );
}
