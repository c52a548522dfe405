/** The certificates of domains, looked at by a real handshake. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { pathsOf } from '@runner/common/foundation/paths';
import { checkCertificates } from '@runner/deploy/alerts/certificate';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('certificates');
const DAY = 86_400_000;

/** A server whose certificate ends in `days`, and where it listens. */
async function serve(days: number, name: string): Promise<{ server: Server; port: number }> {
  const folder = temporaryFolder('tls');
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const files = ['-nodes', '-keyout', 'key.pem', '-out', 'cert.pem', '-days', String(days)];
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  execFileSync('openssl', [...args, ...files, ...names], { cwd: folder, stdio: 'pipe' });
  const read = (file: string) => readFileSync(join(folder, file));
  const server = createServer({ key: read('key.pem'), cert: read('cert.pem') }, () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A test that fails ends.
  server.unref();
  return { server, port: (server.address() as { port: number }).port };
}

/** A root with one app whose instance has this domain. */
function makeRoot(domain: string) {
  const root = temporaryFolder('root');
  const paths = pathsOf(root);
  mkdirSync(join(root, 'state'));
  mkdirSync(join(root, 'locks'));
  const release = '20260504093000-0123456789ab';
  const current = {
    version: 'v1',
    commit: '0'.repeat(40),
    release,
    deployed_at: '',
    deploy_id: '',
  };
  const instances = { default: { current, previous: [] } };
  const base = { version: 1, app: 'shop', repo: 'acme/shop', branch: 'main', state: {} };
  writeFileSync(paths.state('shop'), JSON.stringify({ ...base, instances }));
  const file = paths.app('shop').fileOf(release);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `instances: { default: { domain: ${domain} } }\n`);
  const state = () => JSON.parse(readFileSync(paths.state('shop'), 'utf8'));
  const records = () => {
    const found: Record<string, unknown>[] = [];
    try {
      const lines = readFileSync(paths.auditLog, 'utf8').trim().split('\n');
      found.push(...lines.map((line) => JSON.parse(line)));
    } catch {
      // Nothing was announced.
    }
    return found;
  };
  const look = (at: number, port: number) => {
    const io = { now: () => new Date(at), random: Math.random, pid: process.pid, uid: 0, env: {} };
    const reporter = { note: (text: string) => assert.unreachable(text) };
    return checkCertificates({ io, paths, reporter, notify: false } as never, ['shop'], port);
  };
  return { state, records, look };
}

test('an end is announced 21, 7 and 1 days ahead and when it is over, once each, by one look a day', async () => {
  const { server, port } = await serve(30, 'localhost');
  const away = 12 * 24;
  let handshakes = 0;
  server.on('connection', () => {
    handshakes += 1;
  });
  const { state, records, look } = makeRoot('localhost');
  const start = Date.now();
  for (let hour = 0; hour <= 32 * 24; hour += 8)
    await look(start + (hour * DAY) / 24, hour === away ? 1 : port);
  assert.is(handshakes, 32);
  assert.equal(
    records().map(({ event_type, domain, reason }) => [
      event_type,
      domain,
      /(?:in \d+ days?|ended)/.exec(String(reason))?.[0],
    ]),
    ['in 21 days', 'in 7 days', 'in 1 day', 'ended'].map((words) => [
      'CertEnding',
      'localhost',
      words,
    ]),
  );
  assert.is(records()[0]?.expires_at, state().certificates.localhost.ends);
  server.close();
});

test('what is not served by TLS, has no address or shows the certificate of another is no alarm', async () => {
  const other = await serve(3, 'other.example');
  for (const [domain, port] of [
    ['localhost', other.port],
    ['localhost', 1],
    ['nothing.invalid', other.port],
  ] as const) {
    const { state, records, look } = makeRoot(domain);
    await look(Date.now(), port);
    assert.equal(records(), []);
    assert.is(state().certificates[domain].ends, null);
  }
  other.server.close();
});

test.run();
