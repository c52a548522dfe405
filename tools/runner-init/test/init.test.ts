import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { atExit } from '@runner/testing/cleanup';
import { shell } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { init, laidOut, server, written } from './root.ts';

const NODE = {
  'package.json': { scripts: { build: 'tsc', start: 'node dist/index.js' } },
  'package-lock.json': {},
  'src/index.ts': "app.get('/healthz', ok)\n",
};

test('the file has a reason beside each setting, and says that nothing was proven', async () => {
  const folder = laidOut(NODE);
  const { status, stdout, stderr } = await init(folder, ['--no-prove', '--yes']);
  assert.equal(
    [status, written(folder)],
    [
      0,
      `# Node server with npm. Not proven: not tried, because of --no-prove.
# Safer: build: { run: …, network: [npm] }; network: learn lists the hosts it needs.

instances:
  default:
    env:
      PORT: "3000" # where it listens
# package-lock.json: npm; package.json: scripts.build
build:
  - npm ci
  - npm run build
start:
  type: process # runner starts it; type systemd also restarts it after a crash
  run: NODE_ENV=production node dist/index.js # package.json: scripts.start
health:
  url: http://127.0.0.1:\${PORT}/healthz # src/index.ts
watch: 10m # how long a release is judged once it is live
`,
    ],
  );
  assert.match(
    stdout,
    /^Wrote .*\.deploy\.yml\. Not proven: not tried, because of --no-prove\.\nNext: git add \.deploy\.yml, commit and push it, then runner add <owner\/name>\n$/,
  );
  assert.match(stderr, /^ {2}found: +Node server with npm\n/);
  assert.not.match(stderr, 'Not proven');
});

test('every other process of the Procfile is named, and each file of another tool', async () => {
  const folder = laidOut({
    ...NODE,
    Procfile: 'web: node a.js\nworker: node b.js\nmail-queue: node c.js\n',
    'ecosystem.config.js': 'module.exports = {}\n',
    'config/deploy.yml': 'service: shop\n',
  });
  const { stderr } = await init(folder, ['--no-prove']);
  assert.match(stderr, "not started: the Procfile's worker, node b.js; runner import procfile ");
  assert.match(stderr, "not started: the Procfile's mail-queue, node c.js");
  assert.match(
    stderr,
    'ecosystem.config.js is not read: see runner import pm2 ecosystem.config.js',
  );
  assert.match(stderr, 'config/deploy.yml is not read: see runner import kamal config/deploy.yml');
});

test('the images of a compose file are built before it is started', async () => {
  const files = { 'docker-compose.yml': 'services:\n  web:\n    build: .\n' };
  const { stdout } = await init(laidOut(files), ['--no-prove']);
  assert.match(stdout, /^build:\n {2}- docker compose build$/m);
  const inline = { 'compose.yaml': 'services: { web: { build: ., ports: ["127.0.0.1:1:1"] } }\n' };
  assert.match((await init(laidOut(inline), ['--no-prove'])).stdout, 'docker compose build');
  const named = { 'compose.yaml': 'services:\n  web: # build: .\n    image: shop\n' };
  assert.not.match((await init(laidOut(named), ['--no-prove'])).stdout, 'compose build');
});

