import { existsSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '@runner/common/files/lock';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePreviewWorld, type PreviewWorld } from './world.ts';

const SECOND = 1_000;

/** What previews there are, with their states. */
async function listed(world: PreviewWorld): Promise<string> {
  const { stdout } = await world.runner('preview', 'list', 'shop', '--json');
  const [app] = JSON.parse(stdout).apps;
  const there = app.previews.map(({ key, state }: Record<string, string>) => `${key} ${state}`);
  return [...there, ...app.waiting.map(({ key }: { key: string }) => `${key} waiting`)].join(', ');
}

for (const type of ['github', 'gitlab', 'gitea'] as const)
  test(`on ${type} a fork is built only once a writer has labelled its very commit`, async () => {
    const world = await makePreviewWorld(type);
    const { pulls } = world.api;
    const writer = type === 'gitlab' ? '1' : 'ada';
    const later = (seconds: number) => {
      pulls.clock += seconds * SECOND;
    };
    await world.open(9, { page: 'hostile', isFork: true });
    await world.sync();
    assert.is(await listed(world), 'pr-9 waiting');
    later(5);
    pulls.label(9, 'preview', type === 'gitlab' ? '9' : 'mallory');
    await world.sync();
    assert.is(await listed(world), 'pr-9 waiting', 'someone else labelled it');
    later(5);
    pulls.label(9, 'preview', writer);
    await world.sync();
    await world.answers('pr-9', 'hostile');
    later(5);
    await world.push(9, 'worse', { isForced: true });
    // In the second of the push the host cannot say which came first.
    later(5);
    await world.sync();
    assert.is(await listed(world), 'pr-9 removed, pr-9 waiting');
    assert.equal(world.processes(), []);
    later(5);
    pulls.label(9, 'preview', writer, false);
    later(5);
    pulls.label(9, 'preview', writer);
    await world.sync();
    await world.answers('pr-9', 'worse');
    await world.end();
  });

test('on Gitea a push that the first page of the timeline does not have needs a new label', async () => {
  const world = await makePreviewWorld('gitea');
  const { pulls } = world.api;
  const later = () => {
    pulls.clock += 5 * SECOND;
    return new Date(pulls.clock).toISOString();
  };
  const commit = await world.open(9, { page: 'fork', isFork: true });
  await world.sync();
  const own = pulls.pulls.get(9);
  for (let count = 0; count < 49; count += 1)
    own?.events.push({ kind: 'pushed', at: own.created, by: 'mallory', label: '', commit });
  later();
  pulls.label(9, 'preview', 'ada');
  later();
  await world.push(9, 'hostile');
  later();
  await world.sync();
  assert.is(await listed(world), 'pr-9 waiting');
  assert.equal(world.processes(), []);
  later();
  pulls.label(9, 'preview', 'ada', false);
  later();
  pulls.label(9, 'preview', 'ada');
  await world.sync();
  await world.answers('pr-9', 'hostile');
  await world.end();
});

test('on Gitea a pull request without a branch, which a reader may push, needs the label of a fork', async () => {
  const world = await makePreviewWorld('gitea');
  const { pulls } = world.api;
  await world.open(9, { page: 'agit' });
  const own = pulls.pulls.get(9);
  if (own) own.branch = 'refs/pull/9/head';
  const ended = await world.sync();
  assert.is(ended.stdout, 'shop: pr-9 has not the label preview\n');
  assert.equal(world.processes(), []);
  pulls.clock += 5 * SECOND;
  pulls.label(9, 'preview', 'ada');
  await world.sync();
  await world.answers('pr-9', 'agit');
  await world.end();
});

test('a fork whose label the token may not look into waits alone, and is let in once it may', async () => {
  const world = await makePreviewWorld();
  const { api } = world;
  await world.open(1, { page: 'own' });
  await world.open(9, { page: 'fork', isFork: true });
  await world.sync();
  api.pulls.clock += 5 * SECOND;
  api.pulls.label(9, 'preview', 'ada');
  await world.push(1, 'newer');
  const message = 'Must have push access to view collaborator permission.';
  api.fail({ status: 403, body: { message } }, Number.POSITIVE_INFINITY, 'GET permission');
  const ended = await world.sync();
  assert.is(
    ended.stdout,
    `shop: pr-9 the token may not read /repos/acme/shop/collaborators/ada/permission: ${message}\n`,
  );
  await world.answers('pr-1', 'newer');
  api.heal();
  await world.sync();
  await world.answers('pr-9', 'fork');
  await world.end();
});

