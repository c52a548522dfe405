/** What setup makes, shows, leaves alone and undoes, with stand-ins for the programs of the server. */
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { running, writeState } from '@runner/testing/app-states';
import { run } from '@runner/testing/run';
import { startOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { madeStand, RUN, SITE, UNIT } from './setup.ts';
import { DEPLOY_FILE, makeStand, PLAIN_FILE } from './stand.ts';

test('a plain unit is enabled, and what is not needed is said', async () => {
  const stand = makeStand(PLAIN_FILE, []);
  const { status, stdout, stderr } = await stand.setup(...RUN, '--yes', '--user', 'web');
  assert.is(status, 0, stderr);
  assert.match(stdout, /note: no site is needed: no instance has a domain\n/);
  assert.match(
    stand.read('etc/systemd/system/shop.service'),
    /User=web\nUMask=0027\n[\s\S]*Environment=PORT=3000\n/,
  );
  assert.is(stand.read('state/enabled'), 'shop.service\n');
  const other = makeStand('start: { type: process, run: exec node server.js }\n', []);
  const none = await other.setup('--yes');
  assert.match(
    none.stdout,
    /note: no user, unit or access list is needed: start\.type is process\n/,
  );
  assert.match(
    (await other.setup(...RUN, '--yes')).stdout,
    'start.type is process; for --run, write start: { type: systemd, unit: shop.service } into .deploy.yml\n',
  );
  assert.match(
    (await makeStand('start: { type: none }\n', []).setup('--public', '.', '--yes')).stdout,
    'no instance has a domain: write instances: { default: { domain: www.example.org } } into .deploy.yml, and deploy it\n',
  );
});

test('without a command for the unit, with two proxies, or with a user of others, it says what to add', async () => {
  const stand = makeStand();
  const before = stand.tree();
  const refused = async (wanted: RegExp, ...args: string[]) => {
    const { status, stdout, stderr } = await stand.setup(...args);
    assert.equal([status, stdout], [2, '']);
    assert.match(stderr, wanted);
    assert.match(stderr, /^[^\n]*\n$/);
  };
  await refused(/shop@\.service should run is not known: add --run/, '--yes');
  await refused(
    /--run 'node '\\''un' is not a whole shell command: check its quotes/,
    '--run',
    "node 'un",
    '--yes',
  );
  await refused(/--yes \(stdin is not a terminal\)/, ...RUN);
  await refused(/--cert and --key go together/, '--cert', '/x', '--yes');
  await refused(/does not run as root/, ...RUN, '--yes', '--user', 'root');
  await refused(/haproxy is not installed/, ...RUN, '--yes', '--proxy', 'haproxy');
  assert.is(stand.tree(), before);
  stand.write('state/users', 'www-data\nshop\n');
  await refused(
    /the user shop exists and setup did not create it: add --user shop/,
    ...RUN,
    '--yes',
  );
  const two = makeStand(undefined, ['nginx', 'caddy']);
  assert.match((await two.setup(...RUN, '--yes')).stderr, /nginx and caddy are installed: choose/);
});

test('--run takes the command of a process app, with its exec', async () => {
  const stand = makeStand(PLAIN_FILE, []);
  const execOf = async (command: string) =>
    /^ +ExecStart=(.*)$/m.exec((await stand.setup('--run', command, '--print')).stdout)?.[1];
  assert.is(await execOf('exec node server.js'), '/usr/bin/env node server.js');
  assert.is(await execOf('exec /usr/bin/node server.js'), '/usr/bin/node server.js');
  assert.is(await execOf('exec node "a b.js"'), '/bin/sh -c "exec node \\"a b.js\\""');
});

test('a file of a person is replaced only after a yes to its difference, and comes back by --undo', async () => {
  const stand = makeStand();
  stand.write(UNIT, '[Service]\nUser=shop\nExecStart=/usr/bin/node old.js\n');
  const before = stand.tree();
  const refused = await stand.setup(...RUN, '--yes');
  assert.is(refused.status, 1);
  assert.match(
    refused.stderr,
    /shop@\.service exists and setup did not make it: .*\(foreign_file\)\n$/,
  );
  assert.is(stand.tree(), before);
  const typed = async (first: string) => {
    const options = {
      root: stand.path('root'),
      columns: 200,
      env: { ...stand.env, NO_COLOR: '1' },
    };
    const session = startOnTerminal('runner-setup', stand.command(...RUN).args, options);
    await session.answer('like this? [y/N] ', first);
    await session.answer('Make these changes? [y/N] ', 'y');
    return { ...(await session.done), text: session.text() };
  };
  const kept = await typed('n');
  assert.is(kept.status, 0, kept.text);
  assert.match(kept.text, /-ExecStart=\/usr\/bin\/node old\.js\r\n[\s\S]*kept {3}write/);
  assert.match(stand.read(UNIT), /old\.js/);
  const taken = await typed('y');
  assert.is(taken.status, 0, taken.text);
  assert.match(stand.read(UNIT), /server\.js/);
  assert.is((await stand.setup('--undo', '--yes')).status, 0);
  assert.is(stand.read(UNIT), '[Service]\nUser=shop\nExecStart=/usr/bin/node old.js\n');
});

test('a configuration that the proxy refuses is put back', async () => {
  const stand = makeStand();
  stand.write('state/bad-nginx', '');
  const { status, stdout, stderr } = await stand.setup(...RUN, '--yes', '--json');
  assert.is(status, 1);
  assert.match(
    stderr,
    /`nginx -t .*` failed: nginx: line 3 is wrong; the files are as they were before \(setup_failed\)\n$/,
  );
  assert.ok(JSON.parse(stdout).steps.some((each: { state: string }) => each.state === 'failed'));
  assert.throws(() => stand.read(SITE), /ENOENT/);
  rmSync(stand.path('state/bad-nginx'));
  assert.is((await stand.setup('--yes')).status, 0);
  const good = stand.read(SITE);
  stand.write(
    '.deploy.yml',
    stand.read('.deploy.yml').replace('shop.example.org', 'new.example.org'),
  );
  stand.write('state/bad-nginx', '');
  assert.is((await stand.setup('--yes')).status, 1);
  assert.is(stand.read(SITE), good);
});

test('a proxy that hangs in its reload is left after 30 s, with its files as before', async () => {
  const stand = makeStand(DEPLOY_FILE, ['caddy']);
  const main = 'etc/caddy/Caddyfile';
  mkdirSync(stand.path('etc/caddy'));
  stand.write(main, '# mine\n');
  stand.write('state/stuck', '');
  const { status, stdout, stderr } = await stand.setup(...RUN, '--yes');
  assert.is(status, 1);
  assert.match(
    stdout,
    /^ok {5}create the user[\s\S]*\nfailed check the configuration of caddy, and/,
  );
  assert.match(
    stderr,
    /: `systemctl reload-or-restart caddy` failed: it did not end within 30 s; the files are as they were before \(setup_failed\)\n$/,
  );
  assert.is(stand.read(main), '# mine\n');
  assert.throws(() => stand.read('etc/caddy/runner/shop.caddyfile'), /ENOENT/);
  // The reload that hangs would keep it from taking up anything later.
  assert.match(stand.read('state/log'), /systemctl is-active -- caddy\nsystemctl restart caddy\n$/);
});

test('what the app no longer needs goes, and what two apps need stays until both are undone', async () => {
  const stand = await madeStand();
  stand.write('.deploy.yml', 'start: { type: process, run: exec node server.js }\n');
  const { status, stdout } = await stand.setup('--yes');
  assert.is(status, 0);
  assert.match(stdout, /ok {5}undo: write \S+runner-shop\.conf\n/);
  assert.throws(() => stand.read(UNIT), /ENOENT/);
  assert.is(stand.read('state/users'), 'www-data\n');
});

test('a mistake in --deploy-file has the name of that file', async () => {
  const stand = makeStand();
  stand.write('t.yml', 'starts: {}\n');
  const args = ['shop', '--deploy-file', stand.path('t.yml'), '--print'];
  const { stderr } = await run('runner-setup', args, { root: stand.path('root'), env: stand.env });
  assert.ok(stderr.includes(`${stand.path('t.yml')}:1: `), stderr);
});

test('--print shows the site before and after certbot has its certificate', async () => {
  for (const [proxy, wanted] of [
    ['nginx', 'listen 443 ssl;'],
    ['haproxy', ':443'],
  ] as const) {
    const stand = makeStand(undefined, [proxy, 'certbot']);
    const { stdout } = await stand.setup(...RUN, '--print');
    const [first = '', then = ''] = stdout.split(/^.*certbot certonly.*$/m);
    assert.not.ok(first.includes(wanted));
    assert.match(then, /after certbot has the certificate: write /);
    assert.ok(then.includes(wanted), then);
    assert.match(then, new RegExp(`the certificate: check the configuration of ${proxy}, and`));
    // Nothing else is made twice.
    assert.is(then.match(/useradd|setfacl|ExecStart/g), null);
  }
});

test('a static app has a site of the folder that --public names, and the proxy may read its releases', async () => {
  const stand = makeStand('instances: { default: { domain: shop.example.org } }\n');
  const { status, stdout, stderr } = await stand.setup('--yes');
  assert.is(status, 0, stderr);
  assert.match(
    stdout,
    'note: nothing is started: add --public with the folder that the site of shop.example.org shows, such as dist, or . for the whole release\n',
  );
  for (const bad of ['../dist', '/srv', 'a b', 'dist;', '.git']) {
    const refused = await stand.setup('--yes', '--public', bad);
    assert.is(refused.status, 2, bad);
    assert.match(refused.stderr, 'must be a folder of the release');
  }
  assert.is((await stand.setup('--yes', '--public', 'apps/web/dist')).status, 0);
  const site = () => stand.read('etc/nginx/conf.d/runner-shop.conf');
  assert.match(site(), /^ {2}root \S+\/instances\/default\/current\/apps\/web\/dist;$/m);
  assert.match((await stand.setup('--yes')).stdout, 'nothing to do');
  assert.match(stand.read('state/acl'), /releases user:www-data:r-x/);
  assert.match(stand.read('state/acl'), /instances\/default user:www-data:--x/);
  assert.is((await stand.setup('--undo', '--yes')).status, 0);
  assert.is(stand.read('state/acl'), '');
});

test('a site of files never shows the source of PHP, and an app of PHP gets none', async () => {
  const file = 'instances: { default: { domain: shop.example.org } }\n';
  for (const [proxy, path, rule] of [
    ['nginx', 'etc/nginx/conf.d/runner-shop.conf', /location ~ .*\\\.php\$\) \{ return 404; \}/],
    ['caddy', 'etc/caddy/runner/shop.caddyfile', /path \*\/\.\* \*\.php\n/],
  ] as const) {
    const stand = makeStand(file, [proxy]);
    assert.is((await stand.setup('--yes', '--public', 'public')).status, 0);
    assert.match(stand.read(path), rule);
  }
  const stand = makeStand(file);
  const current = 'root/apps/shop/instances/default/current';
  mkdirSync(stand.path(`${current}/public`), { recursive: true });
  stand.write(`${current}/public/index.php`, '<?php\n');
  const { stdout } = await stand.setup('--yes', '--public', 'public');
  assert.match(
    stdout,
    'note: public/index.php needs PHP-FPM, which setup does not know: the site of shop.example.org is yours to write\n',
  );
  assert.not.ok(existsSync(stand.path('etc/nginx/conf.d/runner-shop.conf')));
});

