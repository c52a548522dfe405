/** What the proxy has seen before a release gets its first request: what follows is its own. */
import type { ProxyMark } from '@runner/common/apps/state';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { endOfLog } from './access-log.ts';
import { haproxyCounters } from './haproxy.ts';

export async function markProxy({ watch }: DeployFile): Promise<ProxyMark> {
  const { accessLog, haproxy: asked } = watch ?? {};
  const access_log = accessLog === undefined ? undefined : endOfLog(accessLog);
  const haproxy = asked && (await haproxyCounters(asked));
  return { ...(access_log && { access_log }), ...(haproxy && { haproxy }) };
}
