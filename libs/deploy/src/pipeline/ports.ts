/** Whether the ports of a commit are free for its instances. */
import { readFileSync } from 'node:fs';
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import type { DeployFile, Instance } from '@runner/common/deploy-file/read';
import { expand } from '@runner/common/deploy-file/variables';
import type { Paths } from '@runner/common/foundation/paths';
import { fileOfRelease } from '../instances/kept-file.ts';

/** A sentence for each port that something else has. */
export function portProblems(paths: Paths, app: AppState, file: DeployFile): string[] {
  const taken = portsOfApps(paths);
  const listening = listeningPorts();
  return file.instances.flatMap((instance) => {
    const port = portOf(file, instance);
    if (port === undefined) return [];
    const owners = taken.filter((each) => each.port === port);
    const isOurs = owners.some((owner) => owner.app === app.app);
    const other = owners.find((owner) => owner.app !== app.app);
    // A unit may run already, or systemd may hold its socket.
    const isUsed = listening.has(port) && !isOurs && file.start.type !== 'systemd';
    const by = other ? `${other.instance} of ${other.app}` : isUsed ? 'another program' : undefined;
    return by ? [`health: port ${port} of ${instance.name} is in use by ${by}`] : [];
  });
}

/** The ports of all active instances. */
function portsOfApps(paths: Paths): { app: string; instance: string; port: number }[] {
  return listApps(paths).apps.flatMap(({ app, instances }) =>
    Object.entries(instances).flatMap(([instance, { current }]) => {
      const file = current && fileOfRelease(paths, app, current);
      const own = file?.instances.find(({ name }) => name === instance);
      const port = file && own && portOf(file, own);
      return port ? [{ app, instance, port }] : [];
    }),
  );
}

/** Where a proxy listens, through which health may be checked. */
const WEB = [80, 443];

/** The port of an instance: where its health is checked on this server, else PORT. */
function portOf({ health }: DeployFile, { env }: Instance): number | undefined {
  const address = health && health.kind !== 'cmd' ? expand(health.target, env) : '';
  const host = /^(?:https?:\/\/)?(?:localhost|127\.[\d.]+|\[::1\]):(\d+)/.exec(address);
  const port = Number(host?.[1] ?? env.PORT);
  return Number.isInteger(port) && port > 0 && !WEB.includes(port) ? port : undefined;
}

/** TCP ports on which a program of this server listens. */
function listeningPorts(): Set<number> {
  const LISTEN = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A /gm;
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => {
    try {
      return readFileSync(path, 'latin1');
    } catch {
      return '';
    }
  });
  const found = tables.flatMap((table) => [...table.matchAll(LISTEN)]);
  return new Set(found.map(([, port = '']) => Number.parseInt(port, 16)));
}
