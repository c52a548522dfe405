/** Chapters about an app: it is added, deployed, fails, and is there again after a restart. */
import { appFiles, page } from '@runner/testing/app';
import { until as arrived } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { PORT, REPO, type Server, TOKEN } from './server.ts';
import { BROKEN, DEPLOY_FILE, push, UNIT } from './shop.ts';

/** Timers of the story are due every two seconds instead of every minute, and a failed attempt waits as long. */
const HURRY = '[Timer]\nOnCalendar=\nOnCalendar=*:*:0/2\nRandomizedDelaySec=0\n';

/** `more` is added to config.yml. */
export async function addApp(
  { container, git, discord, step, type }: Server,
  more = 'sandbox: required\nretry_after: [2s, 2s]\n',
): Promise<void> {
  step('an app is registered, its unit made, and runner allowed to restart it');
  await container.ok('useradd --system shop');
  await container.ok('cat > /etc/systemd/system/shop.service', { stdin: UNIT });
  for (const timer of ['runner-fetch', 'runner-notify']) {
    const folder = `/etc/systemd/system/${timer}.timer.d`;
    await container.ok(`mkdir -p ${folder}; cat > ${folder}/hurry.conf`, { stdin: HURRY });
  }
  const config = `code_host_git_url: ${git.url}\n${more}notify:\n  discord_webhook: ${discord.webhook}\n`;
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

export async function deployByTimer(server: Server): Promise<void> {
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

export async function failAndRollBack(server: Server): Promise<void> {
  const { discord, step, type, until, shows } = server;
  step('v2 does not compile: v1 stays, and after three attempts the commit is left alone');
  await push(server, 'v2', { 'build.js': BROKEN });
  await until('tail -n 1 /opt/runner/logs/fetch.log', /deploy blocked, same commit failed 3 times/);
  await shows('v1');
  assert.match(await type('runner debug last-error shop'), /TS2339/);

  step('v3 compiles and does not become healthy: v1 is brought back');
  const soon = DEPLOY_FILE.replace('within: 60s', 'within: 10s');
  await push(server, 'v3', { HEALTH: '503\n', '.deploy.yml': soon });
  await until('grep -c RollbackSuccess /opt/runner/logs/deploy-events.jsonl || :', /^[1-9]/);
  await until('runner debug last-error shop', /v3[\s\S]*answered 503/);
  await shows('v1');
  const kinds = () => discord.messages.map(({ content }) => content ?? '').join('\n');
  await arrived(() => /failed/i.test(kinds()), 'the chat is not told of the failure');
  await arrived(() => /roll/i.test(kinds()), 'the chat is not told of the rollback');
}

export async function rotate(server: Server): Promise<void> {
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
health: { url: "http://127.0.0.1:${port}/health", interval: 100ms, within: 60s }
`;
}

export async function otherWays({ container, git, step, type, until }: Server): Promise<void> {
  step('a unit of the user runner, and a process that outlives the service that started it');
  await type('loginctl enable-linger runner; systemctl start "user@$(id -u runner).service"');
  await container.ok('mkdir -p /etc/systemd/user; cat > /etc/systemd/user/blog.service', {
    stdin: `[Service]
WorkingDirectory=/opt/runner/apps/blog/instances/default/current
Environment=PORT=${PORT + 1}
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

  step('the master key may belong to root: the timers get it as a credential, and so does a job');
  await type('install -D -m 0600 /opt/runner/mkey /etc/credstore/runner-mkey; rm /opt/runner/mkey');
  const jobs = `${DEPLOY_FILE}jobs: { tick: { run: "id -un; test $RUNNER_VERSION = v4-1", every: 1m } }\n`;
  await git.commit(REPO, { VERSION: 'v4-1\n', '.deploy.yml': jobs }, 'v4-1', { tag: 'v4-1' });
  await until('runner status shop', /v4-1 since/);
  await until('cat /opt/runner/apps/shop/jobs.json', /"outcome":"ok"/);
  assert.match(await type('cat /opt/runner/logs/jobs/shop/tick/*.log'), /\nrunner\n/);
  await type('systemctl is-active runner-jobs.timer');
  await type('runner tokens list', { status: 1 });
  await type('install -o runner -g runner -m 0600 /etc/credstore/runner-mkey /opt/runner/mkey');
  await type('rm /etc/credstore/runner-mkey');
}

export async function restart(server: Server): Promise<void> {
  const { container, step, type, shows } = server;
  step('the server is restarted: the app is back, and the timers go on');
  await container.reboot();
  await shows('v4-1');
  await push(server, 'v5');
  await shows('v5');
  await type('systemctl is-active runner-fetch.timer runner-notify.timer');
}

export async function look({ step, type, until }: Server): Promise<void> {
  step('a member of runner-view looks without sudo, and reads no state; another user sees nothing');
  await type('useradd --create-home ada; usermod --append --groups runner-view ada');
  await until('runuser -u ada -- runner list', /shop +ok .*v4/);
  assert.match(await type('runuser -u ada -- runner why shop'), /v3/);
  await type('runuser -u ada -- cat /opt/runner/state/shop.json', { status: 1 });
  await type('runuser -u nobody -- runner list', { status: 1 });
}
