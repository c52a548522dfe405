import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCodeHost } from '@runner/testing/code-host';
import { run, shellWord } from '@runner/testing/run';
import { findBytes } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { leftOf } from '../../libs/common/test/secrets/encodings.ts';
import { deployFile, TOKEN, worldSuite } from './world.ts';

const test = worldSuite('secrets');

test('the master keys and the credentials of the chats that a step prints are shown nowhere', async ({
  world,
}) => {
  // Not as the services make them: only the files themselves show that they are secrets.
  const bot = '4711:of-our-own-4f1c09';
  const hook = 'hook-7d2e55aa';
  const [config, mkey] = [join(world.root, 'config.yml'), join(world.root, 'mkey')];
  const older = Buffer.alloc(32, 'k').toString('base64url');
  appendFileSync(mkey, `${older}\n`);
  appendFileSync(
    config,
    `telegram_bot_token: "${bot}"\nnotify: { discord_webhook: "http://127.0.0.1:9/h/${hook}" }\n`,
  );
  const [key1, cat] = [shellWord(mkey), `cat ${shellWord(mkey)} ${shellWord(config)}`];
  const build = `build: ${JSON.stringify(`${cat}; head -1 ${key1} | base64 -w0; exit 1`)}`;
  await world.push('v1', { deploy: deployFile(world.port, build) });
  const done = await world.deploy(['--no-notify']);
  assert.is(done.status, 1);
  assert.match(String(world.events().at(-1)?.error), /^build: .*\[REDACTED\]/s);
  const id = String(world.events().at(-1)?.deploy_id);
  const logged = readFileSync(join(world.root, 'logs/deploys/shop', `${id}.log`), 'utf8');
  const [key = ''] = readFileSync(mkey, 'utf8').split('\n');
  const lastError = await run('runner-debug', ['last-error', 'shop'], { root: world.root });
  const shown = [done.stdout, done.stderr, logged, JSON.stringify(world.events())];
  const texts = [...shown, lastError.stdout].join('\n');
  assert.match(lastError.stdout, /\[REDACTED\]/);
  const inBase64 = Buffer.from(`${key}\n`).toString('base64').slice(0, 40);
  for (const secret of [key, older, bot, hook, inBase64]) {
    assert.not.ok(texts.includes(secret), secret);
  }
});

test('an empty value is refused: the command before the pipe may have failed', async ({
  world,
}) => {
  const { root } = world;
  const set = (stdin: string, ...more: string[]) =>
    run('runner-env', ['set', 'shop', 'API_KEY', '--file', '-', ...more], { root, stdin });
  await set('is-API_KEY-1');
  const empty = await set('');
  assert.is(empty.status, 2);
  assert.match(empty.stderr, 'the value of API_KEY is empty: add --plain if that is meant');
  assert.is((await set('', '--plain')).status, 0);
});

test('a sealed value does not open under another name of its app', async ({ world }) => {
  const { root } = world;
  for (const name of ['KEY_A', 'KEY_B']) {
    await run('runner-env', ['set', 'shop', name, '--file', '-'], { root, stdin: `is ${name}` });
  }
  const path = join(root, 'secrets/shop.json');
  const file = JSON.parse(readFileSync(path, 'utf8'));
  file.secrets[1].sealed = file.secrets[0].sealed;
  writeFileSync(path, JSON.stringify(file));
  const deployed = await world.push('v1').then(() => world.deploy());
  const listed = await run('runner-env', ['list', 'shop'], { root });
  for (const { status, stdout, stderr } of [listed, deployed]) {
    assert.is(status, 1, stdout);
    assert.match(stdout + stderr, /the secret KEY_B of 'shop' was sealed for another app or field/);
  }
});

