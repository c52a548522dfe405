/** What the short and the long tests of packages share. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { run } from '@runner/testing/run';
import type { World } from './world.ts';

export const HOUR = 3_600_000;

export interface Registry {
  readonly url: string;
  /** Ages in hours by package and version. */
  readonly ages: Record<string, Record<string, number>>;
  readonly asked: string[];
}

/** A registry on loopback, to which npm is set as far as runner asks it. */
export async function withRegistry(body: (registry: Registry) => Promise<void>): Promise<void> {
  const ages: Registry['ages'] = {};
  const asked: string[] = [];
  const server = createServer((request, answer) => {
    const name = decodeURIComponent((request.url ?? '').slice(1));
    asked.push(name);
    const times = Object.entries(ages[name] ?? {}).map(([version, hours]) => {
      return [version, new Date(Date.now() - hours * HOUR).toISOString()];
    });
    answer.statusCode = ages[name] ? 200 : 404;
    answer.end(JSON.stringify({ name, time: Object.fromEntries(times) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    await body({ url, ages, asked });
  } finally {
    server.close();
  }
}

export type Locked = readonly [name: string, version: string, script?: boolean];

export function lockFile({ url }: Pick<Registry, 'url'>, packages: readonly Locked[]): string {
  const entries = packages.map(([name, version, hasInstallScript = false]) => {
    const resolved = `${url}${name}/-/${name.replace(/.*\//, '')}-${version}.tgz`;
    return [
      `node_modules/${name}`,
      { version, resolved, ...(hasInstallScript && { hasInstallScript }) },
    ];
  });
  return JSON.stringify({ lockfileVersion: 3, packages: Object.fromEntries(entries) });
}

export const GATED = 'min_package_age: 4320m\n';

export function push(
  world: World,
  registry: Registry,
  version: string,
  packages: readonly Locked[],
) {
  return world.push(version, {
    deploy: GATED,
    files: { 'package-lock.json': lockFile(registry, packages) },
  });
}

export const envOf = ({ url }: Registry) => ({ npm_config_registry: url });

export const fetch = (world: World, registry: Registry, ...args: string[]) =>
  run('runner-fetch', ['--deploy', ...args], { root: world.root, env: envOf(registry) });

export const changesOf = (world: World) =>
  world.events().at(-1)?.changes as Record<string, unknown>;
