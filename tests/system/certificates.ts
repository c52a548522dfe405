/**
 * `npm run test:system -- certified`: an ACME server gives certificates to what `runner setup` makes, on a
 * server whose certbot has no account yet: behind nginx, behind HAProxy, and by Caddy itself. Needs the
 * packages certbot, pebble, nginx, haproxy and caddy.
 */
import { existsSync, readFileSync } from 'node:fs';
import { certificates } from '@runner/testing/certificates';
import * as assert from 'uvu/assert';
import { APP, booted, DOMAIN } from './guest.ts';
import { REPO, type Server, TOKEN } from './server.ts';

const PROGRAMS = ['/usr/bin/pebble', '/usr/bin/certbot', '/usr/sbin/haproxy', '/usr/bin/caddy'];
const DEPLOY_FILE = `instances: { default: { domain: ${DOMAIN} } }
start: { type: systemd, unit: shop@.service }
health: { url: "http://unix/", within: 60s }
traffic: socket
`;
/** Where the ACME server answers; it asks for the challenge at port 80. */
const DIRECTORY = 'https://localhost:14000/dir';
const PEBBLE = {
  pebble: {
    listenAddress: '127.0.0.1:14000',
    managementListenAddress: '127.0.0.1:15000',
    certificate: '/srv/acme/cert.pem',
    privateKey: '/srv/acme/key.pem',
    httpPort: 80,
    tlsPort: 443,
  },
};
const ASK = `curl --silent --show-error --fail --cacert /srv/acme/root.pem https://${DOMAIN}/`;

/** Plays it; returns how many steps it has. Throws at the first that goes wrong. */
export async function certified(): Promise<number> {
  const missing = PROGRAMS.find((each) => !existsSync(each));
  if (missing !== undefined || !existsSync('/usr/sbin/nginx')) {
    process.stdout.write(`\nskipped: ${missing ?? '/usr/sbin/nginx'} is not installed\n`);
    return 0;
  }
  const { server, version } = await booted();
  try {
    await startAcme(server);
    await deployed(server, version);
    await behindNginx(server);
    await behindHaproxy(server);
    await behindCaddy(server);
    return server.steps();
  } finally {
    await server.close();
  }
}

async function startAcme({ container, until }: Server): Promise<void> {
  const { ca, cert, key } = certificates('localhost');
  const put = (path: string, text: string) => container.ok(`cat >${path}`, { stdin: text });
  await container.ok('mkdir -p /srv/acme; rm -rf /etc/letsencrypt; mkdir /etc/letsencrypt');
  await put('/srv/acme/ca.pem', readFileSync(ca, 'utf8'));
  await put('/srv/acme/cert.pem', readFileSync(cert, 'utf8'));
  await put('/srv/acme/key.pem', readFileSync(key, 'utf8'));
  await put('/srv/acme/pebble.json', JSON.stringify(PEBBLE));
  await put('/etc/letsencrypt/cli.ini', `server = ${DIRECTORY}\nno-verify-ssl = true\n`);
  await container.ok(`echo 127.0.0.1 ${DOMAIN} >>/etc/hosts`);
  await container.ok(
    'systemd-run --unit acme --setenv=PEBBLE_VA_NOSLEEP=1 --setenv=PEBBLE_WFE_NONCEREJECT=0 pebble -config /srv/acme/pebble.json',
  );
  await until(`curl --silent --cacert /srv/acme/ca.pem ${DIRECTORY} || :`, /newOrder/);
  const root = 'curl --silent --cacert /srv/acme/ca.pem https://localhost:15000/roots/0';
  await container.ok(`${root} >/srv/acme/root.pem`);
}

async function deployed({ container, git, step, type }: Server, version: string): Promise<void> {
  step('the package is installed, and an app with a domain is added');
  await type(`dpkg -i /srv/release/runner_${version}_all.deb; systemctl stop runner-fetch.timer`);
  await git.commit(REPO, { ...APP, '.deploy.yml': DEPLOY_FILE }, 'v1', { tag: 'v1' });
  const config = 'cat | install -o runner -g runner -m 0600 /dev/stdin /opt/runner/config.yml';
  await container.ok(config, { stdin: `code_host_git_url: ${git.url}\n` });
  await type(`runner add ${REPO} --token -`, { stdin: TOKEN });
}

async function behindNginx({ step, type }: Server): Promise<void> {
  step('setup gets a certificate through nginx, of a certbot without an account');
  await type('systemctl start nginx');
  await type('runner setup shop --run "node server.js" --proxy nginx --yes');
  await type('runner deploy shop');
  assert.is(await type(ASK), 'v1');
  assert.match(
    await type(`curl -si http://${DOMAIN}/`),
    /301[\s\S]*https:\/\/shop\.example\.org\//,
  );
  assert.match(await type('runner setup shop --yes'), /nothing to do/);
  step('its renewal goes the same way');
  const serial = `openssl x509 -noout -serial -in /etc/letsencrypt/live/${DOMAIN}/cert.pem`;
  const before = await type(serial);
  await type('certbot renew --force-renewal --no-random-sleep-on-renew');
  assert.is.not(await type(serial), before);
  assert.is(await type(ASK), 'v1');
}

async function behindHaproxy({ step, type }: Server): Promise<void> {
  step('another proxy is chosen: HAProxy, with a certificate of its own');
  await type(`certbot delete --non-interactive --cert-name ${DOMAIN}`);
  await type('systemctl stop nginx');
  await type("sed -i '/^[[:space:]]*chroot /d' /etc/haproxy/haproxy.cfg");
  const changed = await type('runner setup shop --proxy haproxy --yes');
  assert.match(
    changed,
    /note: haproxy may not write to the socket of shop yet: runner restart shop/,
  );
  await type('runner restart shop');
  assert.is(await type(ASK), 'v1');
  await type('certbot renew --force-renewal --no-random-sleep-on-renew');
  assert.is(await type(ASK), 'v1');
}

async function behindCaddy({ container, step, type, until }: Server): Promise<void> {
  step('Caddy gets its own');
  await type('systemctl stop haproxy');
  const options = `{\n\tacme_ca ${DIRECTORY}\n\tacme_ca_root /srv/acme/ca.pem\n}\n`;
  await container.ok('cat >/etc/caddy/Caddyfile', { stdin: options });
  await type('runner setup shop --proxy caddy --yes');
  await type('runner restart shop');
  assert.is((await until(`${ASK} || :`, /^v1$/)).trim(), 'v1');
}
