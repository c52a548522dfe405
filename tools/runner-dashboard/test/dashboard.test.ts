/** The page: what it shows, that it is live, and that it cannot write. */

import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeApp } from '@runner/common/apps/store';
import { asNobody, distFolder, executable, run, shell } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, canShare, startDashboard, view } from '../../../tests/eyes/dashboard.ts';
import {
  deployingState,
  failedState,
  GROUP,
  HOSTILE,
  logLine,
  makeEyesRoot,
  record,
  stateOf,
} from '../../../tests/eyes/root.ts';

const test = suite('dashboard');
const shared = canShare ? test : test.skip;

shared('a member of the group serves pages with versions, logs, causes and jobs', async () => {
  const paths = makeEyesRoot(3, true);
  const last = failedState('site', 'an old cause').last_failure;
  const [current] = Object.values(stateOf('site').instances).map((each) => each.current);
  if (!last || !current) throw new Error('none');
  const before = { ...current, deploy_id: 'Left0002', deployed_at: '2026-05-04T10:00:00.000Z' };
  writeApp(paths, {
    ...stateOf('site', { last_failure: { ...last, at: '2026-05-03T09:30:00.000Z' } }),
    instances: { default: { current, previous: [before] } },
  });
  mkdirSync(dirname(paths.deployLog('site', 'Left0002')));
  writeFileSync(paths.deployLog('site', 'Left0002'), 'what v2 printed\n');
  const back = { project: 'site', deploy_id: 'Back0001', reason: 'manual' };
  record(paths, { ...back, event_type: 'RollbackSuccess' });
  const { port } = await startDashboard(paths.root);
  const overview = await ask(port, '/');
  assert.is(overview.status, 200);
  assert.match(overview.text, /3 apps, 2 need attention/);
  assert.match(overview.text, /app-blog[\s\S]*app-shop[\s\S]*app-site/);
  assert.match(overview.text, /src\/a\.ts:3: not found/);
  assert.match(overview.text, /second line/);
  assert.match(overview.text, /since <time[^>]*>4 May 2026 09:30</);
  assert.match(overview.text, /<noscript><meta http-equiv="refresh"/);
  assert.ok(Buffer.byteLength(overview.text) < 100 * 1024);
  const { text } = await ask(port, '/app/site');
  assert.match(text, /v2 at build, 2026-05-03 09:30, over: v1 has been deployed since/);
  assert.not.match(text, /an old cause/);
  assert.match(text, '← v1');
  assert.match(text, /class="when"><time[^>]*>4 May 2026 09:30</);
  assert.match(text, /Log of the last deploy[\s\S]*what v2 printed/);
  const shop = await ask(port, '/app/shop');
  assert.match(shop.text, /v2 at build since .* by ada/);
  assert.match(shop.text, 'The running deploy');
  assert.match(shop.text, /first line\nsecond line/);
  assert.match(shop.text, /job report failed: exit status 3/);
  assert.match((await ask(port, '/app/blog')).text, /class="result">failed/);
  const killed = deployingState('shop');
  const { deploying } = killed;
  if (!deploying) throw new Error('none');
  writeApp(paths, { ...killed, deploying: { ...deploying, pid: 4_194_305 } });
  await sleep(100);
  const left = await ask(port, '/app/shop');
  assert.match(left.text, /v2 interrupted at build since .* by ada/);
  assert.match(left.text, /Log of the last deploy[\s\S]*second line/);
  for (const path of ['/app/nope', '/x', '/app/..%2f..%2fmkey', '/events/'])
    assert.is((await ask(port, path)).status, 404, path);
});

shared(
  'a viewer sees a hold without a look into the folders of the app, and no more is claimed than that shows',
  async () => {
    const paths = makeEyesRoot(3, true);
    const { dir } = paths.app('site').instance('default');
    mkdirSync(join(dir, 'hold'), { recursive: true, mode: 0o700 });
    symlinkSync('hold', join(dir, 'live'));
    symlinkSync('../b', join(dir, 'hold/slot'));
    const until = '2126-05-04T09:30:00.000Z';
    const hold = { since: until, by: 'ada', until, instances: ['default'], page: false };
    writeApp(paths, stateOf('site', { traffic_hold: hold }));
    const words =
      'requests wait until 2126-05-04 09:30 UTC, held by ada, unless the process that holds them has died';
    const { port, stderr } = await startDashboard(paths.root);
    for (const path of ['/', '/app/site']) {
      const { status, text } = await ask(port, path);
      assert.is(status, 200, `${path}: ${stderr()}`);
      assert.match(text, words);
    }
    for (const [command, expected] of [
      ['top --once --plain', 0],
      ['list', 0],
      ['status site', 0],
      ['status site --check', 0],
      ['status --check', 1],
      ['why site', 0],
    ] as const) {
      const line = `${asNobody(`runner-${command.split(' ', 1)}`, GROUP)} ${command.replace(/^\S+/, '')}`;
      const { status, stdout, stderr } = await shell(line, { root: paths.root });
      assert.equal([status, stderr], [expected, ''], command);
      assert.match(stdout.replace(/\s+/g, ' '), words, command);
    }
    const root = await run('runner-status', ['site'], { root: paths.root });
    assert.match(root.stdout, 'requests go to slot b after the hold\n');
    assert.match(
      root.stdout.replace(/\s+/g, ' '),
      'requests fail, the process that held them has died: runner fetch site',
    );
  },
);

