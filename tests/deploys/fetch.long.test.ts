import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startGitServer } from '@runner/testing/git-server';
import { CREDENTIAL, failingAt, pausedAt } from '@runner/testing/killing';
import { run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { fetch } from './fetch.ts';
import { deployFile, gate, TOKEN, type World, worldSuite } from './world.ts';

const test = worldSuite('fetch');

const checkFailed = (world: World) =>
  world.state().check_failed as { since: string; error: string } | null;

test('a pipe without a reader, or a link, in place of fetch.log does not delay a deploy', async ({
  world,
}) => {
  const log = join(world.root, 'logs/fetch.log');
  const elsewhere = join(temporaryFolder('elsewhere'), 'file');
  mkdirSync(dirname(log));
  for (const [version, command, ...args] of [
    ['v1', 'mkfifo', log],
    ['v2', 'ln', '-sf', elsewhere, log],
  ] as const) {
    spawnSync(command, args);
    await world.push(version);
    const { status, stdout, stderr } = await fetch(world, ['--deploy', 'shop']);
    assert.equal([status, stdout], [1, `shop: deployed ${version}\n`], stderr);
  }
  assert.not.ok(existsSync(elsewhere));
});

test('the attempts of one commit wait, a deploy by hand and another commit do not', async ({
  world,
}) => {
  writeFileSync(
    join(world.root, 'config.yml'),
    `code_host_git_url: ${world.git.url}\nretry_after: [1h]\n`,
    { mode: 0o600 },
  );
  await world.push('v1', { deploy: deployFile(world.port, 'build: exit 1') });
  assert.is((await fetch(world, ['--deploy'])).status, 1);
  const waiting = await fetch(world, ['--deploy']);
  assert.equal([waiting.status, waiting.stderr], [0, '']);
  assert.match(waiting.stdout, /^shop: retry in (60|59) min\n$/);
  const shown = await run('runner-status', ['shop', '--json'], { root: world.root });
  assert.match(
    JSON.parse(shown.stdout).next,
    /^1 of 3 attempts used; fetch --deploy waits, retry in (60|59) min$/,
  );
  assert.is((await world.deploy()).status, 1);
  assert.is((world.state().failures as { count: number }).count, 2);
  await world.push('v2');
  assert.is((await fetch(world, ['--deploy'])).stdout, 'shop: deployed v2\n');
});

test('--jobs deploys several apps in parallel and prints their lines in order', async ({
  world,
}) => {
  const [ready, other] = [
    join(temporaryFolder('jobs'), 'ready'),
    join(temporaryFolder('jobs'), 'other'),
  ];
  const add = ['--repo', 'acme/blog', '--branch', 'main', '--token-from', 'shop'];
  await world.git.createRepo('acme/blog');
  assert.is((await run('runner-add', add, { root: world.root })).status, 0);
  // Each build waits for the other one.
  const meet = (mine: string, its: string) =>
    `build: "touch '${mine}'; for i in $(seq 600); do test -e '${its}' && exit 0; sleep 0.05; done; exit 1"\n`;
  await world.git.commit('acme/blog', { '.deploy.yml': meet(ready, other) }, 'b1', { tag: 'b1' });
  await world.git.commit('acme/shop', { '.deploy.yml': meet(other, ready) }, 'v1', { tag: 'v1' });
  const done = await fetch(world, ['--deploy', '--jobs', '2']);
  assert.equal(
    [done.status, done.stdout],
    [0, 'blog: deployed b1\nshop: deployed v1\n'],
    done.stderr,
  );
  const wrong = await fetch(world, ['--jobs', '0']);
  assert.is(wrong.status, 2);
});

test('a code host that hangs does not delay the deploys of apps of another one', async ({
  world,
}) => {
  const { root } = world;
  const silent = await startGitServer({ token: TOKEN });
  const config = `code_host_git_url: ${world.git.url}\ncode_hosts: { silent: { type: git, git_url: "${silent.url}" } }\n`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  // More than are asked at once.
  for (let at = 1; at <= 5; at += 1) {
    await silent.createRepo(`acme/a${at}`, { public: true });
    const add = ['--repo', `silent:acme/a${at}`, '--branch', 'main', '--public'];
    const added = await run('runner-add', add, { root });
    assert.is(added.status, 0, added.stderr);
  }
  silent.fail('hang', Number.POSITIVE_INFINITY);
  await world.push('v1');
  const fetching = start('runner-fetch', ['--deploy', '--jobs', '1'], { root });
  await until(() => world.kinds().includes('DeploySuccess'), 'shop is not deployed');
  const [asked] = silent.requests;
  assert.ok(asked && asked.status === 0, 'the other host is not asked meanwhile');
  const lines = fetching.stdout[Symbol.asyncIterator]();
  assert.is((await lines.next()).value, 'shop: deployed v1');
  assert.is(silent.requests.filter(({ status }) => status !== 0).length, 0);
  await silent.close();
  const { status, stdout } = await fetching.done;
  assert.is(status, 1);
  assert.match(stdout, /^shop: deployed v1\n(a\d: network error: .*\n){5}$/);
});

test('a code host that needs more than a minute to pack a large repository is waited for', async ({
  world,
}) => {
  await world.push('v1');
  // The list of refs comes at once.
  world.git.fail({ slow: 0 }, 1, 'git-upload-pack');
  world.git.fail({ slow: 63_000 }, 1, 'git-upload-pack');
  const done = await world.deploy();
  assert.is(done.status, 0, done.stderr);
});

test('max_deploy_retries of config.yml decides how often, and a deploy by hand ignores the block', async ({
  world,
}) => {
  writeFileSync(
    join(world.root, 'config.yml'),
    `code_host_git_url: ${world.git.url}\nnotify: { max_deploy_retries: 1 }\n`,
    { mode: 0o600 },
  );
  await world.push('v1', { deploy: deployFile(world.port, 'build: test -e /nonexistent') });
  await fetch(world, ['--deploy']);
  assert.is(
    (await fetch(world, ['--deploy'])).stdout,
    'shop: deploy blocked, same commit failed 1 time\n',
  );
  assert.is((await world.deploy()).status, 1);
  assert.is((world.state().failures as { count: number }).count, 2);
});

test('a version that was rolled back by hand is held until the next push', async ({ world }) => {
  for (const version of ['v1', 'v2']) {
    await world.push(version);
    await world.deploy();
  }
  await run('runner-rollback', ['shop'], { root: world.root });
  const held = await fetch(world, ['--deploy']);
  assert.equal([held.status, held.stdout], [0, 'shop: on hold: v2 was rolled back\n']);
  assert.is(await world.page(), 'v1');
  await world.push('v3');
  await fetch(world, ['--deploy']);
  assert.is(await world.page(), 'v3');
  assert.is(world.state().held, null);
});

test('a running deploy is left alone, which is not a failure', async ({ world }) => {
  const held = gate();
  await world.push('v1', { deploy: deployFile(world.port, held.build) });
  const running = start('runner-deploy', ['shop'], { root: world.root });
  await held.reached();
  const done = await fetch(world, ['--deploy']);
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stdout, /^shop: skipped: deploy [0-9a-f]{8} running\n$/);
  held.open();
  assert.is((await running.done).status, 0);
});

