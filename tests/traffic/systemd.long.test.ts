/** Traffic to template units with a user of their own, in a booted system. */
import { bootContainer, type Container, whyNoContainer } from '@runner/testing/container';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { distFolder } from '@runner/testing/run';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { REPO, TOKEN } from '../deploys/world.ts';

const test = suite('traffic to units');
const why = whyNoContainer();
if (why !== undefined) process.stderr.write(`skipped: ${why}\n`);

const ROOT = '/srv/traffic';
const LIVE = `${ROOT}/apps/shop/instances/default/live/app.sock`;
const inside = { env: { RUNNER_ROOT: ROOT, PATH: '/srv/dist/bin:/usr/sbin:/usr/bin:/sbin:/bin' } };
const UNIT = `[Service]
User=shop
WorkingDirectory=${ROOT}/apps/shop/instances/%I/current
EnvironmentFile=${ROOT}/apps/shop/instances/%I/env
ExecStartPre=rm -f \${PORT}
ExecStart=/usr/bin/env node server.js
[Install]
WantedBy=multi-user.target
`;
let container: Container;
let git: GitServer;

/** What a user gets through the live socket; empty if nothing. */
async function page(user: string): Promise<string> {
  const ask = `runuser -u ${user} -- curl --silent --max-time 5 --unix-socket ${LIVE} http://shop/`;
  return (await container.sh(ask)).stdout.trim();
}

async function ship(version: string) {
  const deploy = trafficFile().replace(
    /^start: .*$/m,
    'start: { type: systemd, unit: shop@.service }',
  );
  await git.commit(REPO, { ...trafficFiles(version), '.deploy.yml': deploy }, version, {
    tag: version,
  });
  return container.sh('runner deploy shop', inside);
}

if (why !== undefined) {
  test.skip(`units in a container: ${why}`, () => {});
} else {
  test('a system boots in which a unit and the proxy have users of their own', async () => {
    container = await bootContainer({ '/srv/dist': distFolder() });
    git = await startGitServer({ token: TOKEN });
    await git.createRepo(REPO);
    await container.ok(
      `useradd --system shop
install -d -m 0711 ${ROOT}
printf 'code_host_git_url: %s\\nproxy_user: www-data\\n' ${git.url} > ${ROOT}/config.yml
chmod 600 ${ROOT}/config.yml
cat > /etc/systemd/system/shop@.service`,
      { stdin: UNIT },
    );
    await container.ok('systemctl daemon-reload');
    await container.ok(`runner add --repo ${REPO} --branch main --token -`, {
      ...inside,
      stdin: TOKEN,
    });
    await container.ok(`chmod 755 ${ROOT}/apps ${ROOT}/apps/shop
setfacl -m u:shop:x ${ROOT} ${ROOT}/apps
setfacl -R -m u:shop:rX,d:u:shop:rX ${ROOT}/apps/shop`);
  });

  test('a unit whose umask shuts the proxy out gets no request, and the setting is named', async () => {
    const refused = await ship('v0');
    assert.is(refused.status, 1);
    assert.match(
      refused.stderr,
      /traffic: the socket of shop has mode 0755: with UMask=0007 in its unit the proxy may use it, and no one else/,
    );
    const checked = await container.sh('runner deploy shop --check', inside);
    assert.match(checked.stdout, /start: shop@.service has no UMask=0007: systemctl edit --full/);
    const unit = '/etc/systemd/system/shop@.service';
    await container.ok(`sed -i 's/^User=shop/UMask=0007\\n&/' ${unit}; systemctl daemon-reload`);
  });

  test("the socket is the unit user's to make, the proxy's to use, and no one else's", async () => {
    const done = await ship('v1');
    assert.is(done.status, 0, done.stderr);
    assert.is(await page('www-data'), 'v1');
    assert.is(await page('nobody'), '');
  });

  test('the next version runs in the other slot, and the one before ends', async () => {
    const done = await ship('v2');
    assert.is(done.status, 0, done.stderr);
    assert.is(await page('www-data'), 'v2');
    const units = 'shop@default-a.service shop@default-b.service';
    assert.match(
      (await container.sh(`systemctl is-active ${units}`)).stdout,
      /^inactive\nactive$/m,
    );
    assert.match(
      (await container.sh(`systemctl is-enabled ${units}`)).stdout,
      /^disabled\nenabled$/m,
    );
  });

  test('after a reboot the live slot serves', async () => {
    await container.reboot();
    await container.ok(`for try in $(seq 100); do test -S ${LIVE} && break; sleep 0.1; done`);
    assert.is(await page('www-data'), 'v2');
  });

  test.after(async () => {
    await git?.close();
    await container?.close();
  });
}

test.run();
