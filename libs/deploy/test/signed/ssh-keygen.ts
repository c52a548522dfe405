/** What the short and the long tests of ssh keygen share. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowedSigners } from '@runner/common/signed/allowed-signers';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';

export const folder = temporaryFolder('signed');

export const KINDS = [
  ['ed25519', '256'],
  ['ecdsa', '256'],
  ['ecdsa', '384'],
  ['ecdsa', '521'],
  ['rsa', '2048'],
] as const;

export const keygen = (args: readonly string[], input: Buffer = Buffer.alloc(0)) =>
  execFileSync('ssh-keygen', args, { input, stdio: ['pipe', 'pipe', 'ignore'] });

export const keys = KINDS.map(([type, bits], index) => {
  const path = join(folder, `key${index}`);
  keygen(['-q', '-t', type, '-b', bits, '-N', '', '-C', `c${index}`, '-f', path]);
  const line = readFileSync(`${path}.pub`, 'utf8').trim();
  const [key] = allowedSigners(`who${index}@example.org ${line}\n`).found;
  assert.ok(key);
  return { path, line, key };
});

export const sign = (path: string, message: Buffer, ...more: string[]) =>
  keygen(['-Y', 'sign', '-q', '-n', 'git', ...more, '-f', path], message).toString();
