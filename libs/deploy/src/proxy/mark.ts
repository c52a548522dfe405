/** What the proxy has seen before a release gets its first request: what follows is its own. */
import type { ProxyMark } from '@runner/common/apps/watch';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { changeOwnState } from '../journal/journal.ts';
import type { Operation } from '../journal/operation.ts';
import { endOfLog } from './access-log.ts';
import { haproxyCounters } from './haproxy.ts';

export async function markProxy({ watch }: DeployFile): Promise<ProxyMark> {
  const { accessLog, haproxy: asked } = watch ?? {};
  const access_log = accessLog === undefined ? undefined : endOfLog(accessLog);
  const haproxy = asked && (await haproxyCounters(asked));
  return { ...(access_log && { access_log }), ...(haproxy && { haproxy }) };
}

/** What HAProxy has counted before the first release is errors of its own. An outage shows in a log. */
export const BEFORE_ALL: ProxyMark = { haproxy: { failed: 0, all: 0 } };

/** Parts that are remembered: a log is read back only so far. */
const UNUSUAL_MAX = 50;

/** Remembers that what was answered since `from` was not usual: its release is left for an earlier one. */
export async function noteUnusual(
  op: Operation,
  from: ProxyMark | undefined,
  file: DeployFile | undefined,
): Promise<void> {
  if (!from || !file) return;
  const to = await markProxy(file);
  const note = () =>
    changeOwnState(op, (now) => {
      // A kill has the same part noted once more.
      const others = (now.unusual ?? []).filter((each) => !isSame(each.from, from));
      return { ...now, unusual: [...others, { from, to }].slice(-UNUSUAL_MAX) };
    });
  unlessFailure(note, undefined);
}

const isSame = (one: ProxyMark, other: ProxyMark) => JSON.stringify(one) === JSON.stringify(other);
