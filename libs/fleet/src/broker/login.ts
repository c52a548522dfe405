/** Logins of the broker: Ed25519 keys as NATS writes them. The client's own arithmetic takes 40 ms, that of Node none. */

import type { KeyObject } from 'node:crypto';
import { type Authenticator, nkeys } from '@nats-io/transport-node';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';

const crypto = () => process.getBuiltinModule('node:crypto');

export function newLogin(): { seed: string; nkey: string } {
  const pair = nkeys.createUser();
  return { seed: Buffer.from(pair.getSeed()).toString('latin1'), nkey: pair.getPublicKey() };
}

/** The public key of a login. Throws `fleet_not_configured`. */
export function loginKeyOf(seed: string, path: string): string {
  return publicName(privateKey(seed, path));
}

/** Answers the broker's challenge. Throws `fleet_not_configured`. */
export function authenticator(seed: string): Authenticator {
  const key = privateKey(seed, 'the file of the login');
  const nkey = publicName(key);
  return (nonce = '') => ({
    nkey,
    sig: crypto().sign(null, Buffer.from(nonce), key).toString('base64url'),
  });
}

/** The secret of the key with which `broker check` logs in: it follows from the operator's, and reveals nothing of it. */
export function monitorSeed(seed: string): string {
  const raw = crypto().createHmac('sha256', seed).update('runner fleet broker check').digest();
  return base32([SEED | (USER >> 5), (USER & 31) << 3, ...raw]);
}

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function privateKey(seed: string, path: string): KeyObject {
  if (!isSeed(seed)) throw new Failure('fleet_not_configured', `${path} does not hold a key`);
  const bits = [...seed].map((each) => BASE32.indexOf(each).toString(2).padStart(5, '0')).join('');
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map((each) => Number.parseInt(each, 2)));
  // Two bytes say what it is, the last two are the checksum.
  const der = Buffer.concat([PKCS8, bytes.subarray(2, 34)]);
  return crypto().createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

/** Whether it is the seed of a user, with the right checksum. */
function isSeed(seed: string): boolean {
  const read = () => nkeys.fromSeed(Buffer.from(seed, 'latin1'));
  return /^SU[A-Z2-7]{56}$/.test(seed) && orElse(read, undefined) !== undefined;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** The first byte of a user's public key: makes its first letter a U. The first bits of a seed: an S. */
const USER = 20 << 3;
const SEED = 18 << 3;

function publicName(key: KeyObject): string {
  const { x = '' } = crypto().createPublicKey(key).export({ format: 'jwk' });
  return base32([USER, ...Buffer.from(x, 'base64url')]);
}

/** Bytes and their checksum, as NATS writes keys. */
function base32(bytes: readonly number[]): string {
  const sum = checksum(Uint8Array.from(bytes));
  const bits = [...bytes, sum & 0xff, sum >> 8]
    .map((each) => each.toString(2).padStart(8, '0'))
    .join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((each) => BASE32[Number.parseInt(each.padEnd(5, '0'), 2)])
    .join('');
}

/** CRC-16/XMODEM. */
function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1)
      sum = sum & 0x8000 ? ((sum << 1) ^ 0x1021) & 0xffff : (sum << 1) & 0xffff;
  }
  return sum;
}
