/** The sites of an app's domains, for the proxy that is installed, with TLS. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { liveLink, liveSlot, socketIn } from '@runner/common/apps/slots';
import type { Instance } from '@runner/common/deploy-file/instance';
import { domainsOfOthers } from '@runner/deploy/instances/neighbours';
import { haproxyNote, socketProblem } from '@runner/deploy/instances/reach';
import { may } from '@runner/deploy/instances/rights';
import { etcOf } from '@runner/deploy/instances/setup-record';
import { ended, isInstalled } from '../app/programs.ts';
import { liveCertificate } from '../steps/kinds.ts';
import type { Thing } from '../steps/thing.ts';
import type { AppNeeds, NeededThings } from './needs.ts';
import { chooseProxy, type ProxyName, proxyUser } from './proxy.ts';
import { caddyThings, certbotFor, haproxyThings, nginxThings } from './site-files.ts';
import type { Site, SiteTarget } from './site-text.ts';

/** An app that starts nothing is there for its site. */
function noDomainWords({ file, choices }: AppNeeds): string {
  if (file.start.type !== 'none' && choices.public === undefined)
    return 'no site is needed: no instance has a domain';
  const line = 'instances: { default: { domain: www.example.org } }';
  return `no site is made: no instance has a domain: write ${line} into .deploy.yml, and deploy it`;
}

export function siteThings(needs: AppNeeds): NeededThings {
  const withDomain = needs.file.instances.filter(({ domain }) => domain !== undefined);
  if (withDomain.length === 0)
    return {
      things: ownSiteThings(needs),
      notes: [noDomainWords(needs)],
    };
  if (needs.choices.proxy === 'none') return { things: [], notes: [] };
  const proxy = chooseProxy(needs);
  if (proxy === undefined) {
    const words = `no proxy is installed, so ${withDomain[0]?.domain} has no site: install nginx, Caddy or HAProxy, then run setup again`;
    return { things: [], notes: [words] };
  }
  const chosen = withDomain.map((instance) => siteOf(needs, instance, proxy));
  const sites = chosen.flatMap((each) => (typeof each === 'string' ? [] : [each]));
  const skipped = chosen.flatMap((each) => (typeof each === 'string' ? [each] : []));
  const slotted = sites.filter(isSlotted).map(({ instance }) => instance);
  const pass = [...passThings(needs, proxy, slotted), ...folderThings(needs, proxy, withDomain)];
  if (sites.length === 0) return { things: pass, notes: skipped };
  const { things, notes } = filesOf(needs, sites, proxy);
  if (isTooEarly(needs, sites)) {
    const words = `the site of ${sites[0]?.domain} leads to the running version until one with traffic is deployed: then run sudo runner setup ${needs.app} again`;
    return { things: pass, later: things, notes: [...skipped, words] };
  }
  return {
    things: [...pass, ...things, ...certificateThings(needs, sites, proxy)],
    notes: [
      ...skipped,
      ...notes,
      ...tlsNotes(needs, sites, proxy),
      ...socketNotes(needs, sites, proxy),
    ],
  };
}

/** Without a domain the site is the operator's, and leads to the slots as well. */
function ownSiteThings(needs: AppNeeds): Thing[] {
  const slotted = needs.file.instances
    .filter(({ traffic }) => traffic && traffic.type !== 'command')
    .map(({ name }) => name);
  if (slotted.length === 0 || needs.choices.proxy === 'none') return [];
  const proxy = chooseProxy(needs);
  return proxy === undefined ? [] : passThings(needs, proxy, slotted);
}

/** Each start opens the socket to the proxies that run then: another one has to wait for the next. */
function socketNotes(needs: AppNeeds, sites: readonly Site[], proxy: ProxyName): string[] {
  const { app, machine } = needs;
  const user = proxyUser(needs, proxy);
  const uid = Number(ended(machine.env, ['id', '-u', '--', user]).stdout);
  const isClosed = ({ target }: Site) =>
    'socket' in target && uid > 0 && !may({ uid, groups: [] }, target.socket, 0o2);
  return sites.some(isClosed)
    ? [`${user} may not write to the socket of ${app} yet: runner restart ${app}`]
    : [];
}

/** Whether requests go to one of two slots. */
const isSlotted = ({ target }: Site) => 'socket' in target || 'ports' in target;

/** Whether what runs now is not in a slot yet: the site would lead to nothing. */
function isTooEarly({ app, facts, machine }: AppNeeds, sites: readonly Site[]): boolean {
  const isEmpty = ({ instance }: Site) =>
    liveSlot(machine.server.paths.app(app).instance(instance)) === undefined;
  return facts.active && sites.some((site) => isSlotted(site) && isEmpty(site));
}

/** Labels neither begin nor end with `-`: the name is an argument of certbot. */
const HOST = /^(?!-)[a-z0-9-]+(?:(?<!-)\.(?!-)[a-z0-9-]+)*(?<!-)$/i;

/** Whether Let's Encrypt may know the name: not an address, nor one that only this server or network knows. */
const isPublic = ({ domain }: Pick<Site, 'domain'>) =>
  /\.(?!localhost$)(?=[a-z0-9-]*[a-z])[a-z0-9-]+$/i.test(domain);

