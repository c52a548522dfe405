import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  COMMIT,
  DEPLOYING,
  deployed,
  FAILED,
  failures,
  HELD,
  INTERRUPTED,
  rootWith,
  running,
  writeState,
} from '@runner/testing/app-states';
import { run } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const status = (root: string, ...args: string[]) => run('runner-status', args, { root });

/** The lines below the name, for an app `shop` with this state. */
async function shown(more: object): Promise<string> {
  const ended = await status(rootWith({ shop: more }), 'shop');
  assert.equal([ended.status, ended.stderr, ended.stdout.slice(0, 5)], [0, '', 'shop\n']);
  return ended.stdout.slice(5);
}

test('an app that was never deployed', async () => {
  const more = { state: { repohost_token: 'sealed.value' } };
  assert.is(
    await shown(more),
    `  state:   new
  repo:    acme/shop
  branch:  main
  token:   stored, encrypted
  next:    the next fetch --deploy; or run: runner deploy shop
`,
  );
});

test('an app that runs: the version, since when, by which deploy, and what was before', async () => {
  const instances = {
    default: { current: deployed('v3'), previous: [deployed('v2'), deployed('v1')] },
    us: { current: null, previous: [] },
  };
  assert.is(
    await shown({ instances, last_checked: '2026-05-05T00:00:00.000Z' }),
    `  state:    ok
  repo:     acme/shop
  branch:   main
  token:    none
  default:  v3 since 2026-05-04 09:30:12 UTC
            commit 0123456789ab, deploy a1b2c3d4
            kept: v2, v1
  us:       nothing runs
  next:     the next push to main
  checked:  2026-05-05 00:00:00 UTC
`,
  );
});

const LAST = {
  version: 'v2',
  commit: COMMIT,
  deploy_id: 'b1b2c3d4',
  stage: 'build',
  error: 'build: `make` ended with status 2',
  at: '2026-05-04T10:00:00.000Z',
};

test('a failing app shows how often and where it failed, its last failure, and the next attempt', async () => {
  assert.is(
    await shown({ failures: failures(2), last_failure: LAST }),
    `  state:         failing
  repo:          acme/shop
  branch:        main
  token:         none
  failures:      commit fedcba987654 failed 2 times (limit 3)
                 the last one at build, 2026-05-04 10:00:00 UTC
  last failure:  v2, 2026-05-04 10:00:00 UTC, deploy b1b2c3d4
                 build: \`make\` ended with status 2
                 runner debug last-error shop
  next:          2 of 3 attempts used; the next fetch --deploy tries again
`,
  );
});

test('an app whose head failed because of the server is failing: the next fetch tries again', async () => {
  const at = '2026-05-04T10:00:00.000Z';
  const tried = { head: FAILED, attempts: { commit: FAILED, count: 0, at } };
  for (const instances of [running('v1'), {}]) {
    assert.match(
      await shown({ instances, ...tried }),
      /^ {2}state: +failing\n[\s\S]*\n {2}next: +the failure does not count: the next fetch --deploy tries\s+again\n$/,
    );
  }
  const left = [
    [{ head: COMMIT }, 'ok'],
    [{ head: COMMIT, failures: failures(3) }, 'ok'],
    [{ held: { ...HELD, commit: FAILED } }, 'held'],
    [{ held: { ...HELD, commit: FAILED }, failures: failures(1) }, 'held'],
    [{ held: { ...HELD, commit: FAILED }, failures: failures(3) }, 'blocked'],
  ] as const;
  for (const [more, word] of left) {
    const text = await shown({ instances: running('v1'), ...tried, ...more });
    assert.match(text, new RegExp(`^ {2}state: +${word}\n`));
  }
});

