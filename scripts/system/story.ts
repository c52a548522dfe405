import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { appFiles, page } from '@runner/testing/app';
import { distFolder } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { nextRelease } from './next-release.ts';
import { PORT, REPO, type Server, startServer, TOKEN } from './server.ts';

const DEPLOY_FILE = `build: node build.js
start: { type: systemd, unit: shop.service }
health: { url: "http://127.0.0.1:${PORT}/health", interval: 100ms, within: 3s }
notify: { channel: discord }
`;

const UNIT = `[Unit]
Description=The shop

[Service]
User=shop
SupplementaryGroups=runner
WorkingDirectory=/opt/runner/apps/shop/instances/default/current
Environment=PORT=${PORT}
ExecStart=/usr/bin/env node server.js
Restart=on-failure

[Install]
WantedBy=multi-user.target
`;

const BROKEN =
  'console.error("src/cart.ts:42:17 - error TS2339: Property \'total\' does not exist");\nprocess.exit(2);\n';

/** Takes a minute, the first time. */
const SLOW_ONCE = `const { existsSync, writeFileSync } = require('node:fs');
const mark = process.env.HOME + '/slow';
if (!existsSync(mark)) {
  writeFileSync(mark, '');
  setTimeout(() => {}, 60_000);
}
`;

/** Timers of the story are due every two seconds instead of every minute. */
const HURRY = '[Timer]\nOnCalendar=\nOnCalendar=*:*:0/2\nRandomizedDelaySec=0\n';

/** Plays the whole story; returns how many steps it has. Throws at the first that goes wrong. */
export async function play(): Promise<number> {
  const release = join(dirname(distFolder()), 'release');
  const { version } = JSON.parse(readFileSync(join(release, '../package.json'), 'utf8'));
  const deb = join(release, `runner_${version}_all.deb`);
  const next = nextRelease(deb, version, '9.9.9', join(temporaryFolder('next'), 'next'));
  const server = await startServer({ '/srv/release': release, '/srv/next': dirname(next) });
  try {
    await install(server, version);
    await addApp(server);
    await deployByTimer(server);
    await failAndRollBack(server);
    await rotate(server);
    await otherWays(server);
    await restart(server);
    await upgradeAndBack(server, version);
    await uninstall(server, version);
    await installFromTarball(server, version);
    return server.steps();
  } finally {
    await server.close();
  }
}

function push(
  { git }: Server,
  version: string,
  files: Record<string, string> = {},
): Promise<string> {
  const built = { ...appFiles(version), 'build.js': "console.log('built');\n" };
  const all = { ...built, '.deploy.yml': DEPLOY_FILE, ...files };
  return git.commit(REPO, all, version, { tag: version });
}

async function install({ step, type }: Server, version: string): Promise<void> {
  step('the package is installed');
  await type(`dpkg -i /srv/release/runner_${version}_all.deb`);
  assert.match(await type('runner --version'), version);
  await type("stat -c '%A %U:%G %n' /opt/runner /opt/runner/*");
  const timers = await type('systemctl list-timers --no-pager --legend=no "runner-*"');
  assert.match(timers, /runner-fetch\.timer/);
  assert.match(timers, /runner-notify\.timer/);
  await type(
    'rm -r /usr/lib/runner/cache; dpkg-trigger --by-package=nodejs --no-await /usr/bin/node',
  );
  assert.match(
    await type('dpkg --triggers-only --pending; ls /usr/lib/runner/cache'),
    /runner-add-/,
  );
  step('the units have few rights');
  for (const unit of ['runner-fetch', 'runner-notify']) {
    const score = await type(`systemd-analyze security --no-pager ${unit}.service | tail -n 1`);
    assert.ok(Number(/: ([\d.]+) /.exec(score)?.[1]) < 2.5, 'the score of the unit');
  }
  await type('systemctl start runner-fetch.service runner-notify.service');
}

async function addApp({ container, git, discord, step, type }: Server): Promise<void> {
  step('an app is registered, its unit made, and runner allowed to restart it');
  await container.ok('useradd --system shop');
  await container.ok('cat > /etc/systemd/system/shop.service', { stdin: UNIT });
  for (const timer of ['runner-fetch', 'runner-notify']) {
    const folder = `/etc/systemd/system/${timer}.timer.d`;
    await container.ok(`mkdir -p ${folder}; cat > ${folder}/hurry.conf`, { stdin: HURRY });
  }
  const config = `code_host_git_url: ${git.url}\nnotify:\n  discord_webhook: ${discord.webhook}\n`;
  await type(
    'install -o runner -g runner -m 0600 /dev/null /opt/runner/config.yml; cat >/opt/runner/config.yml',
    {
      stdin: config,
    },
  );
  await type(`runner add --repo ${REPO} --branch main --token -`, { stdin: TOKEN });
  await type('echo shop.service >> /etc/runner/units');
  await type('systemctl daemon-reload; systemctl enable shop.service');
  await type('systemctl restart runner-fetch.timer runner-notify.timer');
  assert.match(await type("stat -c '%A %U' /opt/runner/state/shop.json"), /-rw------- runner/);
}

