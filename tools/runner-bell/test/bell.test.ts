import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhooks } from '@octokit/webhooks';
import { freePort } from '@runner/testing/app';
import { writeState } from '@runner/testing/app-states';
import { cleanEnvironment, executable, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { Webhook } from 'standardwebhooks';
import * as assert from 'uvu/assert';
import { BODY, bellSuite } from './bell.ts';
import { HOSTS, headersOf, rung, send } from './clients.ts';

const test = bellSuite('bell');

for (const host of HOSTS)
  test(`a call signed as ${host} documents it leaves word for a fetch`, async ({ bell }) => {
    const headers = headersOf(host, bell.secrets[host], BODY);
    const { status, text } = await send(bell.port, { path: `/${host}`, headers, body: BODY });
    assert.equal([status, JSON.parse(text)], [202, { app: host, will: 'fetch' }]);
    assert.equal(rung(bell), [host]);
  });

test('a signature of @octokit/webhooks is accepted', async ({ bell }) => {
  const signature = await new Webhooks({ secret: bell.secrets.github }).sign(BODY);
  const headers = { 'X-Hub-Signature-256': signature };
  assert.is((await send(bell.port, { path: '/github', headers, body: BODY })).status, 202);
});

test("GitLab's signing token is accepted as its library signs, and nothing else with its headers", async ({
  bell,
}) => {
  const secret = bell.secrets.gitlab;
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const now = new Date();
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', now, BODY),
  };
  const status = async (changed: Record<string, string>, body = BODY) =>
    (await send(bell.port, { path: '/gitlab', headers: { ...headers, ...changed }, body })).status;
  const other = new Webhook(`whsec_${'A'.repeat(43)}=`).sign('msg_1', now, BODY);
  assert.is(await status({ 'webhook-signature': other }), 401);
  assert.is(await status({ 'webhook-signature': '' }), 401);
  assert.is(await status({ 'webhook-id': 'msg_2' }), 401);
  assert.is(await status({}, `${BODY} `), 401);
  assert.equal(rung(bell), []);
  assert.is(await status({ 'webhook-signature': `${other} ${headers['webhook-signature']}` }), 202);
  assert.is(await status({}), 202);
});

test('an absolute address, as proxies send it, is taken as its path', async ({ bell }) => {
  const headers = headersOf('github', bell.secrets.github, BODY);
  const path = 'http://deploy.example.com/github';
  assert.is((await send(bell.port, { path, body: BODY, headers })).status, 202);
  assert.equal(rung(bell), ['github']);
});

test('any other request is refused with the fitting status', async ({ bell }) => {
  const headers = headersOf('github', bell.secrets.github, BODY);
  const status = async (call: Parameters<typeof send>[1]) => (await send(bell.port, call)).status;
  assert.is(await status({ path: '/github', body: BODY }), 401);
  assert.is(await status({ path: '/github', body: `${BODY}x`, headers }), 401);
  assert.is(await status({ path: '/gitea', body: BODY, headers }), 401);
  assert.is(await status({ path: '/unknown', body: BODY, headers }), 404);
  assert.is(await status({ path: '/github/more', body: BODY, headers }), 404);
  assert.is(await status({ path: '/%2e%2e', body: BODY, headers }), 404);
  assert.is(await status({ path: '/github#more', body: BODY, headers }), 404);
  const get = await send(bell.port, { path: '/github', method: 'GET', headers });
  assert.equal([get.status, get.headers.allow], [405, 'POST']);
  const large = 'x'.repeat(1_048_577);
  assert.is(
    await status({
      path: '/github',
      body: large,
      headers: headersOf('github', bell.secrets.github, large),
    }),
    413,
  );
  const chunked = { 'Transfer-Encoding': 'chunked' };
  assert.is(await status({ path: '/github', body: large, headers: chunked }), 413);
  const most = 'x'.repeat(1_048_576);
  assert.equal(rung(bell), []);
  assert.is(
    await status({
      path: '/github',
      body: most,
      headers: headersOf('github', bell.secrets.github, most),
    }),
    202,
  );
  assert.match(await raw(bell.port, 'nonsense\r\n\r\n'), /^HTTP\/1\.1 400 /);
});

/** What the bell answers to bytes; the connection's other half is closed after them. */
function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    socket.on('close', () => resolve(text)).on('error', () => {});
  });
}

test('a call that ends early rings nothing', async ({ bell }) => {
  const headers = Object.entries(headersOf('github', bell.secrets.github, BODY));
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = `POST /github HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.length}\r\n${lines}\r\n`;
  const whole = head + BODY;
  for (const end of [3, 40, head.length - 1, head.length, head.length + 9, whole.length - 1])
    assert.not.match(await raw(bell.port, whole.slice(0, end)), / 202 /);
  assert.equal(rung(bell), []);
  assert.match(await raw(bell.port, whole), / 202 /);
});