test('without a terminal the file goes to stdout, and stderr says how to write it', async () => {
  const folder = laidOut(NODE);
  const { status, stdout, stderr } = await init(folder, ['--no-prove']);
  assert.equal([status, existsSync(join(folder, '.deploy.yml'))], [0, false]);
  assert.match(stdout, /^# Node server with npm/);
  assert.match(stderr, /runner init: \.deploy\.yml was not written: add --yes\n$/);
});

test('a file that is there is compared, and replaced with --force alone', async () => {
  const folder = laidOut({ ...NODE, '.deploy.yml': 'keep: 7\n' });
  const refused = await init(folder, ['--no-prove', '--yes']);
  assert.equal([refused.status, refused.stdout, written(folder)], [1, '', 'keep: 7\n']);
  assert.match(refused.stderr, /\n-keep: 7\n(?:\+.*\n)+/);
  assert.match(refused.stderr, /is there already: --force replaces it \(force_needed\)\n$/);
  assert.match(
    (await init(folder, ['--yes'])).stderr,
    '. Not proven: not tried, without --force.\n',
  );
  assert.is((await init(folder, ['--no-prove', '--yes', '--force'])).status, 0);
  assert.match(written(folder), 'npm run build');
});

test('a file that is there may be of another app of the repository, and init names the command for that', async () => {
  const folder = laidOut({
    'apps/api/package.json': NODE['package.json'],
    '.deploy.yml': 'keep: 7\n',
  });
  const { stderr } = await init(folder, ['--no-prove', '--yes', '--dir', 'apps/api']);
  assert.match(
    stderr,
    /--force replaces it; if it is of another app: runner init --app <APP> --dir apps\/api, on the server \(force_needed\)\n$/,
  );
});

test('a server that is among the packages of Django is not called missing', async () => {
  const folder = laidOut({ 'manage.py': 'import sys\n', 'requirements.txt': 'Django\ngunicorn\n' });
  const { status, stderr } = await init(folder, ['--no-prove']);
  assert.equal(
    [status, stderr],
    [
      1,
      'runner init: Django: manage.py names no settings such as PROJECT.settings, which would say what to start\n',
    ],
  );
});

test('the site of PHP is not one of setup, which would show its source', async () => {
  const folder = laidOut({ 'public/index.php': '<?php\n' });
  const { status, stderr } = await init(folder, ['--no-prove']);
  assert.is(status, 0);
  assert.match(
    stderr,
    /start\.type: +none {2}\(PHP-FPM runs it: write its site yourself, for …\/current\/public\)\n/,
  );
});

test('where a set does not have the hosts of the files, learn is suggested', async () => {
  const line = '\n# Safer: build: { run: …, network: learn } lists the hosts it needs.\n';
  for (const files of [
    { 'requirements.txt': 'flask\ngunicorn\n', 'app.py': 'app = Flask(__name__)\n' },
    { Gemfile: "source 'https://rubygems.org'\ngem 'rack'\ngem 'puma'\n", 'config.ru': 'run 1\n' },
  ]) {
    const { stdout, stderr } = await init(laidOut(files), ['--no-prove']);
    assert.ok(stdout.includes(line), stdout + stderr);
  }
});

test('what is not known is one sentence, and a file to fill in that runner accepts', async () => {
  const folder = laidOut({ 'README.md': '# x\n' });
  const { status, stdout, stderr } = await init(folder, ['--yes']);
  assert.equal([status, existsSync(join(folder, '.deploy.yml'))], [1, false]);
  assert.match(stderr, /^runner init: no file names a known stack: .*\n$/);
  assert.match(stdout, /^# To be filled in and saved as \.deploy\.yml: no file names .*\n/);
  assert.match(stdout, /\n# start: \{ type: process, run: \.\/server \}/);
});

test('a hostile repository is read in bounds, inside, and printed without control characters', async () => {
  const folder = laidOut({
    'package.json': `{"scripts":{"start":"node x.js"},"pad":"${'x'.repeat(400_000)}"}`,
    Procfile: 'web: echo \u001b[2J\n',
    'requirements.txt': `flask\ngunicorn\n${'a'.repeat(200_000)}`,
    'app.py': `${'a'.repeat(200_000)}\n${' '.repeat(50_000)}`,
    '.env.example': '',
  });
  symlinkSync('/etc/passwd', join(folder, 'index.html'));
  symlinkSync('/', join(folder, 'apps'));
  symlinkSync('.', join(folder, 'loop'));
  execFileSync('mkfifo', [join(folder, 'go.mod')]);
  mkdirSync(join(folder, 'x/'.repeat(300)), { recursive: true });
  mkdirSync(join(folder, '\u001b[31mred\nline'));
  writeFileSync(join(folder, '\u001b[31mred\nline/package.json'), '{"scripts":{"start":"node a"}}');
  for (let at = 0; at < 3_000; at += 1) writeFileSync(join(folder, `file-${at}.js`), '');
  const began = performance.now();
  const { status, stdout, stderr } = await init(folder, ['--no-prove']);
  assert.ok(performance.now() - began < 10_000);
  assert.is(status, 1);
  assert.not.match(stdout + stderr, /[\x00-\x08\x0b-\x1f\x7f]/);
  assert.not.match(stdout + stderr, 'root:');
});

test('a folder and an app are refused with one sentence', async () => {
  const { status, stderr } = await init(laidOut({}), ['--app', 'shop']);
  assert.is(status, 2);
  assert.is(stderr, 'error: the argument [FOLDER] cannot be used with --app <APP>\n');
});

test('on a server an ordinary user proves a checkout; only what sudo can do is advised', async () => {
  if (process.getuid?.() !== 0) return;
  const root = join(laidOut({ 'opt/config.yml': 'sandbox: { mode: off }\n' }), 'opt');
  chmodSync(root, 0o700);
  const folder = laidOut({
    'package.json': { scripts: { start: 'node a.js' } },
    'a.js': server('/'),
  });
  const made = mkdtempSync('/tmp/runner-init-');
  atExit(() => rmSync(made, { recursive: true }));
  for (const each of [made, folder]) chownSync(each, 65534, 65534);
  const as = (more: string) =>
    shell(
      `cd ${folder} && TMPDIR=${made} ${more} setpriv --reuid=65534 --regid=65534 --clear-groups '${process.execPath}' "$(command -v runner-init)" --yes`,
      { root },
    );
  const { status, stdout, stderr } = await as('RUNNER_SANDBOX=off');
  assert.is(status, 0, stderr);
  assert.match(stdout, /^Wrote \.deploy\.yml\. Proven: /);
  rmSync(join(folder, '.deploy.yml'));
  chownSync(folder, 0, 0);
  const sudo = await as('SUDO_USER=ada');
  assert.equal([sudo.status, sudo.stdout], [1, '']);
  assert.is(
    sudo.stderr,
    `runner init: ${folder} belongs to another user: run it without sudo (file_unreadable)\n`,
  );
  const closed = await as('');
  assert.match(
    closed.stderr,
    /cannot write \S+\.deploy\.yml: permission denied \(not_writable\)\n$/,
  );
});

test('a link in the place of .deploy.yml is not followed', async () => {
  const folder = laidOut({ 'index.html': '' });
  symlinkSync('/etc/hostname', join(folder, '.deploy.yml'));
  const { status, stderr } = await init(folder, ['--yes', '--force']);
  assert.is(status, 1);
  assert.match(stderr, 'file_unreadable');
});

test.run();