test('the comment of a repository that was renamed is written where GitHub has it now', async () => {
  const world = await makePreviewWorld();
  const { api } = world;
  const location = `${api.apiUrl}/repos/acme/shop/issues/1/comments`;
  api.fail({ status: 307, headers: { location } }, 1, 'POST comments');
  await world.open(1);
  assert.is((await world.sync()).status, 0);
  assert.match(api.pulls.comments[0]?.text ?? '', /is ready/);
  await world.end();
});

test('on Bitbucket pull requests of the repository itself have previews, forks have none', async () => {
  const world = await makePreviewWorld('bitbucket');
  await world.open(1, { page: 'own' });
  await world.open(2, { page: 'fork', isFork: true });
  world.api.pulls.label(2, 'preview', 'ada');
  await world.sync();
  await world.answers('pr-1', 'own');
  assert.is(await listed(world), 'pr-1 ready, pr-2 waiting');
  const { stdout } = await world.runner('preview', 'list');
  assert.match(
    stdout,
    /pr-2 +waiting +is of a fork, which no label can let in at this code host\n/,
  );
  assert.match(world.api.pulls.comments[0]?.text ?? '', /ready/);
  await world.end();
});

test('a code host that answers wrongly, partly or not at all removes nothing', async () => {
  const world = await makePreviewWorld();
  for (const number of [1, 2, 3]) await world.open(number);
  world.api.pulls.perPage = 2;
  await world.sync();
  assert.is(await listed(world), 'pr-1 ready, pr-2 ready, pr-3 ready');
  const faults = [
    'drop',
    'cut',
    'html',
    'not-json',
    { status: 404, body: { message: 'Not Found' } },
    { status: 401, body: { message: 'Bad credentials' } },
    { status: 403, body: { message: 'Forbidden' } },
    { status: 500 },
    { status: 200, body: {} },
    { status: 200, body: [{ number: 1 }] },
  ] as const;
  world.close(1);
  for (const fault of faults) {
    world.api.fail(fault, Number.POSITIVE_INFINITY, 'GET pulls');
    const ended = await world.sync();
    assert.is(ended.status, 1, JSON.stringify(fault));
    world.api.heal();
    assert.is(world.processes().length, 3, JSON.stringify(fault));
  }
  await world.sync();
  assert.is(await listed(world), 'pr-1 removed, pr-2 ready, pr-3 ready');
  // The end of the list is empty, although the pull request is open.
  world.api.fail({ status: 200, body: [] }, 1, 'GET pulls');
  await world.sync();
  assert.is(await listed(world), 'pr-1 removed, pr-2 ready, pr-3 ready');
  await world.end();
});

test('syncs that meet a busy preview do not count as tries', async () => {
  const world = await makePreviewWorld();
  await world.open(7);
  await world.sync();
  await world.push(7, 'second');
  const lock = takeLock(join(world.root, 'locks/shop--pr-7.lock'), 1, { pid: process.pid });
  for (let times = 0; times < 4; times += 1) {
    const { status, stdout } = await world.sync();
    assert.is(status, 1);
    assert.match(stdout, /problem: .*busy/);
  }
  assert.is(await listed(world), 'pr-7 updating');
  lock?.release();
  assert.is((await world.sync()).status, 0);
  await world.answers('pr-7', 'second');
  await world.end();
});

test('a preview that the server lacks something for is recorded as failed once, and made once it is there', async () => {
  const world = await makePreviewWorld();
  const { root } = world;
  await world.open(3, { page: 'three', more: 'shared: settings.json\n' });
  assert.is((await world.sync()).status, 1);
  assert.is(await listed(world), 'pr-3 failed');
  for (let times = 0; times < 4; times += 1) assert.is((await world.sync()).status, 0);
  const { stdout } = await world.runner('status', 'shop--pr-3');
  assert.match(stdout, /next: +the next fetch --deploy tries again\n/);
  const records = readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8');
  assert.is(records.match(/"event_type":"PreviewFailed"/g)?.length, 1);
  assert.match(world.api.pulls.comments[0]?.text ?? '', /settings\.json does not exist yet/);
  writeFileSync(join(root, 'apps/shop--pr-3/instances/default/shared/settings.json'), '{}');
  await world.sync();
  await world.answers('pr-3', 'three');
  assert.match(world.api.pulls.comments[0]?.text ?? '', /is ready/);
  await world.end();
});