test('as systemd starts it, it answers the connection on standard input and ends', async ({
  bell,
}) => {
  const port = await freePort();
  const ends: Promise<number | null>[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const env = cleanEnvironment();
    const child = spawn(executable('runner-bell'), ['--dir', bell.dir], {
      env,
      stdio: [socket, 'ignore', 'ignore'],
    });
    ends.push(new Promise((resolve) => child.once('exit', resolve)));
    child.once('spawn', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const headers = headersOf('gitlab', bell.secrets.gitlab, BODY);
  const { status } = await send(port, { path: '/gitlab', headers, body: BODY });
  assert.equal([status, rung(bell)], [202, ['gitlab']]);
  assert.is((await send(port, { path: '/gitlab', body: BODY })).status, 401);
  assert.equal(await Promise.all(ends), [0, 0]);
  server.close();
  const alone = spawnSync(executable('runner-bell'), {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  assert.is(alone.status, 2);
  assert.match(alone.stderr, /standard input is not a connection/);
});

test('add prints the secret once, list and remove do not; files are for the bell alone', async ({
  bell,
}) => {
  const dir = ['--dir', bell.dir];
  const file = join(bell.dir, 'secrets/github.json');
  assert.is(statSync(file).mode & 0o777, 0o640);
  const listed = await run('runner-bell', ['list', ...dir, '--json']);
  const { bells } = JSON.parse(listed.stdout);
  assert.equal(
    bells.map(({ app, host }: { app: string; host: string }) => [app, host]),
    [...HOSTS].sort().map((host) => [host, host]),
  );
  assert.ok(bells.every((each: { last_call: string | null }) => each.last_call));
  assert.not.match(listed.stdout, new RegExp(bell.secrets.github));
  const removed = await run('runner-bell', ['remove', 'bitbucket', ...dir]);
  assert.equal([removed.status, removed.stderr], [0, '']);
  const headers = headersOf('bitbucket', bell.secrets.bitbucket, BODY);
  assert.is((await send(bell.port, { path: '/bitbucket', headers, body: BODY })).status, 404);
  assert.match(
    (await run('runner-bell', ['remove', 'bitbucket', ...dir])).stderr,
    /'bitbucket' has no bell \(not_configured\)/,
  );
  assert.match(
    (await run('runner-bell', ['wait', '--timeout', '10ms', ...dir, '--json'])).stdout,
    /^\{"apps":\[/,
  );
  // Longer than the longest timer.
  const waiting = run('runner-bell', ['wait', '--timeout', '600h', ...dir]);
  await sleep(800);
  writeFileSync(join(bell.dir, 'wake/github'), '');
  const { stdout, stderr } = await waiting;
  assert.equal([stdout, stderr], ['github\n', '']);
});

test('for a plain git server add prints a hook that rings', async ({ bell }) => {
  const { root, dir } = bell;
  const hosts = 'code_hosts: { backup: { type: git, git_url: "https://git.example.org" } }\n';
  writeFileSync(join(root, 'config.yml'), hosts, { mode: 0o600 });
  writeState(root, 'plain', { version: 2, host: 'backup' });
  const url = `http://127.0.0.1:${bell.port}`;
  const added = await run('runner-bell', ['add', 'plain', '--url', url, '--dir', dir], { root });
  assert.is(added.status, 0, added.stderr);
  const line = (label: string) =>
    new RegExp(`^ +${label}: +(.*)$`, 'm').exec(added.stdout)?.[1] ?? added.stdout;
  const folder = temporaryFolder('repository');
  mkdirSync(join(folder, 'hooks'));
  writeFileSync(join(folder, 'hooks/ring.header'), line('ring\\.header'));
  const called = spawnSync('sh', ['-c', line('post-receive')], { cwd: folder, encoding: 'utf8' });
  assert.match(called.stdout, /"will":"fetch"/, called.stderr);
});

test('add refuses an address that no host can call, and shows the form of a good one', async ({
  bell,
}) => {
  for (const url of ['ftp://example.org/bell', 'https://', 'x']) {
    const args = ['add', 'github', '--url', url, '--dir', bell.dir];
    const { status, stderr } = await run('runner-bell', args, { root: bell.root });
    const wanted =
      "error: invalid value for '--url <URL>': it must be https://HOST/PATH or http://HOST:PORT\n";
    assert.equal([status, stderr], [2, wanted]);
  }
});

test.run();