test('what failed and is paused or stopped is not tried again before that ends', async () => {
  const since = '2026-05-04T10:00:00.000Z';
  const paused = { since, by: 'ada', reason: 'sale', until: null };
  const stopped = { since, by: 'ada', reason: null, instances: ['default'] };
  const instances = running('v1');
  const kept = [
    [{ failures: failures(1), paused }, 'failing', 'paused until runner resume shop'],
    [{ failures: failures(3), paused }, 'blocked', 'paused until runner resume shop'],
    [{ failures: failures(3), paused, stopped }, 'stopped', 'nothing until runner start shop'],
  ] as const;
  for (const [state, word, next] of kept)
    assert.match(
      await shown({ instances, last_failure: LAST, ...state }),
      new RegExp(`^  state: +${word}\\n[\\s\\S]*\\n  next: +${next}\\n$`),
    );
});

test('a stopped app is left alone by --check, also if its newest commit is blocked', async () => {
  const stopped = { since: '2026-05-04T10:00:00.000Z', by: 'ada', reason: null };
  const checked = async (instances: readonly string[]) => {
    const two = { ...running('v1'), us: { current: deployed('v1'), previous: [] } };
    const more = { failures: failures(3), stopped: { ...stopped, instances } };
    return status(rootWith({ shop: { instances: two, ...more } }), '--check');
  };
  assert.is((await checked(['default', 'us'])).status, 0);
  assert.match((await checked(['us'])).stdout, /^shop: blocked: /);
});

test('--check fails while a release runs that its watch judged bad, until another one does', async () => {
  const judged = {
    version: 'v2',
    at: '2026-05-04T10:00:00.000Z',
    verdict: 'bad',
    reason: '5xx 9 %',
  };
  const watched = { ...judged, since: judged.at, deploy_id: 'a1b2c3d4' };
  const root = rootWith({ shop: { instances: running('v2'), watched } });
  const bad = await status(root, '--check');
  assert.equal(
    [bad.status, bad.stdout, bad.stderr],
    [1, 'shop: v2 was judged bad, and runs: 5xx 9 %\n', ''],
  );
  assert.is((await status(root, 'shop', '--check')).status, 1);
  assert.match((await status(root, 'shop')).stdout, /^ {2}state: +ok, but judged bad\n/m);
  const left = { instances: running('v1'), watched: { ...watched, deploy_id: 'ffffffff' } };
  assert.is((await status(rootWith({ shop: left }), '--check')).status, 0);
});

test('a blocked app shows until when, and its last failure stays when a later deploy succeeds', async () => {
  assert.match(
    await shown({ failures: failures(3) }),
    /^ {2}state: +blocked\n[\s\S]*\n {2}failures: +commit \S+ failed 3 times \(limit 3\)[\s\S]*\n {2}next: +blocked until the next push to main; or run: runner deploy shop\n$/,
  );
  assert.match(
    await shown({
      instances: running('v3'),
      last_failure: { ...LAST, at: '2026-05-04T09:00:00.000Z' },
    }),
    /^ {2}state: +ok\n[\s\S]*\n {2}last failure: +v2, .*\n +over: v3 has been deployed since\n[\s\S]*\n {2}next: +the next push to main\n$/,
  );
});

test('an app on hold shows since when and why', async () => {
  assert.match(
    await shown({ instances: running('v2'), held: HELD }),
    /^ {2}state: +held\n[\s\S]*\n {2}held: +commit 0123456789ab since 2026-05-04 11:00:00 UTC\n +rolled back\n {2}next: +held until the next push to main: rolled back\n$/,
  );
  assert.match(
    await shown({ instances: running('v2'), held: HELD, head: 'f'.repeat(40) }),
    /^ {2}state: +held\n[\s\S]*\n {2}next: +the next fetch --deploy deploys commit ffffffffffff\n$/,
  );
});

