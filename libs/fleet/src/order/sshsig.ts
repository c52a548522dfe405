/** Signs and verifies orders with ssh-keygen. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { SealedOrder } from './order.ts';

/** Namespace of the signature, so that one made for another purpose is not accepted. */
const NAMESPACE = 'runner-fleet';

/** Slow to load, and `--help` does not need it. */
const processes = () => process.getBuiltinModule('node:child_process');

const missing = () =>
  new Failure('signing_failed', 'the command ssh-keygen is missing: install openssh-client');

/** Signs an order with a private key file, ssh-agent or a security key. Throws `signing_failed`. */
export function sign(body: string, by: string, key: string): SealedOrder {
  const args = ['-Y', 'sign', '-q', '-f', key, '-n', NAMESPACE];
  const { status, stdout, error } = processes().spawnSync('ssh-keygen', args, {
    input: body,
    encoding: 'utf8',
    // It asks for a passphrase or a touch on stderr.
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (systemCode(error) === 'ENOENT') throw missing();
  if (status !== 0) throw new Failure('signing_failed', `ssh-keygen could not sign with ${key}`);
  return { by, sig: stdout, body };
}

export interface SignatureVerdict {
  readonly verdict: 'valid' | 'signer_unknown' | 'signature_invalid';
  /** Of the key that signed the order, `SHA256:…`; empty if it is not needed. */
  readonly fingerprint: string;
}

/** Verifies an order against an allowed_signers file. Throws `signing_failed`, `disk_full`, `not_writable`. */
export async function verify(
  { by, sig, body }: SealedOrder,
  allowedSigners: string,
): Promise<SignatureVerdict> {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'runner-sig-'));
    const file = join(folder, 'sig');
    writeFileSync(file, sig, { mode: 0o600 });
    const keygen = (...args: string[]) =>
      output(['-Y', ...args, '-n', NAMESPACE, '-s', file], body);
    if ((await keygen('verify', '-f', allowedSigners, '-I', by)) !== undefined)
      return { verdict: 'valid', fingerprint: '' };
    const good = await keygen('check-novalidate');
    if (good === undefined) return { verdict: 'signature_invalid', fingerprint: '' };
    return { verdict: 'signer_unknown', fingerprint: /SHA256:\S+/.exec(good)?.[0] ?? '' };
  } catch (error) {
    throw systemFailure(error, `verify the signature with a file in ${tmpdir()}`);
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
}

/** What ssh-keygen prints; undefined if it fails. Asynchronous, so that the agent keeps answering pings. */
function output(args: readonly string[], input: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const child = processes().spawn('ssh-keygen', args, { stdio: ['pipe', 'pipe', 'ignore'] });
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    child.on('error', (error) => reject(systemCode(error) === 'ENOENT' ? missing() : error));
    child.on('close', (status) => resolve(status === 0 ? text : undefined));
    // EPIPE if it exits before it has read everything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
