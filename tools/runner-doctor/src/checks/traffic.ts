/** Apps with `traffic`: only the live slot runs, and the proxies can reach it. */
import { lstatSync } from 'node:fs';
import { removalOf } from '@runner/common/apps/preview';
import {
  asleepSince,
  holdFolder,
  isHeld,
  liveSlot,
  otherSlot,
  slotPaths,
  socketIn,
} from '@runner/common/apps/slots';
import type { AppState, InstanceState } from '@runner/common/apps/state';
import { allNames, listApps } from '@runner/common/apps/store';
import type { Instance, Traffic } from '@runner/common/deploy-file/instance';
import { bootId } from '@runner/common/files/process';
import type { InstancePaths, Paths, Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { fileOfRelease } from '@runner/deploy/instances/kept-file';
import { placeIn } from '@runner/deploy/instances/place';
import { closedSockets, obstructions, proxies } from '@runner/deploy/instances/proxies';
import { isOpen } from '@runner/deploy/instances/reach';
import { isShared } from '@runner/deploy/instances/rights';
import { type Findings, ok, orOk, problem, warning } from '../foundation/finding.ts';

export async function traffic({ paths }: Server): Promise<Findings> {
  const { apps } = listApps(paths, allNames(paths));
  const all = apps.flatMap((app) => (removalOf(app) ? [] : instancesOf(paths, app)));
  if (all.length === 0) return ok('no app has traffic');
  const found = await Promise.all(all.map((each) => examine(paths, each)));
  return orOk(found.flat(), 'every live slot answers, and every proxy can reach it');
}

interface TrafficInstance {
  readonly app: string;
  readonly instance: Instance;
  readonly state: InstanceState;
}

/** Without those that an operator stopped: nothing has to answer there. */
function instancesOf(paths: Paths, { app, instances, stopped }: AppState): TrafficInstance[] {
  return Object.entries(instances).flatMap(([name, state]) => {
    if (stopped?.instances.includes(name)) return [];
    const file = state.current && fileOfRelease(paths, app, state.current);
    const instance = file?.instances.find((each) => each.name === name);
    return instance?.traffic ? [{ app, instance, state }] : [];
  });
}

async function examine(paths: Paths, { app, instance, state }: TrafficInstance): Promise<Findings> {
  const { name, traffic } = instance;
  const own = paths.app(app).instance(name);
  const live = liveSlot(own);
  if (!traffic || !state.current) return [];
  const again = `runner rollback ${app} --to ${word(state.current.version)} --instance ${name}`;
  if (live === undefined)
    return problem(`${own.dir}/live is missing: ${app} gets no requests`, again);
  const { PORT: address } = placeIn(instance, own, live).env;
  const found: Findings[] = [];
  if (asleepSince(own)) {
    const closed = inTheWay(own, traffic);
    if (await isOpen(paths.wakerSocket)) return closed;
    const words = `${app} sleeps, and nothing listens on ${paths.wakerSocket} to wake it`;
    return [problem(words, 'systemctl enable --now runner-waker.socket'), ...closed];
  }
  if (!(await isOpen(address)))
    found.push(problem(`nothing listens on ${address}, where the requests of ${app} go`, again));
  if (isHeld(own) && !(await isOpen(socketIn(holdFolder(own))))) {
    const words = `requests of ${app} fail: the process that held them has died`;
    found.push(problem(words, `runner fetch ${word(app)}`));
  }
  if (traffic.type === 'socket') found.push(closedToAll(app, socketIn(slotPaths(own, live).dir)));
  const other = state.slots?.[otherSlot(live)];
  if (other && !state.draining)
    found.push(
      warning(
        `${other.version} of ${app} is still running in slot ${otherSlot(live)}`,
        `runner deploy ${app}`,
      ),
    );
  if (traffic.run !== undefined && state.slots?.[live]?.boot_id !== bootId())
    found.push(warning(`the traffic command of ${app} has not run since the last boot`, again));
  if (state.before_traffic)
    found.push(
      warning(
        `${state.before_traffic.version} of ${app} is still running outside its slots`,
        `runner stop ${app} --before-traffic`,
      ),
    );
  const closed = traffic.type === 'socket' ? closedSockets(app, own) : [];
  const shut = closed.map(({ words, fix }) => problem(words, fix));
  return [...found, ...inTheWay(own, traffic), ...shut];
}

/** Of several proxies, only one may be that of the app. */
function inTheWay(paths: InstancePaths, traffic: Traffic): Findings[] {
  const { found, isReached } = obstructions(paths, traffic);
  return found.map(({ words, fix }) => (isReached ? warning : problem)(words, fix));
}

/** The proxy runs as another user, which must be able to write to the socket. */
function closedToAll(app: string, path: string): Findings {
  const found = lstatSync(path, { throwIfNoEntry: false });
  // Of a proxy that runs, closedSockets says more.
  if (!found || (found.mode & 0o002) !== 0 || proxies().length > 0 || isShared(path, 0o2))
    return [];
  return warning(`other users cannot write to ${path}`, `runner restart ${word(app)}`);
}