async function deployByTimer(server: Server): Promise<void> {
  const { step, type, until, shows } = server;
  step('v1 is pushed, and the timer deploys it; nothing of it runs as root');
  await push(server, 'v1');
  await shows('v1');
  await until('runner status shop', /v1/);
  await until('journalctl -u runner-fetch.service -o cat -g deployed', /deployed v1/);
  assert.is(
    await type('stat -c %U /opt/runner/apps/shop/instances/default/current/build.js'),
    'runner\n',
  );
  const pid = await type('systemctl show -P MainPID shop.service');
  assert.is(await type(`stat -c %U /proc/${pid.trim()}`), 'shop\n');
}

async function failAndRollBack(server: Server): Promise<void> {
  const { discord, step, type, until, shows } = server;
  step('v2 does not compile: v1 stays, and after three attempts the commit is left alone');
  await push(server, 'v2', { 'build.js': BROKEN });
  await until('tail -n 1 /opt/runner/logs/fetch.log', /deploy blocked, same commit failed 3 times/);
  await shows('v1');
  assert.match(await type('runner debug last-error shop'), /TS2339/);

  step('v3 compiles and does not become healthy: v1 is brought back');
  await push(server, 'v3', { HEALTH: '503\n' });
  await until('grep -c RollbackSuccess /opt/runner/logs/deploy-events.jsonl || :', /^[1-9]/);
  await until('runner debug last-error shop', /v3[\s\S]*answered 503/);
  await shows('v1');
  const kinds = discord.messages.map(({ embeds }) => embeds?.[0]?.title ?? '').join('\n');
  assert.match(kinds, /failed/i);
  assert.match(kinds, /roll/i);
}

async function rotate(server: Server): Promise<void> {
  const { step, type, until, shows } = server;
  step('the logs are rotated, and the history goes on');
  await type('logrotate --force /etc/logrotate.d/runner');
  assert.match(await type('ls /opt/runner/logs'), /deploy-events\.jsonl\.1/);
  await push(server, 'v4');
  await shows('v4');
  await until(
    "stat -c '%A %U:%G %n' /opt/runner/logs/*.jsonl*",
    /rw-r----- runner:runner .*jsonl\n/,
  );
  assert.match(await type('runner debug last-error shop'), /v3/);
}

/** `.deploy.yml` of a copy of the shop on another port. */
function copyOfShop(port: number, start: string): string {
  return `instances: { default: { env: { PORT: "${port}" } } }
start: ${start}
health: { url: "http://127.0.0.1:${port}/health", interval: 100ms, within: 3s }
`;
}

async function otherWays({ container, git, step, type, until }: Server): Promise<void> {
  step('a unit of the user runner, and a process that outlives the service that started it');
  await type('loginctl enable-linger runner; systemctl start "user@$(id -u runner).service"');
  await container.ok('mkdir -p /etc/systemd/user; cat > /etc/systemd/user/blog.service', {
    stdin: `[Service]
WorkingDirectory=/opt/runner/apps/blog/instances/default/current
Environment=PORT=18081
ExecStart=/usr/bin/env node server.js
`,
  });
  await type('systemctl --user --machine=runner@ daemon-reload');
  const starts = {
    blog: '{ type: systemd, unit: blog.service, user: true }',
    wiki: '{ type: process, run: exec node server.js }',
  };
  for (const [index, [name, start]] of Object.entries(starts).entries()) {
    await git.createRepo(`acme/${name}`);
    const files = { ...appFiles(name), '.deploy.yml': copyOfShop(PORT + 1 + index, start) };
    await git.commit(`acme/${name}`, files, 'first', { tag: `${name}1` });
    await type(`runner add --repo acme/${name} --branch main --token-from shop`);
  }
  for (const name of Object.keys(starts))
    await until(`runner status ${name}`, /default: .* since /);
  await until('systemctl is-active runner-fetch.service || :', /inactive/);
  assert.is(await page(PORT + 1), 'blog');
  assert.is(await page(PORT + 2), 'wiki');
  await type('runner remove blog --yes; runner remove wiki --yes');
  assert.equal([await page(PORT + 1), await page(PORT + 2)], [null, null]);

  step('the master key may belong to root: the timer gets it as a credential');
  await type('install -D -m 0600 /opt/runner/mkey /etc/credstore/runner-mkey; rm /opt/runner/mkey');
  await git.commit(REPO, { VERSION: 'v4-1\n' }, 'v4-1', { tag: 'v4-1' });
  await until('runner status shop', /v4-1 since/);
  await type('runner tokens list', { status: 1 });
  await type('install -o runner -g runner -m 0600 /etc/credstore/runner-mkey /opt/runner/mkey');
  await type('rm /etc/credstore/runner-mkey');
}

