/** A rollback to a version without `traffic`: its requests come in elsewhere. */
import { liveLink, socketIn } from '@runner/common/apps/slots';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { fileOfRelease } from '../instances/kept-file.ts';
import { portsOf } from '../instances/ports.ts';
import type { KeptMove } from '../journal/after-rollback.ts';

/** Throws `force_needed`, naming what to change in the proxy. */
export function refuseBorder(paths: Paths, app: string, moves: readonly KeptMove[]): void {
  for (const { instance, from, to } of moves) {
    const [left, next] = [from, to].map((version) => fileOfRelease(paths, app, version));
    const before = addressOf(paths, app, left, instance);
    if (before === undefined || addressOf(paths, app, next, instance) !== undefined) continue;
    const known = next?.instances.find(({ name }) => name === instance);
    const [port] = next && known ? portsOf(next, known) : [];
    const where = port === undefined ? 'its own address' : `port ${port}`;
    throw new Failure(
      'force_needed',
      `${to.version} of ${instance} has no traffic: it listens on ${where}, and the proxy sends requests to ${before}; change the proxy, then add --force`,
    );
  }
}

/** Where a proxy finds an instance with `traffic`; undefined without it. */
function addressOf(
  paths: Paths,
  app: string,
  file: DeployFile | undefined,
  instance: string,
): string | undefined {
  const traffic = file?.instances.find(({ name }) => name === instance)?.traffic;
  if (!traffic) return undefined;
  if (traffic.ports) return `ports ${traffic.ports.join(' and ')}`;
  return socketIn(liveLink(paths.app(app).instance(instance)));
}
