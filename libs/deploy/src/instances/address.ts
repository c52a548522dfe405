/** Where people find an instance. */
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { expand } from '@runner/common/deploy-file/variables';

/**
 * `https://` and the domain, else the address that the health check asks, else that of PORT on this
 * server; undefined if it has none, or another one after each deploy.
 */
export function addressOf({ start, health }: DeployFile, instance: Instance): string | undefined {
  const { domain, env, traffic } = instance;
  if (domain !== undefined) return `https://${domain}`;
  if (traffic || start.type === 'none') return undefined;
  const asked = health?.kind === 'url' ? expand(health.target, env) : '';
  if (URL.canParse(asked) && new URL(asked).hostname !== 'unix') return new URL(asked).origin;
  const port = Number(env.PORT);
  return Number.isInteger(port) && port > 0 ? `http://127.0.0.1:${port}` : undefined;
}

/** The addresses of the instances that have one, by their names. */
export function addressesOf(file: DeployFile, names: readonly string[]): Record<string, string> {
  const own = file.instances.filter(({ name }) => names.includes(name));
  const found = own.map((instance) => [instance.name, addressOf(file, instance)] as const);
  return Object.fromEntries(
    found.filter((each): each is [string, string] => each[1] !== undefined),
  );
}