async function restart(server: Server): Promise<void> {
  const { container, step, type, shows } = server;
  step('the server is restarted: the app is back, and the timers go on');
  await container.reboot();
  await shows('v4-1');
  await push(server, 'v5');
  await shows('v5');
  await type('systemctl is-active runner-fetch.timer runner-notify.timer');
}

async function upgradeAndBack(server: Server, version: string): Promise<void> {
  const { container, step, type, until, shows } = server;
  step(
    'an upgrade in the middle of a deploy: the app runs on, the deploy is taken up again, off stays off',
  );
  const pid = await container.ok('systemctl show -P MainPID shop.service');
  await type('systemctl disable --now runner-notify.timer');
  await push(server, 'v6', { 'build.js': SLOW_ONCE });
  await until('ls /var/lib/runner', /slow/);
  // Asked at once: a moment later the timer has taken the deploy up again.
  const asked =
    'dpkg --no-triggers -i /srv/next/runner_9.9.9_all.deb && systemctl show -P MainPID shop';
  assert.is((await type(asked)).trim().split('\n').at(-1), pid.trim());
  assert.match(await type('runner --version'), /9\.9\.9/);
  assert.match(await type('systemctl is-enabled runner-notify.timer', { status: 1 }), /disabled/);
  await shows('v6');
  assert.match(await type('runner debug last-error shop'), /v6[\s\S]*was interrupted/);

  step(
    'back to the version before: what it does not know survives; what it cannot know is refused',
  );
  await type('systemctl stop runner-fetch.timer');
  const edit = (change: string) =>
    type(
      `node -e 'const f="/opt/runner/state/shop.json",s=require("fs"),a=JSON.parse(s.readFileSync(f));${change};s.writeFileSync(f,JSON.stringify(a))'`,
    );
  await edit('a.from_the_future={kept:true}');
  await type(`dpkg -i /srv/release/runner_${version}_all.deb`);
  await push(server, 'v7');
  await shows('v7');
  await until('runner status shop', /v7 since/);
  assert.match(await type('grep -c from_the_future /opt/runner/state/shop.json'), '1');
  await type('systemctl stop runner-fetch.timer runner-fetch.service');
  await edit('a.version=2');
  const before = await container.ok('cat /opt/runner/state/shop.json');
  const refused = await type('runner deploy shop', { status: 1 });
  assert.match(refused, /was written by a newer runner/);
  assert.is(await container.ok('cat /opt/runner/state/shop.json'), before);
  await edit('a.version=1');
  await type('systemctl start runner-fetch.timer');
}

async function uninstall({ container, step, type, shows }: Server, version: string): Promise<void> {
  step('it is removed: the app runs on, and all data stay, also when it is purged');
  await type('dpkg --remove runner');
  await shows('v7');
  await type('systemctl list-timers --no-pager --legend=no "runner-*"; test ! -e /usr/bin/runner');
  const data = () => container.ok('cd /opt/runner && find . -type f | sort | xargs sha256sum');
  const kept = await data();
  await type('dpkg --purge runner');
  assert.is(await data(), kept);
  step('installed again, it goes on where it was');
  await type(`dpkg -i /srv/release/runner_${version}_all.deb`);
  assert.match(await type('runner list'), /shop/);
  await type('dpkg --purge runner');
}

async function installFromTarball(server: Server, version: string): Promise<void> {
  const { step, type, shows } = server;
  step('the same from the tarball, below /usr/local');
  await type(
    `cd /root && tar xzf /srv/release/runner-${version}.tar.gz && ./runner-${version}/install`,
  );
  assert.match(await type('command -v runner'), '/usr/local/bin/runner');
  // The list went with the package's configuration.
  await type('echo shop.service >> /etc/runner/units');
  await push(server, 'v8');
  await shows('v8');
  await type(`/root/runner-${version}/install --uninstall`);
  await type('find /usr/local /etc -name "*runner*" -not -path "/etc/runner*"');
  assert.is(await page(PORT), 'v8');
}
