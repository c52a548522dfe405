/** Signs and verifies orders with ssh-keygen. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, systemCode } from '@runner/common/foundation/failure';
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

export type Verdict = 'valid' | 'signer_unknown' | 'signature_invalid';

/** Verifies an order against an allowed_signers file. Throws `signing_failed`. */
export async function verify(
  { by, sig, body }: SealedOrder,
  allowedSigners: string,
): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'runner-sig-'));
  try {
    const file = join(folder, 'sig');
    writeFileSync(file, sig, { mode: 0o600 });
    const asks = (...args: string[]) =>
      succeeds(['-Y', ...args, '-n', NAMESPACE, '-s', file], body);
    if (await asks('verify', '-f', allowedSigners, '-I', by)) return 'valid';
    return (await asks('check-novalidate')) ? 'signer_unknown' : 'signature_invalid';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Asynchronous, so that the agent keeps answering pings. */
function succeeds(args: readonly string[], input: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = processes().spawn('ssh-keygen', args, { stdio: ['pipe', 'ignore', 'ignore'] });
    child.on('error', (error) => reject(systemCode(error) === 'ENOENT' ? missing() : error));
    child.on('close', (status) => resolve(status === 0));
    // EPIPE if it exits before it has read everything.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}
