/** The broker's address, in fleet.yml and agent.yml. */
import { Failure } from '@runner/common/foundation/failure';
import { keys } from '@runner/common/yaml/keys';

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
