/** What the short and the long tests of email share. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MailServer } from '@runner/testing/mail-server';
import { type RunOptions, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';

/** A certificate for this machine that nothing trusts until it is named. */
export function certificate() {
  const folder = temporaryFolder('tls');
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync(
    'openssl',
    [...args, '-nodes', ...names, '-days', '1', '-keyout', key, '-out', cert],
    {
      stdio: 'ignore',
    },
  );
  return { cert, files: { key: readFileSync(key), cert: readFileSync(cert) } };
}

export const trusted = certificate();

/** A root that sends to two recipients. */
export function rootFor(
  server: MailServer,
  { from = 'runner <runner@example.org>', to = '[a@example.org, b@example.org]' } = {},
): string {
  const root = temporaryFolder('email');
  const lines = `{ smtp: "${server.address}", from: "${from}", to: ${to} }`;
  writeFileSync(join(root, 'config.yml'), `notify:\n  email: ${lines}\n`, { mode: 0o600 });
  return root;
}

export async function sent(
  server: MailServer,
  records: readonly object[],
  options: RunOptions = {},
) {
  const root = rootFor(server);
  const stdin = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const ended = await run('runner-notify', ['send', '--json'], { root, stdin, ...options });
  const { password } = server;
  for (const secret of [password, encodeURIComponent(password), server.address])
    assert.equal(findSecret(ended.stdout + ended.stderr, secret), []);
  const { result, code, description, hint } = JSON.parse(ended.stdout.split('\n')[0] ?? '');
  return { result, code, description, hint };
}
