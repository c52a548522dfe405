/** What is around a release and decides what runs: the links of its instance, and the files with its environment. */
import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { openSecrets, variablesOf } from '@runner/common/app-secrets/open';
import { isStopped } from '@runner/common/apps/operator';
import { liveLink, liveSlot, slotPaths } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { foreignOwner } from '@runner/common/files/foreign-root';
import { readTextIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import type { AppPaths, InstancePaths, Server } from '@runner/common/foundation/paths';
import { envFileText, existingEnvFile } from '../instances/env-file.ts';
import { placeIn, slotOf } from '../instances/place.ts';
import { stepEnvironment } from '../run/environment.ts';
import type { Difference } from './tree.ts';

/** Bytes of a file with an environment. */
const ENV_MAX = 16_777_216;

/** An instance and the release that the state names. */
export interface Surrounded extends Server {
  readonly app: AppState;
  readonly file: DeployFile;
  readonly instance: Instance;
  readonly release: string;
}

/** Folders that lead to a release and are links: what they name can be changed elsewhere. */
export function folderDifferences(app: AppPaths, instance: string, release: string): Difference[] {
  const own = app.instance(instance);
  const slot = slotPaths(own, liveSlot(own));
  const of = [app.dir, app.releases, app.release(release), app.instances, own.dir, slot.dir];
  return [...new Set(of)].flatMap((path): Difference[] => {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? [{ what: 'link', path, change: 'kind' }] : [];
  });
}

/** Links that do not lead where the state says. */
export function linkDifferences({ app, paths, instance, release }: Surrounded): Difference[] {
  const own = paths.app(app.app).instance(instance.name);
  const direct = ({ current }: InstancePaths) => relative(dirname(current), release);
  if (!instance.traffic) return differing(own.current, direct(own));
  const slot = liveSlot(own);
  const name = release.slice(release.lastIndexOf('/') + 1);
  // What is stopped is in no slot by the state: then the slot that the link names must have it.
  const wanted = slot && (slotOf(app.instances[instance.name]?.slots, slot, name) ?? slot);
  if (!slot || slot !== wanted) return [{ what: 'link', path: liveLink(own), change: 'changed' }];
  const inSlot = placeIn(instance, own, slot).paths;
  return [...differing(own.current, 'live/current'), ...differing(inSlot.current, direct(inSlot))];
}

function differing(path: string, wanted: string): Difference[] {
  const target = orElse(() => readlinkSync(path, { encoding: 'buffer' }), undefined);
  if (target?.equals(Buffer.from(wanted))) return [];
  return [{ what: 'link', path, change: target ? 'changed' : 'removed' }];
}

/** Files from which a unit or compose takes the environment, and that are not as runner wrote them. Throws what opening a secret throws. */
export function environmentDifferences(place: Surrounded): Difference[] {
  const { io, paths, app, file, instance } = place;
  const own = paths.app(app.app).instance(instance.name);
  const { slot, paths: inSlot, env } = placeIn(instance, own, instance.traffic && liveSlot(own));
  const slotFile = slot && fileDifferences(join(inSlot.dir, 'env'), linesOf(env));
  if (file.start.type !== 'systemd' && file.start.type !== 'compose') return slotFile ?? [];
  const values = variablesOf(openSecrets(paths, io.env, app.app).started(instance.name));
  const where = { app: app.app, instance, paths: own, env: stepEnvironment(io.env) };
  const path = existingEnvFile(where);
  const wanted = envFileText(values);
  if (path !== undefined) return [...(slotFile ?? []), ...fileDifferences(path, wanted)];
  // Root does not see the runtime folder of another user.
  const isNoneToSee = wanted === '' || foreignOwner(io.uid, paths) !== undefined;
  const gone = { what: 'env' as const, path: `${instance.name}.env`, change: 'removed' as const };
  return [...(slotFile ?? []), ...(isNoneToSee || isStopped(app, instance.name) ? [] : [gone])];
}

const linesOf = ({ PORT = '', RUNNER_SLOT = '' }: Readonly<Record<string, string>>) =>
  `PORT=${PORT}\nRUNNER_SLOT=${RUNNER_SLOT}\n`;

function fileDifferences(path: string, wanted: string): Difference[] {
  const text = orElse(() => readTextIfThere(path, ENV_MAX) ?? 'gone', undefined);
  if (text === wanted) return [];
  const change = text === 'gone' ? 'removed' : wanted === '' ? 'added' : 'changed';
  return [{ what: 'env', path, change }];
}