test('the newest pushes have the places, the others wait until one is free or is opened', async () => {
  const world = await makePreviewWorld('github', '--max 2');
  const { pulls } = world.api;
  for (const number of [1, 2, 3]) {
    pulls.clock = Date.now() - (10 - number) * 60_000;
    await world.open(number);
  }
  await world.sync();
  assert.is(await listed(world), 'pr-2 ready, pr-3 ready, pr-1 waiting');
  const opened = await world.runner('preview', 'open', 'shop', '1');
  assert.is(opened.stdout, 'https://pr-1.preview.example.org\n', opened.stderr);
  assert.is(await listed(world), 'pr-1 ready, pr-2 removed, pr-3 ready, pr-2 waiting');
  const removed = await world.runner('preview', 'remove', 'shop', '1');
  assert.is(removed.status, 0, removed.stderr);
  await world.sync();
  assert.is(await listed(world), 'pr-1 removed, pr-2 ready, pr-3 ready, pr-1 waiting');
  await world.push(1, 'again');
  await world.sync();
  assert.is(await listed(world), 'pr-1 ready, pr-2 removed, pr-3 ready, pr-2 waiting');
  await world.end();
});

test('a preview has only its own secrets and its own database, and says that it cannot have more', async () => {
  const world = await makePreviewWorld();
  const { root } = world;
  const set = async (name: string, value: string, ...more: string[]) => {
    const args = ['set', 'shop', name, '--file', '-', ...more];
    const done = await run('runner-env', args, { root, stdin: value });
    assert.is(done.status, 0, done.stderr);
  };
  await set('API_KEY', 'pr0duction-s3cret-of-the-app');
  await set('DATABASE', 'preview-db-number-{n}', '--preview');
  const more = `hooks: { pre_switch: 'env > "$RUNNER_SHARED/env"' }
preview: { database: { create: 'echo "$DATABASE" > "$RUNNER_SHARED/db"', drop: 'rm "$RUNNER_SHARED/db"' } }
migrate: { run: 'cat "$RUNNER_SHARED/db"', rehearse: false, database: DATABASE }
jobs: { nightly: { run: 'true', every: 15m } }
`;
  await world.open(4, { more: more.replace(/migrate:.*\n/, '') });
  const made = await world.sync();
  assert.is(await listed(world), 'pr-4 ready', made.stderr);
  const shared = join(root, 'apps/shop--pr-4/instances/default/shared');
  const env = readFileSync(join(shared, 'env'), 'utf8');
  assert.match(env, /^DATABASE=preview-db-number-4$/m);
  assert.match(env, /^RUNNER_PREVIEW=4$/m);
  assert.match(env, /^OTEL_RESOURCE_ATTRIBUTES=.*,deployment\.environment\.name=preview$/m);
  assert.not.match(env, /API_KEY|pr0duction|ghp_/);
  assert.is(readFileSync(join(shared, 'db'), 'utf8'), 'preview-db-number-4\n');
  const checked = await world.runner('deploy', 'shop--pr-4', '--check');
  assert.is(checked.status, 0, checked.stdout + checked.stderr);
  assert.not.match(checked.stdout, /nightly/);
  world.close(4);
  await world.sync();
  assert.not(existsSync(join(shared, 'db')));
  const lacking = "preview: { database: { create: 'true', drop: 'true' } }\nmigrate: 'true'\n";
  await world.open(6, { more: lacking });
  await world.sync();
  const { stdout } = await world.runner('preview', 'list', 'shop', '--json');
  const [{ previews }] = JSON.parse(stdout).apps;
  assert.match(
    String(previews.find(({ key }: { key: string }) => key === 'pr-6').error),
    'migrate: DATABASE_URL is not set: runner env set shop DATABASE_URL --preview',
  );
  const records = readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8');
  assert.match(records, /"PreviewReady"/);
  assert.match(records, /"PreviewRemoved"/);
  await world.end();
});

test('whatever config.yml says, a preview runs in the sandbox, without the paths and network of its app', async () => {
  const world = await makePreviewWorld();
  const config = join(world.root, 'config.yml');
  writeFileSync(config, `${readFileSync(config, 'utf8')}sandbox: off\nbuild: { network: false }\n`);
  const connect = `require('net').connect(${world.api.port}, '127.0.0.1').on('connect', () => process.exit(1)).on('error', () => process.exit(0))`;
  const build = `! cat '${world.root}/config.yml' && ! ls '${world.root}/apps/shop' && node -e "${connect}"`;
  await world.open(5, { more: `build: ${JSON.stringify(build)}\n` });
  const made = await world.sync();
  assert.is(await listed(world), 'pr-5 ready', made.stderr);
  await world.end();
});

