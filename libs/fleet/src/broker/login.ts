/** Logins of the broker: a secret seed, and the public key that the broker's configuration names. */
import { nkeys } from '@nats-io/transport-node';
import { Failure } from '@runner/common/foundation/failure';

export function newLogin(): { seed: string; nkey: string } {
  const pair = nkeys.createUser();
  return { seed: Buffer.from(pair.getSeed()).toString('latin1'), nkey: pair.getPublicKey() };
}

/** The public key of a login. Throws `fleet_not_configured`. */
export function loginKeyOf(seed: string, path: string): string {
  try {
    return nkeys.fromSeed(Buffer.from(seed, 'latin1')).getPublicKey();
  } catch {
    throw new Failure('fleet_not_configured', `${path} does not hold a key`);
  }
}
