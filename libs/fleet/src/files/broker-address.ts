/** fleet.yml and agent.yml, and the broker's address, which both have. */
import { readTrusted } from '@runner/common/files/trusted';
import { Failure } from '@runner/common/foundation/failure';
import { keys } from '@runner/common/yaml/keys';
import { check, type ObjectSchema } from '@runner/common/yaml/schema';

export interface BrokerAddress {
  /** `tls://host:port`, or `nats://` on this machine. */
  readonly url: string;
  /** Certificate authority, a PEM file; undefined: the system's. */
  readonly ca: string | undefined;
}

export const BROKER_SCHEMA = keys({ url: { type: 'string' }, ca: { type: 'string' } }, undefined, [
  'url',
]);

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The values of fleet.yml or agent.yml; `init` makes it. Throws `fleet_not_configured`, `config_invalid`. */
export async function readSettings(
  name: string,
  root: string,
  schema: ObjectSchema,
  init: string,
): Promise<Map<string, unknown>> {
  const { readYaml, YAML_MAX } = await import('@runner/common/yaml/read');
  const bytes = readTrusted(name, YAML_MAX, root);
  if (!bytes) throw new Failure('fleet_not_configured', `there is no ${name}: run ${init}`);
  const file = { name, code: 'config_invalid' } as const;
  return check(readYaml(bytes, file), schema, file) as Map<string, unknown>;
}

/** Throws `insecure_address`. */
export function brokerAddress(url: string, ca: string | undefined): BrokerAddress {
  const scheme = /^(nats|tls):\/\/[^/?#]+:\d+$/.exec(url)?.[1];
  // That scheme decides how URL splits the rest.
  const parsed = url.replace(/^(nats|tls):/, 'https:');
  if (!scheme || !URL.canParse(parsed))
    throw new Failure('insecure_address', `the broker's address must be tls://HOST:PORT`);
  const { hostname, username, password } = new URL(parsed);
  if (username || password)
    throw new Failure('insecure_address', `the broker's address must not contain a password`);
  if (scheme === 'nats' && !LOOPBACK.test(hostname)) {
    throw new Failure(
      'insecure_address',
      `the broker's address must be tls://HOST:PORT; nats:// is only allowed on this machine`,
    );
  }
  return { url, ca };
}
