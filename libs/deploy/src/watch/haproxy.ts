/** Source `requests` of HAProxy: the counters of a backend. */
import type { ProxySpan } from '@runner/common/apps/watch';
import type { WatchRules } from '@runner/common/deploy-file/watch';
import { type HaproxyCounters, haproxyCounters } from '../proxy/haproxy.ts';
import { failureTest } from './requests.ts';
import { Presence, type WatchSource } from './source.ts';

/** What was counted before without what was not usual: that ends earlier, unless HAProxy was started again since. */
function usualOf(before: HaproxyCounters, unusual: readonly ProxySpan[]): HaproxyCounters {
  let { failed, all } = before;
  for (const { from, to } of unusual) {
    if (!from.haproxy || !to.haproxy || to.haproxy.all > before.all) continue;
    failed = Math.max(0, failed - Math.max(0, to.haproxy.failed - from.haproxy.failed));
    all = Math.max(failed, all - Math.max(0, to.haproxy.all - from.haproxy.all));
  }
  return { failed, all };
}

/** undefined if `.deploy.yml` names no HAProxy. `before`: its counters before the first request of the release. */
export function haproxySource(
  { haproxy, errors }: WatchRules,
  before: HaproxyCounters | undefined,
  unusual: readonly ProxySpan[],
): WatchSource | undefined {
  if (!haproxy) return undefined;
  const { socket, backend } = haproxy;
  const presence = new Presence(socket);
  let last = before;
  const usual = before && usualOf(before, unusual);
  let failures = usual && failureTest(usual.failed, usual.all, errors);
  return {
    name: 'requests',
    isOfProxy: true,
    every: 1_000,
    async look() {
      const now = await haproxyCounters(haproxy);
      presence.note(now !== undefined);
      if (!now) return;
      failures ??= failureTest(now.failed, now.all, errors);
      // HAProxy was started again: it counts from the beginning.
      const from = last && now.all >= last.all ? last : { failed: 0, all: 0 };
      if (last) failures.test.add(Math.max(0, now.failed - from.failed), now.all - from.all);
      last = now;
    },
    get finding() {
      return presence.finding(failures?.test.finding ?? 'open');
    },
    get words() {
      if (!failures) return `${socket} does not say anything of ${backend}`;
      return presence.words(failures.words());
    },
  };
}
