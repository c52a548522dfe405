/**
 * Who may use the socket of a slot when the unit of the app runs as another user: that user makes it,
 * runner and the proxies write to it. Access lists say so, which need neither root nor a group and give
 * no one else a right. The sticky bit keeps what runner put into the folder from being replaced.
 */
import { chmodSync, fstatSync } from 'node:fs';
import { socketIn } from '@runner/common/apps/slots';
import { readConfig } from '@runner/common/config/file';
import { pick } from '@runner/common/config/settings';
import { userName } from '@runner/common/files/person';
import type { Folder } from '@runner/common/files/tree';
import { closing } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { StepFailure } from '../run/step.ts';
import { socketAt } from './dial.ts';
import { ask } from './drivers/ask.ts';
import { driverFor } from './drivers/choose.ts';
import type { Target } from './drivers/driver.ts';
import { proxies } from './proxies.ts';

/** Gives the rights in the slot before the target is started. Throws a StepFailure of stage `start`. */
export function grantSocket({ paths }: Server, target: Target, slot: Folder): void {
  const { dir: folder } = target.paths;
  const maker = driverFor(target.start).user?.(target);
  if (target.instance.traffic?.type !== 'socket' || maker === undefined) return;
  const users = [maker, String(process.geteuid?.()), ...proxyUsers(readConfig(paths))];
  const rights = users.flatMap((user) => [
    `u:${user}:${user === maker ? 'rwx' : 'x'}`,
    `d:u:${user}:rw`,
  ]);
  slot.chmod(0o1711);
  const args = ['--modify', rights.join(','), '--', folder];
  if (ask('setfacl', args, { env: target.outerEnv }).status === 0) return;
  const words = `${maker}, the user of the unit, cannot be let into ${folder}: setfacl failed; is the package acl installed?`;
  throw new StepFailure('start', `start: ${words}`, { blame: 'server' });
}

/** Checks that the socket is there and the proxy may write to it. Throws a StepFailure of stage `traffic`. */
export function openSocket({ paths, instance, env }: Target): void {
  if (instance.traffic?.type !== 'socket') return;
  const fd = socketAt(socketIn(paths.dir));
  if (fd === undefined) {
    throw new StepFailure('traffic', `traffic: the app did not open ${env.PORT}`);
  }
  using _file = closing(fd);
  const { mode: all, uid } = fstatSync(fd);
  const mode = all & 0o777;
  if (uid === process.geteuid?.()) {
    if (mode !== 0o666) chmodSync(`/proc/self/fd/${fd}`, 0o666);
  } else if ((mode & 0o022) === 0) {
    const words = `the socket of ${userName(uid)} has mode 0${mode.toString(8)}: with UMask=0007 in its unit the proxy may use it, and no one else`;
    throw new StepFailure('traffic', `traffic: ${words}`, { blame: 'server' });
  }
}

/** `proxy_user` of config.yml; without it the users of the proxies that run. */
function proxyUsers(config: ReturnType<typeof readConfig>): string[] {
  const named = pick(config, ['proxy_user'], []).get('proxy_user') as string | undefined;
  return named === undefined ? proxies().map(({ uid }) => String(uid)) : [named];
}
