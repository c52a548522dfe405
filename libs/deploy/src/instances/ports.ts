/** The ports that instances of registered apps listen on, if `.deploy.yml` shows them. */
import { networkInterfaces } from 'node:os';
import type { AppState } from '@runner/common/apps/state';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { expand } from '@runner/common/deploy-file/variables';
import type { Paths } from '@runner/common/foundation/paths';
import { listenersOn } from '../run/listeners.ts';
import { activeInstances } from './neighbours.ts';

const LOCAL = /^(?:localhost|127\.[0-9.]+|0\.0\.0\.0|\[?::1?\]?)$/;

/** The port of an address if it is on this machine: `http://127.0.0.1:8080/`, `localhost:8080`. */
export function localPort(address: string): number | undefined {
  const isUrl = /^https?:/.test(address);
  const text = isUrl ? address : `tcp://${address}`;
  if (!URL.canParse(text)) return undefined;
  const { hostname, port, protocol } = new URL(text);
  const own = () => Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!LOCAL.test(hostname) && !own().some(({ address: each }) => each === host)) return undefined;
  const usual = protocol === 'https:' ? 443 : 80;
  return port === '' ? (isUrl ? usual : undefined) : Number(port);
}

/**
 * The ports that an instance needs for itself: PORT, and that of its health check. 80 and 443 may be
 * a proxy's, which several instances share.
 */
export function portsOf({ start, health }: DeployFile, instance: Instance): number[] {
  if (start.type === 'none') return [];
  if (instance.traffic) return [...(instance.traffic.ports ?? [])];
  const checked =
    health && health.kind !== 'cmd' ? localPort(expand(health.target, instance.env)) : undefined;
  const ports = [Number(instance.env.PORT), checked];
  return [...new Set(ports)].filter(
    (port): port is number => port !== undefined && port > 0 && port !== 80 && port !== 443,
  );
}

/** An instance as a release starts it. */
type Occupant = { readonly file: DeployFile; readonly instance: Instance };

/** Those that have a port now which another instance needs next. */
export function inTheWay<T extends Occupant>(now: readonly T[], next: readonly Occupant[]): T[] {
  return now.filter((one) => {
    const ports = portsOf(one.file, one.instance);
    const others = next.filter(({ instance }) => instance.name !== one.instance.name);
    return others.some(({ file, instance }) =>
      portsOf(file, instance).some((port) => ports.includes(port)),
    );
  });
}

interface PortClaim {
  readonly app: string;
  readonly instance: string;
  readonly port: number;
}

function claimsOf(app: string, file: DeployFile): PortClaim[] {
  return file.instances.flatMap((instance) =>
    portsOf(file, instance).map((port) => ({ app, instance: instance.name, port })),
  );
}

/** What the active releases of an app need. */
function activeClaims(paths: Paths, app: AppState): PortClaim[] {
  return activeInstances(paths, app).flatMap(({ file, instance }) =>
    claimsOf(app.app, { ...file, instances: [instance] }),
  );
}

/** Ports that two instances need; `app` is that of the second one. */
function clashesOf(claims: readonly PortClaim[]) {
  return claims.flatMap((claim, index) => {
    const first = claims.findIndex(({ port }) => port === claim.port);
    const { app, instance, port } = claims[first] as PortClaim;
    if (first === index) return [];
    const users = `${app} (${instance}) and by ${claim.app} (${claim.instance})`;
    return [{ app: claim.app, problem: `port ${port} is used by ${users}: change one of them` }];
  });
}

/** Ports of a `.deploy.yml` that two of its instances, or other registered apps, need as well. */
export function portProblems(
  paths: Paths,
  apps: readonly AppState[],
  name: string,
  file: DeployFile,
): string[] {
  const others = apps.filter(({ app }) => app !== name);
  const own = claimsOf(name, file);
  const claims = [...others.flatMap((app) => activeClaims(paths, app)), ...own];
  const active = apps.flatMap((app) => activeClaims(paths, app).map(({ port }) => port));
  const isTaken = ({ port }: PortClaim) => !active.includes(port) && listenersOn(port).length > 0;
  // With `traffic` a version uses one of the ports, whichever is free.
  const hasOther = ({ instance }: PortClaim) =>
    file.instances.some(({ name: each, traffic }) => each === instance && traffic) &&
    own.some((claim) => claim.instance === instance && !isTaken(claim));
  // A unit may run before its first deploy, or systemd may hold its socket.
  const taken =
    file.start.type === 'systemd' ? [] : own.filter((claim) => isTaken(claim) && !hasOther(claim));
  return [
    ...clashesOf(claims).flatMap(({ app, problem }) => (app === name ? [problem] : [])),
    ...taken.map(({ instance, port }) => `port ${port} of ${instance} is used by another program`),
  ];
}

/** Ports that two active instances of registered apps need. */
export function portClashes(paths: Paths, apps: readonly AppState[]) {
  return clashesOf(apps.flatMap((app) => activeClaims(paths, app)));
}