test('a preview that serves nothing is built, without an address, and one that fails waits for a push', async () => {
  const world = await makePreviewWorld();
  const commit = await world.commit('topic-3', 'page', 'build: [echo built]\n', true);
  world.git('update-ref', 'refs/pull/3/head', commit);
  world.api.pulls.open({ number: 3, branch: 'topic-3', commit, isFork: false });
  const made = await world.sync();
  assert.match(made.stderr, 'shop--pr-3: built, serves nothing');
  assert.match(world.api.pulls.comments[0]?.text ?? '', /is built; it serves nothing$/);
  const { stdout } = await world.runner('preview', 'list', 'shop', '--json');
  assert.is(JSON.parse(stdout).apps[0].previews[0].url, null);
  await world.open(4, { more: 'build: exit 3\n' });
  await world.sync();
  const { next } = JSON.parse((await world.runner('status', 'shop--pr-4', '--json')).stdout);
  assert.is(next, 'the next push; sooner: runner preview open shop pr-4');
  await world.end();
});

test('one path leads to the instance that has the address, whatever the commit calls it', async () => {
  const world = await makePreviewWorld();
  await world.open(7);
  await world.sync();
  const link = join(world.root, 'apps/shop--pr-7/live');
  assert.is(readlinkSync(link), 'instances/default/live');
  await world.push(7, 'renamed', { more: 'instances: { web: {} }\n' });
  const made = await world.sync();
  assert.is(readlinkSync(link), 'instances/web/live', made.stderr);
  assert.ok(existsSync(join(link, 'app.sock')));
  const snippet = await world.runner('preview', 'snippet', 'shop', '--proxy', 'nginx');
  assert.match(snippet.stdout, '/apps/shop--pr-$preview/live/app.sock:;');
  assert.is((await world.runner('preview', 'disable', 'shop')).status, 0);
  await world.end();
});

test('branches that match have previews where the host has no pull requests, and fetch makes them after the app', async () => {
  const world = await makePreviewWorld('github', '--branches feature/*');
  await world.commit('feature/Login page', 'login').catch(() => {});
  await world.commit('feature/login', 'login');
  await world.commit('other', 'other');
  await world.commit('main', 'main 2');
  const fetched = await world.runner('fetch', '--deploy');
  assert.match(fetched.stdout, /shop: deployed/);
  const find = () => /br-feature-login-[0-9a-f]{8} ready/.test(text);
  let text = '';
  await until(async () => {
    text = await listed(world);
    return find();
  }, 'no preview was made');
  world.git('update-ref', '-d', 'refs/heads/feature/login');
  assert.match((await world.sync()).stderr, /: removed: is deleted, or does not match any more\n/);
  assert.match(await listed(world), /^br-feature-login-[0-9a-f]{8} removed$/);
  await world.runner('preview', 'enable', 'shop', '--branches', '');
  await world.open(1);
  await world.sync();
  await world.runner('preview', 'enable', 'shop', '--branches', 'feature/*');
  assert.match((await world.sync()).stderr, /pr-1: removed: previews are of branches now\n/);
  const removals = () => {
    const records = readFileSync(join(world.root, 'logs/deploy-events.jsonl'), 'utf8');
    return records.split('"event_type":"PreviewRemoved"').length - 1;
  };
  assert.is((await world.runner('preview', 'remove', 'shop', 'pr-1')).status, 0);
  assert.is(removals(), 2);
  await world.runner('preview', 'enable', 'shop', '--branches', '');
  await world.open(2);
  await world.sync();
  const both = [1, 2].map(() => world.runner('preview', 'remove', 'shop', '2'));
  for (const { status } of await Promise.all(both)) assert.is(status, 0);
  assert.is(removals(), 3);
  await world.end();
});

test('remove takes the previews of the app with it; a name of a preview is not an app', async () => {
  const world = await makePreviewWorld();
  await world.open(1);
  await world.sync();
  const refused = await run(
    'runner-add',
    ['--repo', 'here:acme/shop', '--branch', 'main', '--public', '--name', 'x--pr-1'],
    { root: world.root },
  );
  assert.match(refused.stderr, /is the name of a preview/);
  const removed = await world.runner('remove', 'shop', '--yes');
  assert.is(removed.status, 0, removed.stderr);
  assert.equal(world.processes(), []);
  assert.is(world.state('shop--pr-1'), undefined);
  assert.not(existsSync(join(world.root, 'apps/shop--pr-1')));
  await world.end();
});

test('what the code host refuses of a preview is not answered with an edit, which a preview does not have', async () => {
  const world = await makePreviewWorld();
  await world.open(7);
  assert.is((await world.sync()).status, 0);
  assert.is((await world.runner('edit', 'shop', '--public')).status, 0);
  const { status, stderr } = await world.runner('deploy', 'shop--pr-7');
  assert.is(status, 1);
  assert.match(stderr, /requires a token for [^;]+ \(token_invalid\)\n$/);
  await world.end();
});

test.run();
