/** The files of each proxy, its test, and how it takes them up. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn, readTextIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { nameOf } from '@runner/deploy/instances/reach';
import { etcOf, SETUP_FILE_MAX } from '@runner/deploy/instances/setup-record';
import type { Argv } from '../app/programs.ts';
import type { ReloadThing, Thing } from '../steps/thing.ts';
import type { AppNeeds, NeededThings } from './needs.ts';
import {
  ACME_PORT,
  caddyText,
  haproxyEntrance,
  haproxyMapLine,
  haproxyText,
  nginxText,
  type Site,
} from './site-text.ts';

const pathsOf = (things: readonly Thing[]) =>
  things.flatMap((each) => (each.kind === 'file' || each.kind === 'line' ? [each.path] : []));

const hasIpv6 = () => existsSync('/proc/net/if_inet6');

/** The test and the reload of a proxy, for the files before it. */
function withReload(
  things: readonly Thing[],
  name: string,
  test: Argv,
  how: Partial<Pick<ReloadThing, 'run' | 'back'>> = {},
): Thing[] {
  const run: Argv[] = [['systemctl', 'reload-or-restart', name]];
  const back: Argv[] = [['systemctl', 'try-reload-or-restart', name]];
  return [...things, { kind: 'reload', name, test, run, back, ...how, paths: pathsOf(things) }];
}

export function nginxThings({ app, machine: { env } }: AppNeeds, sites: readonly Site[]): Thing[] {
  const etc = etcOf(env);
  const acme = join(etc, 'runner/acme');
  const path = join(etc, `nginx/conf.d/runner-${app}.conf`);
  const text = nginxText(app, sites, hasIpv6(), acme);
  const test: Argv = ['nginx', '-t', '-c', join(etc, 'nginx/nginx.conf')];
  const site: Thing = { kind: 'file', path, text };
  return withReload([{ kind: 'folder', path: acme }, site], 'nginx', test);
}

export function caddyThings({ app, machine: { env } }: AppNeeds, sites: readonly Site[]): Thing[] {
  const main = join(etcOf(env), 'caddy/Caddyfile');
  const path = join(etcOf(env), `caddy/runner/${app}.caddyfile`);
  const site: Thing[] = [
    { kind: 'file', path, text: caddyText(app, sites) },
    { kind: 'line', path: main, line: 'import runner/*.caddyfile' },
  ];
  const test: Argv = ['caddy', 'validate', '--adapter', 'caddyfile', '--config', main];
  return withReload(site, 'caddy', test);
}

export function haproxyThings(needs: AppNeeds, sites: readonly Site[]): NeededThings {
  const { app, machine } = needs;
  const etc = etcOf(machine.env);
  const folder = join(etc, 'haproxy/runner');
  const main = join(etc, 'haproxy/haproxy.cfg');
  const file = (path: string, text: string): Thing => ({ kind: 'file', path, text });
  const isTls = sites.some(({ tls }) => tls);
  const links = sites.flatMap(({ domain, tls }): Thing[] => {
    if (!tls) return [];
    const at = join(folder, `certs/${domain}.pem`);
    // HAProxy looks for the key beside the certificate.
    return [
      { kind: 'file', path: at, to: tls.cert },
      { kind: 'file', path: `${at}.key`, to: tls.key },
    ];
  });
  const map = join(folder, 'domains.map');
  const things: Thing[] = [
    ...links,
    ...sites.map((site): Thing => ({ kind: 'line', path: map, line: haproxyMapLine(site) })),
    file(join(folder, 'http.cfg'), haproxyEntrance(folder, false, hasIpv6())),
    ...(isTls ? [file(join(folder, 'https.cfg'), haproxyEntrance(folder, true, hasIpv6()))] : []),
    file(join(folder, `${app}.cfg`), haproxyText(app, sites)),
    file(join(etc, 'systemd/system/haproxy.service.d/runner.conf'), dropIn(folder)),
  ];
  const test: Argv = ['haproxy', '-c', '-f', main, '-f', folder];
  const daemon: Argv = ['systemctl', 'daemon-reload'];
  const run: Argv = ['systemctl', readsFolder(folder) ? 'reload-or-restart' : 'restart', 'haproxy'];
  const back: Argv = ['systemctl', 'try-restart', 'haproxy'];
  const hasChroot = /^\s*chroot\s/m.test(
    orElse(() => readTextIfThere(main, SETUP_FILE_MAX), '') ?? '',
  );
  const isHidden = hasChroot && sites.some(({ target }) => 'socket' in target);
  const words = `HAProxy cannot reach the socket of ${app} from its chroot: remove the line chroot from ${main}, then run systemctl restart haproxy`;
  return {
    things: withReload(things, 'haproxy', test, { run: [daemon, run], back: [daemon, back] }),
    notes: isHidden ? [words] : [],
  };
}

/** Adds a folder to the configuration that the unit of the package reads. */
const dropIn = (folder: string) => `# Made by \`runner setup\`, for all apps.
[Service]
Environment="EXTRAOPTS=-S /run/haproxy-master.sock -f ${folder}"
`;

/** Whether the HAProxy that runs was started with the folder: a reload keeps its options. */
function readsFolder(folder: string): boolean {
  return namesIn('/proc').some((pid) => {
    if (!/^\d+$/.test(pid) || nameOf(Number(pid)) !== 'haproxy') return false;
    const line = orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '');
    return line.split('\0').includes(folder);
  });
}

/** How certbot proves that the domain leads here: through the proxy that runs. It may have no account yet. */
export function certbotFor(domain: string, proxy: string, acme: string): Argv {
  const how =
    proxy === 'nginx'
      ? ['--webroot', '--webroot-path', acme]
      : ['--standalone', '--http-01-port', String(ACME_PORT)];
  const hook = ['--deploy-hook', `systemctl reload ${proxy}`];
  const account = ['--agree-tos', '--register-unsafely-without-email'];
  return ['certbot', 'certonly', '--domain', domain, ...how, ...hook, ...account];
}