test('a secret that a build prints escaped, listed or dumped is shown nowhere', async ({
  world,
}) => {
  const url = 'postgres://shop:Pa55wordXyZq@db.internal:5432/shop?sslmode=require&pool=5';
  const short = 'Pa55<wo>rd"ß9';
  for (const [name, value] of Object.entries({ DATABASE_URL: url, PASSWORD: short })) {
    const set = await run('runner-env', ['set', 'shop', name, '--file', '-'], {
      root: world.root,
      stdin: value,
    });
    assert.is(set.status, 0, set.stderr);
  }
  // As PHP, Go, Python and others print them.
  const print = `for (const value of [process.env.DATABASE_URL, process.env.PASSWORD]) {
  const json = JSON.stringify({ value });
  const bytes = [...Buffer.from(value)];
  console.log(json.replaceAll('/', '\\/'));
  console.log(json.replace(/[^ -~]|[<>&]/g, (sign) => '\\u' + sign.charCodeAt(0).toString(16).padStart(4, '0')));
  console.log(value.replace(/[^a-z0-9]/gi, (sign) => '&#' + sign.charCodeAt(0) + ';'));
  console.log(encodeURI(value));
  console.log('[' + bytes.join(' ') + ']');
  console.log(JSON.stringify(Buffer.from(value)));
  console.log(btoa(btoa(Buffer.from(value).toString('latin1'))));
  console.log(bytes.map((byte) => '\\' + byte.toString(8).padStart(3, '0')).join(''));
}
`;
  const dumps = ['hexdump', 'od', 'od -x', 'od -c', 'xxd -e', 'xxd -b', 'hexdump -C', 'base64 -w20']
    .map((tool) => `printf %s "$v" | ${tool}`)
    .join('\n');
  const script = `node print.js; for v in "$DATABASE_URL" "$PASSWORD"; do\n${dumps}\nbash -c 'printf %q "$0"' "$v"\ndone; exit 1\n`;
  await world.push('v1', {
    deploy: 'build: { run: sh ./print, env: [DATABASE_URL, PASSWORD] }\n',
    files: { print: script, 'print.js': print },
  });
  const done = await world.deploy(['-v']);
  assert.is(done.status, 1);
  const { root } = world;
  const page = join(temporaryFolder('report'), 'page.html');
  const report = await run('runner-report', ['--html', page], { root });
  assert.is(report.status, 0, report.stderr);
  const id = String(world.events().at(-1)?.deploy_id);
  const kept = readFileSync(join(root, 'logs/deploys/shop', `${id}.log`), 'utf8');
  const lastError = await run('runner-debug', ['last-error', 'shop'], { root });
  const texts = [done.stdout, done.stderr, kept, lastError.stdout, JSON.stringify(world.events())];
  assert.match(kept, /\[REDACTED\]/);
  // The beginnings, middles and ends of the values in the forms that are printed.
  const traces = [
    ...['Pa55wordXyZq', 'db.internal', 'Pa55', 'UGE1NX', 'VUdFMU5Y', '80 97 53 53', '80,97,53,53'],
    ...['\\120\\141\\065\\065', '6150 3535', '060520', '35356150', '01010000 01100001 00110101'],
    ...['P   a   5   5', '50 61 35 35', 'c3 9f', '195 159', 'cG9zdGdyZXM6'],
  ];
  for (const text of [...texts, readFileSync(page, 'utf8')])
    for (const trace of traces) assert.not.ok(text.includes(trace), trace);
});