/** The site of an instance, or why it has none. */
function siteOf(needs: AppNeeds, instance: Instance, proxy: ProxyName): Site | string {
  const { name, domain = '' } = instance;
  const { paths } = needs.machine.server;
  const [shared] = domainsOfOthers(paths, needs.app, { ...needs.file, instances: [instance] });
  if (shared !== undefined) return shared;
  if (!HOST.test(domain)) return `${domain} is not the name of a host: its site is yours to write`;
  const target = targetOf(needs, instance, proxy);
  if (typeof target === 'string') return target;
  const { env } = needs.machine;
  const { cert, key } = needs.choices;
  const own = cert !== undefined && key !== undefined ? { cert, key } : undefined;
  const live = liveCertificate(env, domain);
  const isThere = existsSync(live.cert) || (needs.certified && isPublic({ domain }));
  const found = proxy !== 'caddy' && isThere ? live : undefined;
  return { app: needs.app, instance: name, domain, target, tls: own ?? found };
}

function targetOf(needs: AppNeeds, instance: Instance, proxy: ProxyName): SiteTarget | string {
  const { name, domain, env, traffic } = instance;
  const own = needs.machine.server.paths.app(needs.app).instance(name);
  if (isFiles(needs, instance)) {
    if (proxy === 'haproxy')
      return `HAProxy serves no files: the site of ${domain} needs nginx or Caddy`;
    // Which folder of a release is public only its author knows: the release has the sources as well.
    const { public: folder } = needs.choices;
    const root = folder !== undefined && join(own.dir, 'current', folder);
    if (root && existsSync(join(root, 'index.php')))
      return `${folder}/index.php needs PHP-FPM, which setup does not know: the site of ${domain} is yours to write`;
    if (root) return { root };
    return `nothing is started: add --public with the folder that the site of ${domain} shows, such as dist, or . for the whole release`;
  }
  if (traffic?.type === 'command')
    return `traffic.run moves the requests of ${name}: its site is yours to write`;
  if (traffic?.ports) {
    if (proxy === 'nginx') return { ports: traffic.ports, live: liveLink(own) };
    return `traffic with ports works with nginx only: use traffic: socket, or --proxy nginx`;
  }
  if (traffic) {
    const problem =
      socketProblem(own, { type: 'socket' }) ??
      (proxy === 'haproxy' ? haproxyNote(own) : undefined);
    return problem ?? { socket: socketIn(liveLink(own)) };
  }
  const port = Number(env.PORT);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return { port };
  return `${name} has neither traffic nor a PORT in its env, so its domain has no site`;
}

/** The proxy enters the folders above the slots, also one that is there already and is closed. */
function passThings(needs: AppNeeds, proxy: ProxyName, names: readonly string[]): Thing[] {
  if (names.length === 0) return [];
  const { root, app } = needs.machine.server.paths;
  const { dir, instances, instance } = app(needs.app);
  const user = proxyUser(needs, proxy);
  const own = names.map((name) => instance(name).dir);
  return [
    ...[instances, ...own].map((path): Thing => ({ kind: 'folder', path })),
    ...[root, join(root, 'apps'), dir, instances, ...own].map(
      (path): Thing => ({ kind: 'access', path, user, rights: 'x' }),
    ),
  ];
}

/** The proxy reads the releases of an app of files; HAProxy serves none. */
function folderThings(needs: AppNeeds, proxy: ProxyName, all: readonly Instance[]): Thing[] {
  const names = all.filter((each) => isFiles(needs, each)).map(({ name }) => name);
  if (names.length === 0 || proxy === 'haproxy') return [];
  const { releases: path } = needs.machine.server.paths.app(needs.app);
  const user = proxyUser(needs, proxy);
  return [
    ...passThings(needs, proxy, names),
    { kind: 'folder', path },
    { kind: 'access', path, user, rights: 'rX' },
  ];
}

const isFiles = ({ file }: AppNeeds, { env, traffic }: Instance) =>
  file.start.type === 'none' && !traffic && env.PORT === undefined;

function filesOf(needs: AppNeeds, sites: readonly Site[], proxy: ProxyName): NeededThings {
  if (proxy === 'nginx') return { things: nginxThings(needs, sites), notes: [] };
  if (proxy === 'caddy') return { things: caddyThings(needs, sites), notes: linkNotes(sites) };
  return haproxyThings(needs, sites);
}

/** nginx can refuse links to the files of others. */
const linkNotes = (sites: readonly Site[]) =>
  sites
    .filter(({ target }) => 'root' in target)
    .map(
      ({ domain }) =>
        `Caddy follows links: a commit can show on ${domain} what the user caddy may read`,
    );

/** Caddy gets its certificates; certbot gets them for the others, or a person does. */
function tlsNotes({ app, machine: { env } }: AppNeeds, sites: readonly Site[], proxy: ProxyName) {
  if (proxy === 'caddy') return [];
  const without = sites.filter(({ tls }) => !tls);
  return without.flatMap((site) => {
    const { domain } = site;
    if (!isPublic(site))
      return `${domain} has no TLS: Let's Encrypt gives no certificate for it; add --cert and --key for one of your own`;
    if (isInstalled(env, 'certbot')) return [];
    return `${domain} has no certificate yet: sudo apt-get install certbot && sudo runner setup ${app}`;
  });
}

/** The certificates to get once the sites answer, and those that certbot has. */
function certificateThings(needs: AppNeeds, sites: readonly Site[], proxy: ProxyName): Thing[] {
  const { env } = needs.machine;
  if (proxy === 'caddy') return [];
  const isCertbots = ({ domain, tls }: Site) =>
    tls ? tls.cert === liveCertificate(env, domain).cert : isInstalled(env, 'certbot');
  return sites
    .filter((site) => isPublic(site) && isCertbots(site))
    .map(({ domain }): Thing => {
      const run = certbotFor(domain, proxy, join(etcOf(env), 'runner/acme'));
      return { kind: 'certificate', domain, run };
    });
}