test('a busy audit log that prevents a deploy does not count as its failure', async ({ world }) => {
  await world.push('v1', { deploy: 'notify: {}\n' });
  await fetch(world, ['--deploy']);
  await world.push('v2');
  const before = world.events().length;
  const lock = join(world.root, 'locks/.audit.lock');
  const holder = spawn('flock', [lock, 'sh', '-c', 'echo held; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  await once(holder.stdout, 'data');
  const busy = await fetch(world, ['--deploy']);
  process.kill(-(holder.pid as number), 'SIGKILL');
  await once(holder, 'close');
  assert.equal([busy.status, busy.stdout], [1, 'shop: skipped: the audit log is busy\n']);
  assert.is(checkFailed(world), null);
  assert.is((await fetch(world, ['--deploy'])).stdout, 'shop: deployed v2\n');
  assert.equal(world.kinds().slice(before), ['DeployStarted', 'DeploySuccess']);
});

test('an app that another command works on is left alone, and the command is named', async ({
  world,
}) => {
  await world.push('v1');
  const pause = pausedAt(CREDENTIAL, 'after');
  const running = world.deploy(['--check'], pause.env);
  await pause.reached();
  const done = await fetch(world, ['--deploy']);
  pause.end();
  assert.equal([done.status, done.stdout], [0, 'shop: skipped: deploy --check running\n']);
  assert.is((await running).status, 0);
});

test('a token revoked between two fetches, and an unreachable host, are recorded once each', async ({
  world,
}) => {
  await world.push('v1');
  await fetch(world, ['--deploy']);
  world.git.revoke(TOKEN);
  const revoked = await fetch(world, ['--deploy']);
  assert.is(revoked.status, 1);
  assert.is(revoked.stdout, "shop: the code host refused the token of 'shop' for acme/shop\n");
  assert.match(
    revoked.stderr,
    /^Deploy FAILED for shop main\.\nNext steps:\n {2}runner debug last-error shop\n {2}runner rollback shop\n$/,
  );
  const status = await run('runner-status', ['shop'], { root: world.root });
  assert.match(
    status.stdout,
    /\n {2}checked: .* UTC\n +fails since .* UTC, nothing new is deployed\n +the code host refused the token of 'shop' for acme\/shop\n/,
  );
  const since = checkFailed(world)?.since;
  await fetch(world);
  assert.is(checkFailed(world)?.since, since, 'since the first of them');
  await world.git.close();
  const gone = await fetch(world, ['--deploy']);
  assert.is(gone.status, 1);
  assert.is(checkFailed(world)?.error, 'network_error');
  assert.is(checkFailed(world)?.since, since, 'nothing was checked in between');
  assert.match(gone.stdout, /^shop: network error: the code host refused the connection/);
  await fetch(world, ['--deploy']);
  assert.equal(
    world
      .events()
      .map(({ event_type, stage, version }) => [event_type, stage, version])
      .slice(2),
    [
      ['DeployFailure', 'fetch', 'main'],
      ['DeployFailure', 'fetch', 'main'],
    ],
  );
  const last = await run('runner-debug', ['last-error', 'shop'], { root: world.root });
  assert.match(last.stdout, /the code host refused the connection/);
  assert.is(await world.page(), 'v1');
});

test('a check that succeeds again is no longer reported as failing', async ({ world }) => {
  await world.push('v1');
  const change = (repo: string) =>
    run('runner-edit', ['shop', '--repo', repo], { root: world.root });
  await change('acme/none');
  assert.is((await fetch(world)).status, 1);
  assert.is(checkFailed(world)?.error, 'repo_not_found');
  await change('acme/shop');
  assert.is((await fetch(world)).status, 0);
  assert.is(checkFailed(world), null);
  await change('acme/none');
  await fetch(world);
  await change('acme/shop');
  assert.is((await world.deploy()).status, 0);
  assert.is(checkFailed(world), null, 'a deploy has found out as well');
});

test('a fetch log that cannot be written is reported once, with status 1; the decisions are printed', async ({
  world,
}) => {
  await world.push('v1');
  await run('runner-add', ['--repo', 'acme/none', '--branch', 'main', '--token-from', 'shop'], {
    root: world.root,
  });
  const path = join(world.root, 'logs/fetch.log');
  mkdirSync(path, { recursive: true });
  const done = await fetch(world);
  assert.is(done.status, 1);
  assert.match(done.stdout, /^shop: new commit v1$/m);
  assert.equal(done.stderr.match(/cannot be written/g)?.length, 1, done.stderr);
  assert.ok(done.stderr.startsWith(`runner fetch: ${path} cannot be written: `), done.stderr);
  const single = await fetch(world, ['shop']);
  assert.is(single.status, 1);
});

test('a failed deploy of several instances names what each of them runs', async ({ world }) => {
  await world.push('v1', { deploy: 'instances: { eu: {} }' });
  await fetch(world, ['--deploy']);
  await world.push('v2', { deploy: 'instances: { eu: {}, us: {} }' });
  await run('runner-deploy', ['shop', '--instance', 'us'], { root: world.root });
  await world.push('v3', { deploy: 'instances: { eu: {}, us: {} }\nbuild: exit 1' });
  const failed = await fetch(world, ['--deploy']);
  assert.is(failed.stdout, 'shop: deploy of v3 failed at build, eu runs v1, us runs v2\n');
});

test('a check that fails is recorded for each instance, with what it runs', async ({ world }) => {
  const deploy = 'instances: { eu: {}, us: {} }';
  await world.push('v1', { deploy });
  await fetch(world, ['--deploy']);
  await world.push('v2', { deploy });
  await run('runner-deploy', ['shop', '--instance', 'us'], { root: world.root });
  await world.git.deleteBranch('acme/shop', 'main');
  await fetch(world, ['--deploy']);
  const failures = world.events().filter(({ stage }) => stage === 'fetch');
  assert.equal(
    failures.map(({ instance, instances, previous_version }) => [
      instance,
      instances,
      previous_version,
    ]),
    [
      ['eu', ['eu', 'us'], 'v1'],
      ['us', ['eu', 'us'], 'v2'],
    ],
  );
  assert.is(new Set(failures.map(({ deploy_id }) => deploy_id)).size, 1);
  const verified = await run('runner-audit', ['verify'], { root: world.root });
  assert.is(verified.status, 0, verified.stdout);
});

test('a broken .deploy.yml is reported without a word about channels that are not configured', async ({
  world,
}) => {
  await world.push('v1', { deploy: 'nonsense: 1' });
  const done = await fetch(world, ['--deploy']);
  assert.is(done.status, 1);
  assert.not.match(done.stderr, /no channel is active/);
});

test('a force push and a deleted branch are reported', async ({ world }) => {
  await world.push('v1');
  await fetch(world, ['--deploy']);
  await world.git.commit('acme/shop', { VERSION: 'forced\n' }, 'forced', { force: true });
  assert.match((await fetch(world, ['--deploy'])).stdout, /^shop: deployed [0-9a-f]{12}\n$/);
  assert.is(await world.page(), 'forced');
  await world.git.deleteBranch('acme/shop', 'main');
  const gone = await fetch(world, ['--deploy']);
  assert.equal(
    [gone.status, gone.stdout],
    [1, "shop: the repository acme/shop has no branch 'main'\n"],
  );
});

test('a commit that keeps failing is blocked without an event, and the next push lifts the block', async ({
  world,
}) => {
  await world.push('v1', { deploy: deployFile(world.port, 'build: exit 1') });
  for (let time = 1; time <= 3; time += 1) {
    const failed = await fetch(world, ['--deploy']);
    assert.is(failed.status, 1);
    assert.is(failed.stdout, 'shop: deploy of v1 failed at build, nothing is active\n');
    assert.match(
      failed.stderr,
      /Deploy FAILED for shop v1\.\nNext steps:\n {2}runner debug last-error shop\n {2}runner rollback shop\n/,
    );
  }
  const before = world.events().length;
  const blocked = await fetch(world, ['--deploy']);
  assert.equal(
    [blocked.status, blocked.stdout],
    [0, 'shop: deploy blocked, same commit failed 3 times\n'],
  );
  assert.is(world.events().length, before);
  assert.match((await run('runner-list', [], { root: world.root })).stdout, / blocked /);
  await world.push('v2');
  assert.is((await fetch(world, ['--deploy'])).stdout, 'shop: deployed v2\n');
  assert.is(world.state().failures, null);
});

/** An app at a code host that hangs until it is closed. */
async function hangingApp(world: World, app: string) {
  const silent = await startGitServer({ token: TOKEN });
  const config = `code_host_git_url: ${world.git.url}\nretry_after: [0s]\ncode_hosts: { silent: { type: git, git_url: "${silent.url}" } }\n`;
  writeFileSync(join(world.root, 'config.yml'), config, { mode: 0o600 });
  await silent.createRepo(`acme/${app}`, { public: true });
  const add = ['--repo', `silent:acme/${app}`, '--branch', 'main', '--public'];
  assert.is((await run('runner-add', add, { root: world.root })).status, 0);
  silent.fail('hang', Number.POSITIVE_INFINITY);
  return silent;
}

test('what a slow fetch has found before a deploy does not replace the head that the deploy knows', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  const silent = await hangingApp(world, 'slow');
  const before = world.git.requests.length;
  const fetching = start('runner-fetch', ['--deploy'], { root: world.root });
  const asked = () => world.git.requests.slice(before).some(({ status }) => status === 200);
  await until(() => asked() && silent.requests.length > 0, 'the hosts were not asked');
  const commit = await world.push('v2');
  assert.is((await world.deploy()).status, 0);
  await silent.close();
  assert.match((await fetching.done).stdout, /^shop: up to date$/m);
  assert.is(world.state().head, commit);
  await run('runner-rollback', ['shop'], { root: world.root });
  assert.match((await fetch(world, ['--deploy', 'shop'])).stdout, /^shop: on hold: v2 /);
});

test('a result that cannot be recorded does not end the process while another app is deployed', async ({
  world,
}) => {
  const { root } = world;
  await world.git.createRepo('acme/blog');
  await run('runner-add', ['--repo', 'acme/blog', '--branch', 'main', '--token-from', 'shop'], {
    root,
  });
  await world.git.commit('acme/blog', { '.deploy.yml': '' }, 'b1', { tag: 'b1' });
  await run('runner-deploy', ['blog'], { root });
  const held = gate();
  await world.push('v1', { deploy: deployFile(world.port, held.build) });
  const broken = failingAt(`name === 'renameSync' && String(args[1]).endsWith('/state/blog.json')`);
  const fetching = start('runner-fetch', ['--deploy'], { root, env: broken });
  await held.reached();
  const lines = fetching.stdout[Symbol.asyncIterator]();
  assert.is((await lines.next()).value, 'blog: up to date');
  held.open();
  const { status, stdout, stderr } = await fetching.done;
  assert.equal([status, stdout], [1, 'blog: up to date\nshop: deployed v1\n'], stderr);
  assert.match(stderr, /cannot write .*state.blog.json: .*EIO/);
  assert.is(await world.page(), 'v1');
});

test.run();