test('a deploy log holds no control characters; debug log --raw shows what the build printed', async ({
  world,
}) => {
  const title = "printf '\\033[31mred\\033[0m\\a \\342\\200\\256back\\r\\n'";
  await world.launch('v1', { deploy: `build: ${JSON.stringify(`${title} # \u202e`)}\n` });
  const id = String(world.events().at(-1)?.deploy_id);
  const kept = readFileSync(join(world.root, 'logs/deploys/shop', `${id}.log`), 'utf8');
  assert.not.match(kept, /[^\t\n -\u007e\u2400-\u2421]/);
  assert.match(kept, /\n␛\[31mred␛\[0m␇ \\u202eback\n/);
  const show = (...args: string[]) =>
    run('runner-debug', ['log', 'shop', ...args], { root: world.root });
  assert.match((await show()).stdout, /\n {2}red \\+u202eback\n/);
  assert.match((await show('--raw')).stdout, /\n\x1b\[31mred\x1b\[0m\x07 \\u202eback\n/);
  const refused = await show('--raw', '--follow');
  assert.is(refused.status, 2);
});

test('a private key printed in pieces is never shown, and the text around it is', async ({
  world,
}) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = String(privateKey.export({ type: 'pkcs1', format: 'pem' }));
  const path = join(temporaryFolder('key'), 'key.pem');
  writeFileSync(path, pem);
  const [key, logs] = [shellWord(path), shellWord(join(world.root, 'logs/deploys/shop'))];
  // Each part is in the log, as far as it comes there, before the next is printed.
  const seen = (text: string) => `until grep -qF '${text}' ${logs}/*.log; do sleep 0.05; done`;
  const build = [
    `head -5 ${key}; ${seen('[REDACTED]')}`,
    `sed -n 6,10p ${key}; echo first part; ${seen('first part')}`,
    `tail -n +11 ${key}; echo 'error: bad'; exit 1`,
  ].join('; ');
  await world.push('v1', {
    deploy: `build: { run: "sh build.sh", timeout: 60s }\n`,
    files: { 'build.sh': build },
  });
  const done = await world.deploy(['--no-notify']);
  assert.is(done.status, 1, done.stderr);
  const id = String(world.events().at(-1)?.deploy_id);
  const logged = readFileSync(join(world.root, 'logs/deploys/shop', `${id}.log`), 'utf8');
  const { root } = world;
  const lastError = await run('runner-debug', ['last-error', 'shop'], { root });
  const log = await run('runner-debug', ['log', 'shop'], { root });
  const events = JSON.stringify(world.events());
  const shown = [done.stdout, done.stderr, logged, events, lastError.stdout, log.stdout];
  const body = pem.trim().split('\n').slice(1, -1);
  assert.equal(
    body.filter((line) => shown.some((text) => text.includes(line.slice(0, 20)))),
    [],
  );
  assert.match(logged, /\$ sh build\.sh\n\[REDACTED\]\nfirst part\nerror: bad\nbuild: /);
});

test('a private key in one line, where the log is cut into blocks, is shown nowhere', async ({
  world,
}) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = String(privateKey.export({ type: 'pkcs1', format: 'pem' }));
  const folder = temporaryFolder('key');
  // The line before it fills nearly a block; then the cut is in the key, in its first words, before it.
  for (const [index, before] of [261_900, 262_134, 262_120, 261_000].entries()) {
    const key = JSON.stringify({ key: pem });
    writeFileSync(
      join(folder, `${index}`),
      `${'x'.repeat(before)} ${key} ${'y'.repeat(262_144)}\n`,
    );
  }
  for (const name of ['0', '1', '2', '3']) {
    const build = `build: ${JSON.stringify(`cat ${shellWord(join(folder, name))}; exit 1`)}\n`;
    await world.push(`v${name}`, { deploy: build });
    assert.is((await world.deploy(['--no-notify'])).status, 1);
    const id = String(world.events().at(-1)?.deploy_id);
    const logged = readFileSync(join(world.root, 'logs/deploys/shop', `${id}.log`), 'utf8');
    assert.match(logged, /x \{"key":"\[REDACTED\]/);
    const body = pem.trim().split('\n').slice(1, -1);
    assert.equal(
      body.filter((line) => logged.includes(line.slice(0, 20))),
      [],
      name,
    );
  }
});

test("a user's credential helper never gets the token, and git reads none of the user's configuration", async ({
  world,
}) => {
  await world.push('v1');
  const home = temporaryFolder('home');
  const stored = join(home, 'stored');
  writeFileSync(
    join(home, '.gitconfig'),
    `[credential]\n\thelper = store --file=${stored}\n[core]\n\thooksPath = ${home}\n`,
  );
  const done = await world.deploy([], { HOME: home });
  assert.is(done.status, 0, done.stderr);
  assert.equal(findBytes(home, TOKEN), []);
});

test('a host that redirects to another one does not make git hand the token over', async ({
  world,
}) => {
  await world.push('v1');
  const other = await startCodeHost();
  other.fail({ status: 401, headers: { 'www-authenticate': 'Basic realm="git"' } }, 9);
  world.git.fail(
    { redirect: `${other.url}/acme/shop.git/info/refs?service=git-upload-pack` },
    4,
    'info/refs',
  );
  const done = await world.deploy();
  assert.is(done.status, 1);
  const words = `redirects to ${new URL(other.url).origin}, where the token is not sent: `;
  assert.ok(done.stderr.includes(words) && done.stderr.includes('(code_host_error)'), done.stderr);
  assert.not.ok(
    JSON.stringify(other.requests).includes(
      Buffer.from(`x-access-token:${TOKEN}`).toString('base64'),
    ),
  );
  assert.not.ok(JSON.stringify(other.requests).includes(TOKEN));
  await other.close();
});

test('git tracing that a user switched on does not print the token into any log', async ({
  world,
}) => {
  await world.push('v1');
  const trace = join(temporaryFolder('trace'), 'trace');
  const env = {
    GIT_TRACE: trace,
    GIT_TRACE_CURL: trace,
    GIT_CURL_VERBOSE: '1',
    GIT_TRACE_REDACT: '0',
  };
  const done = await world.deploy([], env);
  assert.is(done.status, 0, done.stderr);
  assert.is(spawnSync('test', ['-e', trace]).status, 1);
});

test('a .deploy.yml that is a link, or has shared paths outside the release, is refused', async ({
  world,
}) => {
  const victim = join(temporaryFolder('victim'), 'kept');
  mkdirSync(victim);
  writeFileSync(join(victim, 'file'), 'precious\n');
  await world.git.commit(
    'acme/shop',
    { '.deploy.yml': 'shared: [out/kept/]\n', out: { link: join(victim, '..') } },
    'escape',
  );
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(
    String(world.events().at(-1)?.error),
    /shared: out is not a plain folder in this commit/,
  );
  assert.is(spawnSync('cat', [join(victim, 'file')], { encoding: 'utf8' }).stdout, 'precious\n');
  await world.git.commit('acme/shop', { '.deploy.yml': { link: '/etc/passwd' } }, 'link');
  await world.deploy();
  assert.match(
    String(world.events().at(-1)?.error),
    /\.deploy\.yml is not a regular file in this commit/,
  );
});

test('a branch or repository that looks like an option is refused by its name', async ({
  world,
}) => {
  for (const args of [
    ['--repo', 'acme/x', '--branch=--upload-pack=touch pwned'],
    ['--repo=-o/x', '--branch', 'main'],
    ['--repo', 'acme/..', '--branch', 'main'],
  ]) {
    const done = await run('runner-add', [...args, '--public'], { root: world.root });
    assert.is(done.status, 1, args.join(' '));
    assert.match(done.stderr, /\(name_invalid\)\n$/);
  }
});

test('on a full disk the deploy fails with a sentence, and the version before still answers', async ({
  world,
}) => {
  if (process.geteuid?.() !== 0) {
    process.stdout.write('skipped: only root can mount a small tmpfs\n');
    return;
  }
  await world.launch('v1');
  const releases = join(world.root, 'apps/shop/releases');
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', releases]);
  if (mounted.status !== 0) {
    process.stdout.write('skipped: tmpfs cannot be mounted here\n');
    return;
  }
  try {
    await world.push('v2', { files: { 'large.bin': 'x'.repeat(400_000) } });
    const done = await world.deploy();
    assert.is(done.status, 1);
    assert.match(String(world.events().at(-1)?.error), /^export: no space left on the disk/);
    assert.is(await world.page(), 'v1');
    assert.is(world.state().failures, null);
  } finally {
    spawnSync('umount', [releases]);
    rmSync(join(releases, 'none'), { force: true });
  }
});

test('a token that a build prints wrapped, dumped, encoded or across a cut is shown nowhere', async ({
  world,
}) => {
  const path = join(temporaryFolder('token'), 'token');
  writeFileSync(path, `x-access-token:${TOKEN}\n`);
  const file = shellWord(path);
  const bytes = `$(od -An -v -tx1 < ${file} | tr -d '\n')`;
  const script = `base64 -w 76 ${file}; base64 -w 64 ${file}; base32 ${file}; od -An -v -tx1 ${file}
od -v -tx1 ${file}; for b in ${bytes}; do printf '%%%s' $b; done; echo; for b in ${bytes}; do printf '%s:' $b; done; echo
sed 's/./&\\r/g' ${file}; fold -w 9 ${file} | sed 's/$/\\\\/'; sed "s/./&$(printf '\\315\\217')/g" ${file}
head -c ${262_144 - 60} /dev/zero | tr '\\0' a; cat ${file}; head -c 262144 /dev/zero | tr '\\0' b; cat ${file}
base64 -w 20 ${file} | while read -r line; do echo $line; sleep 0.3; done
exit 1`;
  await world.push('v1', { deploy: 'build: sh ./print\n', files: { print: script } });
  const done = await world.deploy(['-v']);
  assert.is(done.status, 1);
  const lastError = await run('runner-debug', ['last-error', 'shop'], { root: world.root });
  const log = await run('runner-debug', ['log', 'shop', '--raw'], { root: world.root });
  const id = String(world.events().at(-1)?.deploy_id);
  const kept = readFileSync(join(world.root, 'logs/deploys/shop', `${id}.log`), 'utf8');
  for (const text of [
    done.stdout + done.stderr,
    lastError.stdout,
    log.stdout,
    kept,
    JSON.stringify(world.events()),
  ])
    assert.is(leftOf(text, TOKEN), '');
  assert.match(kept, /\[REDACTED\]/);
});

test.run();
