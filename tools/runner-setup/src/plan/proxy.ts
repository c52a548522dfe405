/** Which proxy an app is behind, and as which user it runs. */
import { userName } from '@runner/common/files/person';
import { Failure, usage } from '@runner/common/foundation/failure';
import { proxies, unreadable } from '@runner/deploy/instances/proxies';
import { accountOf, ended, isInstalled } from '../app/programs.ts';
import type { AppNeeds } from './needs.ts';

export const PROXIES = ['nginx', 'caddy', 'haproxy'] as const;
export type ProxyName = (typeof PROXIES)[number];

/** The usual users of their packages. */
const USERS: Readonly<Record<ProxyName, readonly string[]>> = {
  nginx: ['www-data', 'nginx'],
  caddy: ['caddy'],
  haproxy: ['haproxy'],
};

/** The proxy that is chosen or installed; undefined without one. Throws `usage` if there are several. */
export function chooseProxy({ choices, machine: { env } }: AppNeeds): ProxyName | undefined {
  const chosen = PROXIES.find((each) => each === choices.proxy);
  if (chosen !== undefined) {
    if (isInstalled(env, chosen)) return chosen;
    throw usage(`${chosen} is not installed: install it, or choose another with --proxy`);
  }
  const found = PROXIES.filter((each) => isInstalled(env, each));
  if (found.length > 1)
    throw usage(`${found.join(' and ')} are installed: choose one with --proxy`);
  return found[0];
}

/** `proxy_user` of config.yml, the user of the running proxy, or that of its package. */
export function proxyUser({ facts, machine: { env } }: AppNeeds, proxy: ProxyName): string {
  const running = proxies().find(({ program }) => program === proxy);
  const [usual = ''] = USERS[proxy];
  const named = facts.proxy_user ?? (running && userName(running.uid));
  return named ?? USERS[proxy].find((each) => accountOf(env, each).length > 0) ?? usual;
}

/** Caddy reads a certificate of the operator's as its own user, the others as root. Throws `file_unreadable`. */
export function requireReadable(needs: AppNeeds): void {
  const { env } = needs.machine;
  const { cert, key } = needs.choices;
  const user = proxyUser(needs, 'caddy');
  const ids = (flag: string) =>
    ended(env, ['id', flag, '--', user]).stdout.trim().split(' ').map(Number);
  const [uid = 0] = ids('-u');
  if (uid === 0 || cert === undefined || key === undefined) return;
  const found = unreadable({ uid, groups: ids('-G') }, user, [cert, key]);
  if (found) throw new Failure('file_unreadable', `${found.words}: ${found.fix}`);
}