test('an app that is being deployed shows by whom and how far; the lock, who really holds it', async () => {
  assert.match(
    await shown({ deploying: DEPLOYING }),
    new RegExp(
      `^  state: +deploying\n[\\s\\S]*\n  deploying: +v3, at health after [0-9]+ h [0-9]+ m\n +deploy a1b2c3d4, process ${process.pid}\n  next: +a deploy is running\n$`,
    ),
  );
  const root = rootWith({ shop: { deploying: { ...DEPLOYING, rollback: { default: 'x' } } } });
  mkdirSync(join(root, 'locks'));
  const path = join(root, 'locks/shop.lock');
  const since = '2026-05-04T12:00:00.000Z';
  writeFileSync(path, JSON.stringify({ pid: process.pid, command: 'rollback', since }));
  const left = JSON.parse((await status(root, 'shop', '--json')).stdout);
  assert.equal([left.lock, left.next], [null, 'a rollback is running']);
  const fd = openSync(path, 'r');
  const json = JSON.parse((await status(root, 'shop', '--json')).stdout);
  assert.equal(json.lock, { pid: process.pid, command: 'rollback', since });
  const text = (await status(root, 'shop')).stdout;
  assert.match(
    text,
    new RegExp(`\n  lock: +rollback, process ${process.pid}, since 2026-05-04 12:00:00 UTC\n`),
  );
  closeSync(fd);
  for (const holder of ['', '{', '{"pid":"1/../2"}', '{"pid":-1}', '[]', 'null']) {
    writeFileSync(path, holder);
    assert.is(JSON.parse((await status(root, 'shop', '--json')).stdout).lock, null, holder);
  }
});

test('no line is wider than 80 columns, however much there is to tell', async () => {
  const text = await shown({
    instances: running('v2'),
    failures: failures(3),
    held: { ...HELD, reason: 'v3 was deployed by hand' },
    deploying: INTERRUPTED,
    last_failure: { ...LAST, error: `build: ${'a few words '.repeat(30)}` },
    last_checked: '2026-05-05T00:00:00.000Z',
  });
  const wide = text.split('\n').filter((line) => line.length > 80);
  assert.equal(wide, []);
});

test('a command to type is never broken over two lines', async () => {
  const app = 'a-shop-with-a-name-of-some-length';
  const { stdout } = await status(rootWith({ [app]: { failures: failures(3) } }), app);
  assert.match(
    stdout,
    `  next:      blocked until the next push to main; or run:\n             runner deploy ${app}\n`,
  );
});

test('an app whose deploy died is distinguished from one that is being deployed', async () => {
  assert.match(await shown({ deploying: INTERRUPTED }), /^ {2}state: +interrupted\n/);
  const ended = { ...DEPLOYING, pid: 2 ** 30 };
  const text = await shown({ deploying: ended });
  assert.match(text, /^ {2}state: +interrupted\n/);
  // No process is claimed, and no time goes on.
  assert.match(text, /\n {2}deploy: +.*, interrupted( at \w+)?, begun at \S+ \S+ UTC\n/);
  assert.not.match(text, /process|after \d|deploying:/);
  // Another process has its number.
  const reused = { ...DEPLOYING, start_time: '1' };
  assert.match(await shown({ deploying: reused }), /^ {2}state: +interrupted\n/);
});

test('JSON has everything but the sealed token; YAML the same', async () => {
  const root = rootWith({
    shop: {
      instances: running('v2'),
      failures: failures(3),
      held: HELD,
      deploying: DEPLOYING,
      state: { repohost_token: 'sealed.value' },
      created_at: '2026-05-01T00:00:00.000Z',
      updated_at: '2026-05-04T00:00:00.000Z',
      preview: null,
    },
  });
  const json = await status(root, 'shop', '--json');
  assert.equal(JSON.parse(json.stdout), {
    app: 'shop',
    repo: 'acme/shop',
    branch: 'main',
    token: true,
    state: 'deploying',
    instances: [
      {
        instance: 'default',
        current: deployed('v2'),
        url: null,
        active_since: '2026-05-04T09:30:12.345Z',
        active_by: null,
        running: null,
        stopped: false,
        broken: null,
        previous: [deployed('v1')],
      },
    ],
    failures: failures(3),
    last_failure: null,
    max_deploy_retries: 3,
    held: HELD,
    stopped: null,
    paused: null,
    traffic_hold: null,
    deploying: DEPLOYING,
    lock: null,
    next: 'a deploy is running',
    last_checked: null,
    behind_since: null,
    certificates: {},
    watch: null,
    watched: null,
    migration: null,
    jobs: [],
    check_failed: null,
    secrets: [],
    usage: {},
    windows: null,
    checks: null,
    disk: { releases: 0, mirror: 0, shared: 0, logs: 0, home: 0, database: 0, total: 0 },
    created_at: '2026-05-01T00:00:00.000Z',
    updated_at: '2026-05-04T00:00:00.000Z',
    preview: null,
    tags: null,
    paths: null,
    require_signed: null,
    deploy_file: null,
    plans: [],
    migration_left: null,
    unfit: null,
    way_back: null,
    previews_failed: null,
    judging: null,
    watcher: null,
  });
  const yaml = await status(root, '-o', 'yaml', 'shop');
  assert.match(
    yaml.stdout,
    /^app: shop\nrepo: acme\/shop\nbranch: main\ntags: null\npaths: null\ntoken: true\n/,
  );
  assert.equal([json.status, yaml.status, json.stderr + yaml.stderr], [0, 0, '']);
});