shared(
  'the page of an app that cannot be read says so, and is drawn again when it can be read',
  async () => {
    const paths = makeEyesRoot(3, true);
    const state = readFileSync(paths.state('site'), 'utf8');
    writeFileSync(paths.state('site'), 'torn');
    await run('runner-fetch', [], { root: paths.root });
    const { port } = await startDashboard(paths.root);
    const pages = await Promise.all(['/', '/app/site'].map((path) => ask(port, path)));
    for (const { status, text } of pages) {
      assert.is(status, 200);
      assert.match(text, 'cannot be read: <bdi>site</bdi>');
      assert.match(text, /<noscript><meta http-equiv="refresh"/);
    }
    assert.is((await ask(port, '/app/nope')).status, 404);
    const viewer = view(port, '/app/site/events');
    await until(() => viewer.text().includes('cannot be read'), 'no first state');
    writeFileSync(paths.state('site'), state);
    await run('runner-fetch', [], { root: paths.root });
    await until(() => viewer.text().includes('event: reload'), 'the repair is not seen');
    viewer.close();
    assert.match((await ask(port, '/app/site')).text, '<code><bdi>v1<');
    chmodSync(join(paths.root, 'view'), 0o700);
    await until(
      async () => (await ask(port, '/app/site')).text.includes('cannot read'),
      'it does not say that no app can be read',
    );
    renameSync(paths.root, `${paths.root}.away`);
    await until(
      async () => (await ask(port, '/')).text.includes(' does not exist (file_unreadable)'),
      'a root that is gone is taken for one without apps',
    );
  },
);

shared('logs that cannot be read are not taken for none', async () => {
  const paths = makeEyesRoot(3, true);
  chmodSync(join(paths.root, 'logs'), 0o700);
  const { port } = await startDashboard(paths.root);
  const { text } = await ask(port, '/app/shop');
  assert.match(text, /id="log"[\s\S]*cannot read \S+Dep10y1d\.log: permission denied/);
  assert.match(text, /id="deploys"[\s\S]*cannot read [\s\S]*permission denied/);
  assert.not.match(text, 'No deploys');
});

shared('only GET and HEAD are answered, and HEAD without a page', async () => {
  const { port } = await startDashboard(makeEyesRoot(3, true).root);
  for (const method of [
    'POST',
    'PUT',
    'DELETE',
    'PATCH',
    'OPTIONS',
    'TRACE',
    'CONNECT',
    'PROPFIND',
    'BREW',
  ]) {
    const { status, headers } = await ask(port, '/', method);
    assert.equal([status, headers.allow], [405, 'GET, HEAD'], method);
  }
  const { status, text } = await ask(port, '/', 'HEAD');
  assert.equal([status, text], [200, '']);
});

shared('a page elsewhere whose name leads here is not answered', async () => {
  const { port } = await startDashboard(makeEyesRoot(1, true).root);
  const statusFor = (host: string) =>
    new Promise<number | undefined>((resolve) => {
      get({ port, headers: { host } }, (answer) => resolve(answer.resume().statusCode));
    });
  assert.is(await statusFor('evil.example'), 421);
  assert.is(await statusFor(`localhost:${port}`), 200);
});

shared(
  'a change reaches the viewers within a second, and only what has changed is sent',
  async () => {
    const paths = makeEyesRoot(3, true);
    const { port } = await startDashboard(paths.root);
    const [all, one] = [view(port, '/events'), view(port, '/app/site/events')];
    await until(
      () => all.text().includes('app-site') && one.text().includes('facts'),
      'no first state',
    );
    const [before, quiet] = [all.text().length, one.text().length];
    const begun = Date.now();
    logLine(paths, 'shop', 'a line that is new');
    await until(() => all.text().includes('a line that is new'), 'no news');
    const took = Date.now() - begun;
    const news = all.text().slice(before);
    assert.not.match(news, /app-site/);
    assert.is(one.text().length, quiet);
    assert.ok(took < 3_000, `${took} ms`);
    writeApp(paths, stateOf('fresh'));
    await until(() => all.text().includes('event: reload'), 'a new app is not seen');
    all.close();
    one.close();
  },
);

