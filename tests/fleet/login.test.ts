/** Logins of the broker, compared with the keys of the NATS client. */
import { nkeys } from '@nats-io/transport-node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { authenticator, loginKeyOf } from '../../libs/fleet/src/broker/login.ts';

test('public keys and signatures are those of the NATS client', () => {
  for (let round = 0; round < 20; round += 1) {
    const pair = nkeys.createUser();
    const seed = Buffer.from(pair.getSeed()).toString('latin1');
    assert.is(loginKeyOf(seed, 'file'), pair.getPublicKey());
    const { nkey, sig } = authenticator(seed)('nonce') as { nkey: string; sig: string };
    const signature = Buffer.from(sig, 'base64url');
    assert.ok(nkeys.fromPublic(nkey).verify(Buffer.from('nonce'), signature));
  }
});

test('anything but a user seed is refused', () => {
  const seed = Buffer.from(nkeys.createUser().getSeed()).toString('latin1');
  const account = Buffer.from(nkeys.createAccount().getSeed()).toString('latin1');
  // The last two bits of the last letter mean nothing: from A to B would change only them.
  const damaged = seed.replace(/.$/, seed.endsWith('A') ? 'E' : 'A');
  for (const bad of ['', 'junk', seed.slice(1), damaged, account])
    assert.throws(() => loginKeyOf(bad, 'the file'), /^the file does not hold a key$/);
});

test.run();
