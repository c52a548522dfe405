/** What the short and the long tests of proxies share. */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { makeStand, type Stand } from './stand.ts';

export const PLACES: Readonly<Record<string, string>> = {
  nginx: '/usr/sbin/nginx',
  caddy: '/usr/bin/caddy',
  haproxy: '/usr/sbin/haproxy',
};

/** A stand with the real program; systemctl is a stand-in. */
export function standWith(proxy: string, deployFile?: string): Stand | undefined {
  const program = PLACES[proxy] ?? '';
  if (!existsSync(program)) return undefined;
  const stand = makeStand(deployFile, []);
  symlinkSync(program, stand.path(`bin/${proxy}`));
  const log = `error_log stderr; pid ${stand.path('pid')};`;
  stand.write(
    'etc/nginx/nginx.conf',
    `${log} events {} http { access_log off; include conf.d/*.conf; }\n`,
  );
  mkdirSync(stand.path('etc/haproxy'));
  stand.write('etc/haproxy/haproxy.cfg', 'global\n  maxconn 100\n');
  return stand;
}