test('the disk that an app uses is shown by what it is used for; --offline does not count it', async () => {
  const root = rootWith({ shop: {} });
  const put = (path: string, size: number) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), 'x'.repeat(size));
  };
  put('apps/shop/releases/r1/file', 3_000_000);
  put('apps/shop/instances/default/shared/data', 200_000);
  put('logs/deploys/shop/one.log', 10);
  const { stdout } = await status(root, 'shop');
  assert.match(
    stdout,
    /^ {2}disk: +3\.1 MiB: releases 2\.9 MiB, shared \d+ KiB, logs [\d.]+ KiB\n/m,
  );
  const { disk } = JSON.parse((await status(root, 'shop', '--json')).stdout);
  assert.ok(disk.releases >= 3_000_000 && disk.shared >= 200_000 && disk.mirror === 0);
  assert.is(disk.total, disk.releases + disk.shared + disk.logs + disk.home);
  const offline = await status(root, 'shop', '--offline', '--json');
  assert.is(JSON.parse(offline.stdout).disk, null);
});

test('a commit that waits for its checks is shown, until it is active', async () => {
  const check = (name: string, state: string) => ({ name, state });
  const pending = [check('a', 'passed'), check('b', 'passed'), check('c', 'pending')];
  const waits = (checks: object[], commit = FAILED) => ({
    require_checks: 'all',
    head: FAILED,
    checks: { commit, checks, pages: [] },
    instances: running('v1'),
  });
  assert.match(await shown(waits(pending)), /^ {2}waiting: +2 of 3 checks of fedcba\n/m);
  const failed = await shown(waits([check('a', 'failed')]));
  assert.match(failed, /^ {2}not deployed: +a of fedcba failed\n/m);
  for (const more of [waits([check('a', 'passed')]), waits(pending, COMMIT)])
    assert.not.match(await shown(more), / checks of | of fedcba failed/);
});

test('max_deploy_retries of the configuration counts', async () => {
  const root = rootWith({ shop: { failures: failures(3) } });
  writeFileSync(join(root, 'config.yml'), 'notify:\n  max_deploy_retries: 5\n');
  const { stdout } = await status(root, 'shop');
  assert.match(stdout, '(limit 5)\n');
});

test('an unknown app is reported, even under an invalid name', async () => {
  const root = rootWith({ shop: {} });
  for (const name of ['nope', '../shop', '__proto__', 'registry', 'shop/', 'a\u001b[31m']) {
    const ended = await status(root, name, '--json');
    const hint = name === 'shop/' ? "did you mean 'shop'?" : 'registered: shop';
    const message = `no app called '${name.replace('\u001b', '\\x1b')}' is registered on this server; ${hint}`;
    assert.is(ended.stderr, `runner status: ${message} (app_not_found)\n`);
    assert.equal(JSON.parse(ended.stdout), { error: 'app_not_found', message });
    assert.is(ended.status, 1);
  }
  const long = await status(root, 'long-'.repeat(60));
  assert.is(
    long.stderr,
    `runner status: no app called '${'long-'.repeat(60).slice(0, 77)}…' is registered on this server; registered: shop (app_not_found)\n`,
  );
});

