/**
 * `npm run test:system -- production`: the commands of docs/production.md, from first to last line, on a
 * booted server: from an empty one to an answer over TLS; then those of docs/operating.md, on it and another.
 * `-- plain`: an app of systemd without traffic.
 */
import { page } from '@runner/testing/app';
import * as assert from 'uvu/assert';
import { fencesOf } from '../docs/pages.ts';
import { APP, booted, CURL, DOMAIN, installing, putCertificates, typed } from './guest.ts';
import { leftBehind, moved } from './moved.ts';
import { PORT, REPO, type Server, TOKEN } from './server.ts';

const PAGE = 'docs/production.md';
const SECRET = 'S3ss10n-k3y-of-the-sh0p';

/** Where a page says what this machine has not: the net, a name in it, a terminal. */
function inGuest(version: string): [said: string, typed: string][] {
  const tls = `/etc/ssl/${DOMAIN}`;
  return [
    ...installing(version, {
      debs: './runner_0.2.0_amd64.deb ./runner-bell_0.2.0_all.deb',
      packages: 'acl bubblewrap certbot curl nginx nodejs npm',
    }),
    [
      'runner setup shop --run "node server.js"',
      `runner setup shop --run "node server.js" --proxy nginx --cert ${tls}.pem --key ${tls}.key --yes`,
    ],
    [
      'curl --fail ',
      `curl --fail --cacert /etc/ssl/test-ca.pem --resolve ${DOMAIN}:443:127.0.0.1 `,
    ],
    ['/etc/letsencrypt/live/shop.example.org/fullchain.pem', `${tls}.pem`],
    ['/etc/letsencrypt/live/shop.example.org/privkey.pem', `${tls}.key`],
    ['listen 8443 ssl', `listen ${PORT} ssl`],
    // Its findings are those of a stand-in: no clock, no https.
    ['runner doctor\n', 'runner doctor || :\n'],
  ];
}

/** Plays it; returns how many steps it has. Throws at the first that goes wrong. */
export async function production(): Promise<number> {
  const { server, version } = await booted();
  const { container, git, discord, step, type } = server;
  const began = performance.now();
  let commands = 0;
  try {
    await putCertificates(server);
    const used = new Set<string>();
    const input: Record<string, string> = {
      token: TOKEN,
      secret: SECRET,
      webhook: discord.webhook,
    };
    for (const fence of fencesOf(PAGE)) {
      if (fence.language === 'yaml') {
        await git.commit(REPO, { ...APP, '.deploy.yml': fence.text }, 'v1', {
          tag: 'v1',
        });
        // The code host of this server.
        await container.ok(
          'cat | install -o runner -g runner -m 0600 /dev/stdin /opt/runner/config.yml',
          { stdin: `code_host_git_url: ${git.url}\n` },
        );
        continue;
      }
      step(`${PAGE}:${fence.line}`);
      const given = input[fence.notes.get('stdin') ?? ''];
      await type(
        `set -e\n${typed(fence, inGuest(version), used)}`,
        given === undefined ? {} : { stdin: given },
      );
      commands += fence.text.split('\n').filter((line) => line.startsWith('sudo ')).length;
    }
    assert.equal([...used].length, inGuest(version).length, 'every replacement is used');
    await servesOverTls(server);
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stdout.write(`\n(${commands} commands, ${seconds} s from the package to the backup)\n`);
    await pushIsDeployed(server);
    const left = await leftBehind(server);
    await undone(server);
    await container.close();
    return server.steps() + (await moved(server, version, left));
  } finally {
    await server.close();
  }
}

