/** The end of one deploy that `runner cancel` asks for: a signal would end all deploys of a fetch. */
import { holderOf } from '@runner/common/files/lock';
import type { FetchRequest } from './request.ts';

/** Between two looks, in milliseconds. */
const POLL = 200;

/** Aborted once the deploy of an app that this process runs is to end; `done` stops looking. */
export function cancelledOf({ io, paths }: Pick<FetchRequest, 'io' | 'paths'>, app: string) {
  const controller = new AbortController();
  const timer = setInterval(() => {
    const { deploy_id: wanted } = holderOf(paths.cancel(app));
    if (wanted === undefined) return;
    const { pid, deploy_id: id } = holderOf(paths.lock(app));
    if (pid === io.pid && id === wanted) controller.abort();
  }, POLL);
  return { signal: controller.signal, done: () => clearInterval(timer) };
}