test('a damaged state file is reported in one sentence, and a newer one in another', async () => {
  const root = rootWith({ bad: '{"version":1,', newer: '{"version":3}' });
  writeState(root, 'half', { instances: { default: { current: { version: 'v1' } } } });
  for (const [app, sentence] of [
    ['bad', 'the state file ROOT/state/bad.json is not JSON (state_malformed)'],
    ['half', 'the state file ROOT/state/half.json has a malformed instance (state_malformed)'],
    [
      'newer',
      'the state file ROOT/state/newer.json was written by a newer runner (state_unsupported)',
    ],
  ] as const) {
    const ended = await status(root, app);
    assert.equal(
      [ended.status, ended.stdout, ended.stderr],
      [1, '', `runner status: ${sentence.replace('ROOT', root)}\n`],
    );
  }
});

test('the content of a state file cannot control the terminal', async () => {
  const evil = 'x\u001b[2J\u009b1m\u202e\u2028\ny';
  const escaped = 'x\\x1b[2J\\x9b1m\\u202e\\u2028\\ny';
  const more = {
    branch: evil,
    instances: { [evil]: { current: deployed(evil), previous: [deployed(evil)] } },
    failures: { ...failures(1), stage: evil },
    held: { ...HELD, reason: evil },
    deploying: { ...DEPLOYING, stage: evil },
  };
  const root = rootWith({ shop: more });
  const { stdout } = await status(root, 'shop');
  assert.not.match(stdout, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/);
  assert.is(stdout.split(escaped).length - 1, 7);
  for (const format of ['json', 'yaml']) {
    const formatted = await status(root, 'shop', '-o', format);
    assert.not.match(formatted.stdout, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/, format);
  }
  assert.is(JSON.parse((await status(root, 'shop', '--json')).stdout).branch, evil);
});

test('a slot that drains longer than it may is shown without that time', async () => {
  const draining = (until: string) => ({ slot: 'b', since: '2026-05-04T09:30:12.000Z', until });
  const shownWith = (until: string) =>
    shown({
      instances: { default: { current: deployed('v3'), previous: [], draining: draining(until) } },
    });
  assert.match(await shownWith('2026-05-04T09:30:42.000Z'), /slot b is draining\n/);
  const later = '2126-05-04T09:30:42.000Z';
  assert.match(await shownWith(later), 'slot b is draining, until 2126-05-04 09:30:42 UTC at the');
});

test('a migration that a restore took away is not shown as in the database', async () => {
  const at = (minute: number) => `2026-05-04T09:0${minute}:00.000Z`;
  const of = (minute: number) => {
    const version = `v${minute}`;
    return { deploy_id: `0000000${minute}`, commit: COMMIT, version, at: at(minute), reasons: [] };
  };
  const kept = { ...of(1), verdict: 'additive' };
  const migrations = [kept, { ...of(2), verdict: 'broken', gone: at(3) }];
  const text = await shown({ migrations });
  assert.match(
    text,
    /migrated by v1, 2026-05-04 09:01:00 UTC: a version from before\s+still works/,
  );
  assert.not.match(text, /migrated by v2/);
});

test('an app is named once, and nothing is written', async () => {
  const root = rootWith({ shop: {} });
  const before = tree(root, { modes: true });
  const none = await status(root);
  assert.equal(
    [none.status, none.stdout, none.stderr],
    [
      2,
      '',
      'error: the following required arguments were not provided: <APP|--check>; runner list shows all apps\n',
    ],
  );
  const two = await status(root, 'shop', 'blog');
  assert.equal([two.status, two.stderr], [2, "error: unexpected argument 'blog' found\n"]);
  await status(root, 'shop');
  assert.equal(tree(root, { modes: true }), before);
});

test.run();