async function servesOverTls({ container, step, type }: Server): Promise<void> {
  step('the app answers over TLS, as its own user, with its secret');
  assert.is(await type(`${CURL} https://${DOMAIN}/`), 'v1');
  assert.match(
    await type(`curl -si -H 'Host: ${DOMAIN}' http://127.0.0.1/`),
    /301[\s\S]*https:\/\/shop\.example\.org\//,
  );
  const pid = (await container.ok("systemctl show -P MainPID 'shop@default-a.service'")).trim();
  assert.is(await type(`stat -c %U /proc/${pid}`), 'shop\n');
  assert.match(await container.ok(`tr '\\0' '\\n' </proc/${pid}/environ`), `SESSION_KEY=${SECRET}`);
  assert.match(await type('runner setup shop --yes'), /nothing to do/);
  const missing = 'rm /etc/nginx/conf.d/runner-shop.conf; runner doctor --offline || :';
  assert.match(
    await type(missing),
    /runner-shop\.conf is missing[^\n]*\n\s+sudo runner setup shop/,
  );
  assert.match(
    await type('runner setup shop --yes'),
    /ok +write \/etc\/nginx\/conf\.d\/runner-shop\.conf/,
  );
  assert.is(await type(`${CURL} https://${DOMAIN}/`), 'v1');
}

async function pushIsDeployed({ git, type, until, step }: Server): Promise<void> {
  step('the next push is deployed without a dropped request, and the server restarts with it');
  await git.commit(REPO, { VERSION: 'v2\n' }, 'v2', { tag: 'v2' });
  await type('runner fetch --deploy');
  await until(`${CURL} https://${DOMAIN}/`, /^v2$/);
}

async function undone({ step, type }: Server): Promise<void> {
  step('--undo removes what setup made; the app must be stopped first');
  assert.match(
    await type('runner setup shop --undo --yes', { status: 1 }),
    /run runner stop shop first/,
  );
  await type('runner stop shop; systemctl stop runner-fetch.timer');
  await type('runner setup shop --undo --yes');
  const paths =
    '/etc/systemd/system/shop@.service /etc/nginx/conf.d/runner-shop.conf /etc/runner/setup/shop.json';
  const left = await type(
    `{ id shop; ls ${paths}; grep ^shop /etc/runner/units; getfacl -R /opt/runner | grep :shop:; } 2>/dev/null || :`,
  );
  assert.is(left, '');
}

/** An app of systemd without traffic, behind no proxy. Returns how many steps it has. */
export async function plain(): Promise<number> {
  const { server, version } = await booted();
  const { container, git, step, type, shows } = server;
  try {
    step('the package is installed, and an app with a plain unit is set up and deployed');
    await type(`dpkg -i /srv/release/runner_${version}_all.deb; systemctl stop runner-fetch.timer`);
    const deployFile = `instances: { default: { env: { PORT: "${PORT}" } } }
start: { type: systemd, unit: shop.service }
health: { url: "http://127.0.0.1:\${PORT}/health", within: 60s }
`;
    await git.commit(REPO, { ...APP, '.deploy.yml': deployFile }, 'v1', { tag: 'v1' });
    await container.ok(
      'cat | install -o runner -g runner -m 0600 /dev/stdin /opt/runner/config.yml',
      {
        stdin: `code_host_git_url: ${git.url}\n`,
      },
    );
    await type(`runner add ${REPO} --token -`, { stdin: TOKEN });
    assert.match(await type('runner deploy shop --check', { status: 1 }), /sudo runner setup shop/);
    await type('runner setup shop --run "node server.js" --yes');
    await type('runner deploy shop');
    await shows('v1');
    assert.match(await type('systemctl is-enabled shop.service'), /^enabled$/m);
    step('with traffic, setup makes the template, and disables the unit beside it');
    const withTraffic = deployFile
      .replace(/^instances.*\n/, '')
      .replace('shop.service', 'shop@.service')
      .replace(/health.*/, 'health: { url: "http://unix/health", within: 60s }\ntraffic: socket');
    await git.commit(REPO, { VERSION: 'v2\n', '.deploy.yml': withTraffic }, 'v2', { tag: 'v2' });
    assert.match(
      await type('runner setup shop --next --yes'),
      /write \/etc\/systemd\/system\/shop@\.service/,
    );
    await type('runner deploy shop');
    assert.is(await page(PORT), 'v1');
    await type('runner stop shop --before-traffic');
    await type('runner setup shop --yes');
    await type('systemctl is-enabled shop.service', { status: 1 });
    await container.reboot();
    await server.until('systemctl is-active shop@default-a.service || :', /^active$/m);
    assert.is(await page(PORT), null);
    return server.steps();
  } finally {
    await server.close();
  }
}
