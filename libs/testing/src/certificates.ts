/** Certificates for a test, by openssl. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temp.ts';

/** A certificate authority and a certificate of `name` that it signed; paths. */
export function certificates(name: string): { ca: string; cert: string; key: string } {
  const folder = temporaryFolder('tls');
  const file = (each: string) => join(folder, each);
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...ec, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=test ca');
  openssl('req', ...ec, '-keyout', 'key.pem', '-out', 'csr.pem', '-subj', `/CN=${name}`);
  writeFileSync(file('ext'), `subjectAltName=DNS:${name}\n`);
  const sign = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'ext'];
  openssl('x509', '-req', '-in', 'csr.pem', ...sign, '-out', 'cert.pem', '-days', '2');
  return { ca: file('ca.pem'), cert: file('cert.pem'), key: file('key.pem') };
}