shared(
  'a page that is loaded just before a change does not make its viewers wait longer',
  async () => {
    const paths = makeEyesRoot(3, true);
    const { port } = await startDashboard(paths.root);
    const viewer = view(port, '/events');
    await until(() => viewer.text().includes('app-site'), 'no first state');
    logLine(paths, 'shop', 'files are read');
    await until(() => viewer.text().includes('files are read'), 'no news');
    // Files are read again after 900 ms.
    await sleep(600);
    await ask(port, '/');
    const begun = Date.now();
    writeApp(paths, failedState('site', 'it went wrong'));
    await until(() => viewer.text().includes('it went wrong'), 'no failure');
    const took = Date.now() - begun;
    viewer.close();
    assert.ok(took < 800, `${took} ms`);
  },
);

shared('while the audit log cannot be read an app has its page, which says so', async () => {
  const paths = makeEyesRoot(3, true);
  const { port } = await startDashboard(paths.root);
  chmodSync(paths.auditLog, 0o600);
  const { status, text } = await ask(port, '/app/shop');
  assert.is(status, 200);
  assert.match(text, /job report failed[\s\S]*deploy-events.jsonl[\s\S]*\(file_unreadable\)/);
});

shared('text from outside is text, and runs nothing', async () => {
  const paths = makeEyesRoot(3, true);
  writeApp(paths, failedState('blog', HOSTILE));
  logLine(paths, 'shop', HOSTILE);
  const { port } = await startDashboard(paths.root);
  for (const path of ['/', '/app/blog', '/app/shop']) {
    const { text } = await ask(port, path);
    assert.not.match(text, /<img|\u001b|\u202e/, path);
    assert.match(text, /&lt;img src=x/, path);
  }
});

shared('a user who can read a key, a token or a secret is refused', async () => {
  const { root } = makeEyesRoot(3, true);
  const asRoot = await run('runner-dashboard', ['--listen', '127.0.0.1:0'], { root });
  assert.is(asRoot.status, 1);
  assert.match(asRoot.stderr, /this user can read .*: run the dashboard as a user who only is/);
});

shared('its user opens neither keys nor states, secrets, the spool or configuration', async () => {
  const paths = makeEyesRoot(3, true);
  for (const file of [paths.mkey, paths.statementKey, paths.config])
    writeFileSync(file, 'planted', { mode: 0o600 });
  writeFileSync(paths.secrets('shop'), 'planted', { mode: 0o600 });
  const { mkey, statementKey, config, notifySpool } = paths;
  const closed = [
    mkey,
    statementKey,
    config,
    paths.secrets('shop'),
    paths.state('shop'),
    notifySpool,
  ];
  for (const path of [...closed, paths.app('shop').jobs]) {
    const user = `setpriv --reuid=65534 --regid=${GROUP} --clear-groups`;
    const { status } = await shell(`${user} test -r '${path}'`);
    assert.is(status, 1, path);
  }
});

test('only a loopback address or a socket is served, and without systemd one must be given', async () => {
  const { root } = makeEyesRoot();
  for (const address of [
    '0.0.0.0:9191',
    '[::]:80',
    '10.0.0.1:80',
    'example.org:80',
    '9191',
    'unix:rel',
  ]) {
    const { status, stderr } = await run('runner-dashboard', ['--listen', address], { root });
    assert.is(status, 2, address);
    assert.match(stderr, /give a loopback address/);
  }
  assert.is((await run('runner-dashboard', [], { root })).status, 2);
});

test('no code that changes a file or starts a program is in its bundle', () => {
  const file = readFileSync(executable('runner-dashboard'), 'utf8');
  const lazy = [...new Set(file.match(/\.\.\/lib\/[\w-]+\.cjs/g) ?? [])].sort();
  assert.equal(lazy, ['../lib/common.cjs', '../lib/yaml.cjs']);
  const texts = [file, readFileSync(join(distFolder(), 'lib/common.cjs'), 'utf8')];
  const writers =
    /\b(?:(?:append|write|copy)File|rename|unlink|rmdir|rm|mkdir|mkdtemp|(?:sym)?link|l?ch(?:mod|own)|fch(?:mod|own)|f?truncate|l?utimes|futimes|fsync|fdatasync)(?:Sync)?\)?\(|createWriteStream|child_process|worker_threads/g;
  const found = texts.flatMap((text) => text.match(writers) ?? []);
  // The one of every command: no core dump of its own memory.
  assert.equal(found, ['writeFileSync)(']);
  assert.match(file, /writeFileSync\)\("\/proc\/self\/coredump_filter"/);
  const opened = texts.flatMap((text) => text.match(/openSync\)\([^;]{0,200};/g) ?? []);
  for (const each of opened) assert.match(each, /O_RDONLY/, each);
});

test.run();
