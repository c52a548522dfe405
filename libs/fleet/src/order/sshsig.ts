/** Signatures of orders, made and checked by ssh-keygen. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, systemCode } from '@runner/common/foundation/failure';
import type { SealedOrder } from './order.ts';

/** The namespace: a signature made for another purpose does not sign an order. */
const NAMESPACE = 'runner-fleet';

function sshKeygen(args: readonly string[], input: string, stderr: 'inherit' | 'ignore') {
  const done = spawnSync('ssh-keygen', ['-Y', ...args], {
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', stderr],
  });
  if (systemCode(done.error) === 'ENOENT')
    throw new Failure(
      'signing_failed',
      'the command ssh-keygen is missing: install openssh-client',
    );
  return done;
}

/** Signs an order with a private key, or with that of ssh-agent or a token. Throws `signing_failed`. */
export function sign(body: string, by: string, key: string): SealedOrder {
  const { status, stdout } = sshKeygen(
    ['sign', '-q', '-f', key, '-n', NAMESPACE],
    body,
    // It asks for a passphrase or a touch there.
    'inherit',
  );
  if (status !== 0) throw new Failure('signing_failed', `ssh-keygen could not sign with ${key}`);
  return { by, sig: stdout, body };
}

/** What ssh-keygen says of a signature. */
export type Verdict = 'valid' | 'signer_unknown' | 'signature_invalid';

/** Checks an order against a file of allowed signers. */
export function verify({ by, sig, body }: SealedOrder, allowedSigners: string): Verdict {
  const folder = mkdtempSync(join(tmpdir(), 'runner-sig-'));
  try {
    const file = join(folder, 'sig');
    writeFileSync(file, sig, { mode: 0o600 });
    const asks = (...args: string[]) =>
      sshKeygen([...args, '-n', NAMESPACE, '-s', file], body, 'ignore').status === 0;
    if (asks('verify', '-f', allowedSigners, '-I', by)) return 'valid';
    return asks('check-novalidate') ? 'signer_unknown' : 'signature_invalid';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