test('certbot gets no name that is an option, an address or not public', async () => {
  const stand = makeStand(undefined, ['nginx', 'certbot']);
  const file = stand.read('.deploy.yml');
  const printed = async (domain: string) => {
    stand.write('.deploy.yml', file.replace('shop.example.org', `"${domain}"`));
    const { stdout } = await stand.setup(...RUN, '--print');
    return [/certbot certonly --domain (\S+)/.exec(stdout)?.[1], /^note: (.*)$/m.exec(stdout)?.[1]];
  };
  assert.equal(await printed('a-b.example.org'), ['a-b.example.org', undefined]);
  const refused = 'd-.example.org is not the name of a host: its site is yours to write';
  assert.equal(await printed('d-.example.org'), [undefined, refused]);
  for (const domain of ['127.0.0.1', 'localhost']) {
    const note = `${domain} has no TLS: Let's Encrypt gives no certificate for it; add --cert and --key for one of your own`;
    assert.equal(await printed(domain), [undefined, note]);
  }
});

test('the site waits until a version with traffic runs, and doctor names a file that is missing', async () => {
  const stand = makeStand();
  writeState(stand.path('root'), 'shop', { instances: running('v1') });
  const early = await stand.setup(...RUN, '--yes');
  assert.is(early.status, 0, early.stderr);
  assert.match(
    early.stdout,
    /note: the site of shop\.example\.org leads to the running version until/,
  );
  assert.throws(() => stand.read(SITE), /ENOENT/);
  const instance = stand.path('root/apps/shop/instances/default');
  symlinkSync('a', join(instance, 'live'));
  assert.is((await stand.setup('--yes')).status, 0);
  assert.match(stand.read(SITE), /live\/app\.sock/);
  rmSync(stand.path(UNIT));
  const { stdout } = await run('runner-doctor', ['--offline', '--json'], {
    root: stand.path('root'),
    env: { RUNNER_ETC: stand.path('etc') },
  });
  const found = JSON.parse(stdout).findings.filter((each: { fix: string }) =>
    each.fix?.startsWith('sudo runner setup shop'),
  );
  assert.equal([found.length, found[0].level], [1, 'problem']);
  assert.match(found[0].message, /shop@\.service is missing, which runner setup made for shop$/);
});

test('a unit of a person stays as it is, and one that is not of this app is refused', async () => {
  const stand = makeStand(PLAIN_FILE, []);
  const path = 'etc/systemd/system/shop.service';
  stand.write(path, '[Service]\nUser=www-data\nExecStart=/usr/bin/other\n');
  const other = await stand.setup('--yes');
  assert.match(
    other.stderr,
    /shop\.service does not run in \S+: it is not a unit of this app \(foreign_file\)\n$/,
  );
  const text = `[Service]\nUser=www-data\nWorkingDirectory=${stand.path('root/apps/shop/instances/default/current')}\n`;
  stand.write(path, text);
  const { status, stdout } = await stand.setup('--yes');
  assert.is(status, 0);
  assert.match(stdout, /note: shop\.service: left as they are\n/);
  assert.is(stand.read(path), text);
  assert.match(stand.read('etc/runner/units'), /^shop\.service$/m);
  assert.match(stand.read('state/acl'), /releases user:www-data:r-x/);
});

test.run();
