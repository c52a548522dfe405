/** Chapters about the product: the package comes, is upgraded and leaves; the tarball does the same. */
import { page } from '@runner/testing/app';
import * as assert from 'uvu/assert';
import { PORT, type Server } from './server.ts';
import { push, SLOW_ONCE } from './shop.ts';

export async function install({ step, type }: Server, version: string): Promise<void> {
  step('the package is installed');
  await type(`dpkg -i /srv/release/runner_${version}_all.deb`);
  assert.match(await type('runner --version'), version);
  await type("stat -c '%A %U:%G %n' /opt/runner /opt/runner/*");
  const timers = await type('systemctl list-timers --no-pager --legend=no "runner-*"');
  assert.match(timers, /runner-fetch\.timer/);
  assert.match(timers, /runner-notify\.timer/);
  step('the units have few rights');
  for (const unit of ['runner-fetch', 'runner-notify']) {
    const score = await type(`systemd-analyze security --no-pager ${unit}.service | tail -n 1`);
    assert.ok(Number(/: ([\d.]+) /.exec(score)?.[1]) < 3.5, 'the score of the unit');
  }
  await type('systemctl start runner-fetch.service runner-notify.service');
}

export async function upgradeAndBack(server: Server, version: string): Promise<void> {
  const { container, step, type, until, shows } = server;
  step(
    'an upgrade in the middle of a deploy: the app runs on, the deploy is taken up again, off stays off',
  );
  const pid = await container.ok('systemctl show -P MainPID shop.service');
  await type('systemctl disable --now runner-notify.timer');
  await push(server, 'v6', { 'build.js': SLOW_ONCE });
  await until('ls /opt/runner/apps/shop/instances/default/shared', /slow/);
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
  await edit('a.version=99');
  const before = await container.ok('cat /opt/runner/state/shop.json');
  const refused = await type('runner deploy shop', { status: 1 });
  assert.match(refused, /was written by a newer runner/);
  assert.is(await container.ok('cat /opt/runner/state/shop.json'), before);
  await edit('a.version=1');
  await type('systemctl start runner-fetch.timer');
}

export async function uninstall(
  { container, step, type, shows }: Server,
  version: string,
): Promise<void> {
  step('it is removed: the app runs on, and all data stay, also when it is purged');
  await type('dpkg --remove runner');
  await shows('v7');
  await type('systemctl list-timers --no-pager --legend=no "runner-*"; test ! -e /usr/bin/runner');
  const data = () => container.ok('cd /opt/runner && find . -type f | sort | xargs sha256sum');
  step('installed again, it goes on as it was switched: the timer that was on, the other off');
  await type(`dpkg -i /srv/release/runner_${version}_all.deb`);
  await type('systemctl is-active runner-fetch.timer');
  await type('systemctl is-enabled runner-notify.timer', { status: 1 });
  await type('systemctl stop runner-fetch.timer runner-fetch.service; dpkg --remove runner');
  const kept = await data();
  await type('dpkg --purge runner');
  assert.is(await data(), kept);
  assert.is(await type('find /etc/systemd/system -path "*.wants/runner-*"'), '');
  step('installed after that, it knows what was deployed');
  await type(`dpkg -i /srv/release/runner_${version}_all.deb`);
  assert.match(await type('runner list'), /shop/);
  const beside = `cd /root && tar xzf /srv/release/runner-${version}.tar.gz && ./runner-${version}/install`;
  assert.match(await type(beside, { status: 1 }), /the Debian package runner is installed/);
  await type('dpkg --purge runner');
}

export async function installFromTarball(server: Server, version: string): Promise<void> {
  const { step, type, until, shows } = server;
  step('the same from the tarball, below /usr/local');
  await type(
    `cd /root && tar xzf /srv/release/runner-${version}.tar.gz && ./runner-${version}/install`,
  );
  assert.match(await type('command -v runner'), '/usr/local/bin/runner');
  // The list went with the package's configuration.
  await type('echo shop.service >> /etc/runner/units');
  await push(server, 'v8');
  await shows('v8');
  // Before its deploy has ended, taking runner away cancels it, and v7 is back.
  await until('runner status shop', /v8 since/);
  await type(`/root/runner-${version}/install --uninstall`);
  await type('find /usr/local /etc -name "*runner*" -not -path "/etc/runner*"');
  assert.is(await page(PORT), 'v8');
}

export async function bringItsNode({ step, type, shows }: Server, version: string): Promise<void> {
  step('the package that brings its Node runs where there is no other');
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  await type(`dpkg --force-confold -i /srv/release/runner_${version}_${arch}.deb`);
  await type('mv /usr/bin/node /usr/bin/node.away');
  assert.match(await type('runner --version'), version);
  assert.match(await type('runner list'), /shop .*v8/);
  // The timers of the packages before it may have started them five times in ten seconds.
  await type('systemctl reset-failed runner-fetch.service runner-notify.service');
  await type('systemctl start runner-fetch.service runner-notify.service');
  await shows('v8');
  await type('mv /usr/bin/node.away /usr/bin/node');
  step('the package for all architectures after it runs on the one of the system');
  await type(`dpkg -i /srv/release/runner_${version}_all.deb`);
  assert.is(await type('readlink /usr/lib/runner/node/bin/node'), '/usr/bin/node\n');
  assert.match(await type('runner list'), /shop .*v8/);
}
