import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { running, writeState } from '@runner/testing/app-states';
import { atExit } from '@runner/testing/cleanup';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { madeStand, RUN, SITE, UNIT } from './setup.ts';
import { DEPLOY_FILE, makeStand } from './stand.ts';

test('an app with traffic gets its user, access lists, template, line and site, once', async () => {
  const stand = makeStand();
  const first = await stand.setup(...RUN, '--yes');
  assert.equal([first.status, first.stderr], [0, '']);
  assert.match(first.stdout, /^ok {5}create the user shop, without a login\n/);
  assert.match(first.stdout, /Set up shop\n$/);
  const unit = stand.read(UNIT);
  assert.match(
    unit,
    /User=shop\nUMask=0007\nLimitCORE=0\nWorkingDirectory=\S+\/instances\/%I\/current\n/,
  );
  assert.match(unit, /EnvironmentFile=-\/run\/runner\/\w{8}\/shop\/default\.env\n/);
  assert.match(unit, /ExecStartPre=rm -f \$\{PORT\}\nExecStart=\/usr\/bin\/env node server\.js\n/);
  assert.match(stand.read(SITE), /server_name shop\.example\.org;/);
  assert.match(stand.read(SITE), /proxy_pass http:\/\/unix:\S+\/live\/app\.sock:;/);
  assert.is(stand.read('etc/runner/units'), '# Units.\nblog.service\nshop@.service\n');
  const log = stand.read('state/log');
  assert.match(log, /useradd --system .* shop\n/);
  assert.match(
    log,
    /systemctl daemon-reload\n[\s\S]*nginx -t .*\nsystemctl reload-or-restart nginx\n/,
  );
  // A template is started by runner, slot by slot.
  assert.not.match(log, /enable/);
  const tree = stand.tree();
  const again = await stand.setup('--yes');
  assert.equal([again.status, stand.tree()], [0, tree]);
  assert.match(again.stdout, /^note: .*certificate.*\nnothing to do: everything is in place\n$/);
});

test('without a domain the proxy is let through to the slots, and no site is made', async () => {
  const stand = makeStand(DEPLOY_FILE.replace('{ domain: shop.example.org }', '{}'));
  const { status, stderr, stdout } = await stand.setup(...RUN, '--yes');
  assert.equal([status, stderr], [0, '']);
  assert.match(stdout, /\nnote: no site is needed: no instance has a domain\nSet up shop\n$/);
  assert.match(stand.read('state/acl'), /\/root\/apps user:www-data:--x\n/);
  assert.match(stand.read('state/acl'), /\/instances\/default user:www-data:--x\n/);
  assert.not.ok(existsSync(stand.path(SITE)));
});

test('--undo removes all that setup made, and nothing else', async () => {
  const stand = makeStand();
  const before = stand.tree();
  assert.is((await stand.setup(...RUN, '--yes')).status, 0);
  const { status, stderr, stdout } = await stand.setup('--undo', '--yes');
  assert.equal([status, stderr], [0, '']);
  assert.match(stdout, /Undid the setup of shop\n$/);
  // The folder of the app is runner's.
  const left = (tree: string) => tree.replace(/^root\/apps.*\n/gm, '');
  assert.is(left(stand.tree()), left(before));
  assert.match(
    (await stand.setup('--undo', '--yes')).stdout,
    /^nothing to undo: setup made nothing for shop\n$/,
  );
});

test('--print shows every file and command, and changes nothing', async () => {
  const stand = makeStand();
  const before = stand.tree();
  const { status, stdout } = await stand.setup(...RUN, '--print');
  assert.is(status, 0);
  assert.match(stdout, /useradd --system .* shop\n/);
  assert.match(stdout, / {5}ExecStart=\/usr\/bin\/env node server\.js\n/);
  assert.match(stdout, / {5}nginx -t -c /);
  const asJson = JSON.parse((await stand.setup(...RUN, '--print', '--json')).stdout);
  assert.equal([asJson.app, asJson.result], ['shop', 'printed']);
  assert.ok(asJson.steps.every((each: { state: string }) => each.state === 'wanted'));
  assert.is(stand.tree(), before);
});

test('a file that was changed since is neither replaced nor removed without a yes', async () => {
  const stand = await madeStand();
  stand.write(SITE, `${stand.read(SITE)}# mine\n`);
  const { status, stderr } = await stand.setup('--yes');
  assert.is(status, 1);
  assert.match(stderr, /runner-shop\.conf was changed since setup made it/);
  const undone = await stand.setup('--undo', '--yes');
  assert.match(
    undone.stdout,
    /kept {3}undo: write \S+runner-shop\.conf: it was changed since, and is yours: remove it if nothing needs it\n/,
  );
  assert.match(stand.read(SITE), /# mine/);
});

test('a key that the user of Caddy may not read is named before anything is changed', async () => {
  const stand = makeStand(DEPLOY_FILE, ['caddy']);
  mkdirSync(stand.path('etc/caddy'));
  const tls = mkdtempSync('/tmp/runner-tls-');
  atExit(() => rmSync(tls, { recursive: true }));
  const own = ['cert', 'key'].flatMap((name) => [`--${name}`, `${tls}/${name}.pem`]);
  writeFileSync(`${tls}/cert.pem`, '', { mode: 0o644 });
  // Groups are compared by number: root's is none of its own.
  writeFileSync(`${tls}/key.pem`, '', { mode: 0o640 });
  stand.write('root/config.yml', 'proxy_user: nobody\n');
  rmSync(stand.path('bin/id'));
  symlinkSync('/usr/bin/id', stand.path('bin/id'));
  const before = stand.tree();
  const { status, stdout, stderr } = await stand.setup(...RUN, '--yes', ...own);
  assert.equal([status, stdout], [1, '']);
  const typed = `sudo setfacl -m u:nobody:x ${tls} && sudo setfacl -m u:nobody:r ${tls}/key.pem`;
  assert.is(
    stderr,
    `runner setup: caddy runs as nobody, who may not read ${tls}/cert.pem and ${tls}/key.pem: ${typed} (file_unreadable)\n`,
  );
  assert.is(stand.tree(), before);
  chmodSync(`${tls}/key.pem`, 0o644);
  chmodSync(tls, 0o755);
  assert.is((await stand.setup(...RUN, '--yes', ...own)).status, 0);
  // A renewal replaces the key.
  chmodSync(`${tls}/key.pem`, 0o600);
  const renewed = await stand.setup('--yes');
  assert.equal([renewed.status, renewed.stdout], [1, '']);
  assert.match(
    renewed.stderr,
    `may not read ${tls}/key.pem: sudo setfacl -m u:nobody:r ${tls}/key.pem`,
  );
});

test('the answers of a configuration that the proxy refuses are not remembered', async () => {
  const stand = await madeStand();
  const choices = () => JSON.parse(stand.read('etc/runner/setup/shop.json')).choices;
  const before = choices();
  stand.write('state/bad-nginx', '');
  const { status } = await stand.setup('--yes', '--cert', '/dev/null', '--key', '/dev/null');
  assert.equal([status, choices()], [1, before]);
  rmSync(stand.path('state/bad-nginx'));
  const again = await stand.setup('--yes');
  assert.equal([again.status, choices()], [0, before], again.stderr);
});

test('a unit of a package is never taken', async () => {
  const stand = makeStand('start: { type: systemd, unit: systemd-journald.service }\n');
  const { status, stderr } = await stand.setup(...RUN, '--yes');
  assert.is(status, 1);
  assert.match(stderr, /belongs to a package: name a unit of the app's own in start\.unit/);
});

test('the file of a version that runs may be older than a rule', async () => {
  const { env, path, write } = makeStand();
  writeState(path('root'), 'shop', { instances: running('v1') });
  mkdirSync(path('root/apps/shop/files'), { recursive: true });
  const old = `${DEPLOY_FILE}watch: { for: 1m, errors: 1% }\n`;
  write('root/apps/shop/files/20260504093000-0123456789ab.deploy.yml', old);
  const shown = await run('runner-setup', ['shop', ...RUN, '--print'], { root: path('root'), env });
  assert.equal([shown.status, shown.stderr], [0, '']);
});

test.run();
