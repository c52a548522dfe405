/** Reminders while a newer commit does not run, crash loops, and what builds and hooks can trace with. */
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { startDiscord } from '@runner/testing/discord';
import { killedAfter, recorded } from '@runner/testing/killing';
import { preloading, run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recording } from './fake-programs.ts';
import { startPm2 } from './pm2.ts';
import { clockHook } from './told-once.ts';
import { deployFile, makeWorld, type World } from './world.ts';

const test = suite('alarms');
const HOUR = 3_600_000;
const MINUTE = 60_000;

/** `fetch --deploy` with the clock set forward. */
function fetchingAt(world: World, env: Record<string, string> = {}) {
  const hook = clockHook();
  return (offset: number) =>
    run('runner-fetch', ['--deploy'], {
      root: world.root,
      env: { ...env, ...preloading(hook), CLOCK_OFFSET: String(offset) },
    });
}

const ofKind = (world: World, kind: string) =>
  world.events().filter(({ event_type }) => event_type === kind);

test('what the server keeps failing is announced three times, then when it fails otherwise, and when it is over', async () => {
  const [world, chat] = [await makeWorld(), await startDiscord()];
  const { root, git } = world;
  const config = `code_host_git_url: ${git.url}\nnotify: { discord_webhook: "${chat.webhook}" }\n`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  await world.push('v1');
  await world.deploy(['--no-notify']);
  const silentPm2 = fetchingAt(world, recording(['pm2'], 'exit 1').env);
  await world.push('v2', { deploy: 'start: { type: pm2, run: node server.js }\nnotify: {}\n' });
  let at = 0;
  const later = () => (at += 11 * MINUTE);
  for (let time = 0; time < 5; time += 1) await silentPm2(later());
  // What the release needs of the server leads elsewhere now.
  const shared = join(root, 'apps/shop/instances/default/shared');
  renameSync(shared, `${shared}.aside`);
  symlinkSync('/tmp', shared);
  for (let time = 0; time < 2; time += 1) await silentPm2(later());
  rmSync(shared);
  renameSync(`${shared}.aside`, shared);
  await world.push('v3', { deploy: deployFile(world.port, 'notify: {}\n') });
  await silentPm2(later());
  const failures = ofKind(world, 'DeployFailure');
  assert.equal(
    failures.map(({ muted = false }) => muted),
    [false, false, true, true, true, true, true],
  );
  await until(() => chat.messages.length >= 10, 'a message is missing');
  const titles = chat.messages.map(({ content }) =>
    content.replace(/^\S+ Deploy (\w+):.*\s`(v\d)`.*$/s, '$1 $2'),
  );
  const failed = ['started v2', 'failed v2'];
  const over = ['started v3', 'completed v3'];
  assert.equal(titles, [...failed, ...failed, ...failed, ...failed, ...over]);
  const retries = chat.messages.map((message) =>
    /goes on; the same failure/.test(JSON.stringify(message)),
  );
  assert.equal(retries, [false, false, false, false, false, true, false, true, false, false]);
  await Promise.all([world.close(), chat.close()]);
});

test('what the server keeps failing is silent with its rollbacks, until the version before cannot be restored', async () => {
  const [world, chat] = [await makeWorld(), await startDiscord()];
  const { root, git } = world;
  const config = `code_host_git_url: ${git.url}\nmax_deploy_retries: 1\nnotify: { discord_webhook: "${chat.webhook}" }\n`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  await world.push('v1');
  await world.deploy(['--no-notify']);
  const script = 'test "$1" = restart || exit 0; echo Access denied >&2; exit 1';
  const fetchAt = fetchingAt(world, recording(['systemctl'], script).env);
  await world.push('v2', { deploy: 'start: { type: systemd, unit: shop.service }\nnotify: {}\n' });
  const counts: number[] = [];
  for (let time = 1; time <= 5; time += 1) {
    const server = join(root, 'apps/shop/instances/default/current/server.js');
    if (time === 4) writeFileSync(server, 'process.exit(3)');
    await fetchAt(time * 11 * MINUTE);
    counts.push(chat.messages.length);
  }
  // Once with its start and its rollback, and once with its start when nothing is active any more.
  assert.equal(counts, [3, 3, 3, 5, 5]);
  await Promise.all([world.close(), chat.close()]);
});

test('while a commit is blocked or paused, one reminder a day says why and what to type', async () => {
  const world = await makeWorld();
  const fetchAt = fetchingAt(world);
  const config = (more: string) =>
    writeFileSync(
      join(world.root, 'config.yml'),
      `code_host_git_url: ${world.git.url}\nmax_deploy_retries: 1\n${more}`,
      { mode: 0o600 },
    );
  config('');
  await world.push('v1');
  await world.deploy();
  await world.push('v2', { deploy: deployFile(world.port, 'build: "exit 1"\n') });
  for (let hour = 0; hour <= 60; hour += 6) await fetchAt(hour * HOUR);
  const told = ofKind(world, 'HeadBehind');
  assert.is(told.length, 2);
  assert.match(
    String(told[0]?.reason),
    /^\S+ is not deployed since 20\S+Z: deploy blocked, same commit failed 1 time; blocked until the next .*; or run: runner deploy shop$/,
    String(told[0]?.reason),
  );
  const shown = await run('runner-status', ['--prometheus'], { root: world.root });
  assert.match(shown.stdout, /^runner_app_blocked\{app="shop"\} 1$/m);
  // A window that is closed opens without anyone.
  await world.push('v3');
  config('deploy_windows: [{ freeze: 2020-01-01..2099-01-01 }]\n');
  for (let hour = 66; hour <= 120; hour += 6) await fetchAt(hour * HOUR);
  assert.is(ofKind(world, 'HeadBehind').length, 2);
  await run('runner-pause', ['shop'], { root: world.root });
  config('');
  for (let hour = 126; hour <= 144; hour += 6) await fetchAt(hour * HOUR);
  assert.is(ofKind(world, 'HeadBehind').length, 3);
  assert.match(String(ofKind(world, 'HeadBehind')[2]?.reason), /runner resume shop/);
  await run('runner-resume', ['shop'], { root: world.root });
  await fetchAt(150 * HOUR);
  assert.is(await world.page(), 'v3');
  await fetchAt(200 * HOUR);
  assert.is(ofKind(world, 'HeadBehind').length, 3);
  assert.is(world.state().behind_since ?? null, null);
  await world.close();
});

test('an app that its supervisor restarts again and again is announced as down once, and up after 10 quiet minutes', async () => {
  const { env, kill } = await startPm2();
  const world = await makeWorld();
  const { port } = world;
  const deploy = `instances: { default: { env: { PORT: "${port}" } } }\nstart: { type: pm2, run: node server.js }\n`;
  await world.push('v1', { deploy });
  assert.is((await world.deploy([], env())).status, 0);
  const fetchAt = fetchingAt(world, env());
  await fetchAt(0);
  const pidOf = async () => {
    const { stdout } = await run('runner-status', ['shop', '--json'], {
      root: world.root,
      env: env(),
    });
    return JSON.parse(stdout).usage.default?.pid as number | undefined;
  };
  for (let time = 1; time <= 4; time += 1) {
    let pid = 0;
    await until(async () => {
      pid = (await pidOf()) ?? 0;
      return pid > 0;
    }, 'it runs');
    process.kill(pid, 'SIGKILL');
    await until(async () => ((await pidOf()) ?? pid) !== pid, 'it runs again');
    await fetchAt(time * MINUTE);
  }
  const [down, ...more] = ofKind(world, 'AppDown');
  assert.equal(more, []);
  assert.ok(Number(down?.restarts) >= 3, JSON.stringify(down));
  assert.match(String(down?.reason), /restarted \d+ times in 10 minutes; see runner logs shop/);
  await fetchAt(5 * MINUTE);
  assert.is(ofKind(world, 'AppUp').length, 0);
  await fetchAt(16 * MINUTE);
  assert.is(ofKind(world, 'AppUp').length, 1);
  await kill();
  await world.close();
});

test('builds and hooks have the trace of their deploy, the app what names it; its own setting wins', async () => {
  const world = await makeWorld();
  const seen = join(world.root, 'seen');
  const print = (where: string) =>
    `echo ${where} $TRACEPARENT $OTEL_RESOURCE_ATTRIBUTES >> ${seen}`;
  const more = `build: "${print('build')}"\nhooks: { post_deploy: "${print('hook')}" }\nsandbox: off\n`;
  writeFileSync(
    join(world.root, 'config.yml'),
    `code_host_git_url: ${world.git.url}\nsandbox: off\n`,
    { mode: 0o600 },
  );
  const file = (own: string) =>
    `${deployFile(world.port)
      .replace('exec node', `${print('app')}; exec node`)
      .replace('env: {', `env: { ${own}`)}${more.replace('sandbox: off\n', '')}`;
  await world.launch('v1', { deploy: file('') });
  const lines = () => readFileSync(seen, 'utf8').trim().split('\n');
  const named = 'service.name=shop,service.version=v1,deployment.environment.name=production';
  const [build = '', app, hook] = lines();
  assert.match(build, new RegExp(`^build 00-[0-9a-f]{32}-[0-9a-f]{16}-01 ${named}$`));
  assert.is(app, `app ${named}`);
  assert.is(hook, build.replace('build', 'hook'));
  await world.push('v2', { deploy: file('OTEL_RESOURCE_ATTRIBUTES: "a=b", ') });
  await world.deploy();
  assert.is(lines().at(-1)?.endsWith(' a=b'), true);
  assert.not.match(String(lines().at(-1)), build.split(' ')[1] as string);
  await world.close();
});

test('a fetch that is killed while it announces is made good by the next one, which repeats nothing', async () => {
  const [world, chat] = [await makeWorld(), await startDiscord()];
  const { root, git } = world;
  const config = `code_host_git_url: ${git.url}\nnotify: { discord_webhook: "${chat.webhook}" }\n`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  await world.push('v1', { deploy: deployFile(world.port, 'notify: { channel: discord }\n') });
  await run('runner-deploy', ['shop', '--no-notify'], { root });
  await run('runner-fetch', [], { root });
  const remembered = `name === 'renameSync' && String(args[1]).endsWith('/state/shop.json') && JSON.parse(text(args[1])).reported?.down?.length === 1`;
  for (const [at, moment] of [recorded('AppDown'), remembered].entries()) {
    killApp(root, 'shop');
    await until(async () => (await world.page()) === null, 'it still answers');
    const killed = await run('runner-fetch', [], { root, env: killedAfter(moment) });
    assert.is(killed.signal, 'SIGKILL', killed.stderr);
    assert.is((await run('runner-fetch', [], { root })).status, 0);
    await run('runner-notify', ['flush'], { root });
    const titles = chat.messages.map(({ content }) => content.replace(/:.*$/s, ''));
    assert.is(ofKind(world, 'AppDown').length, at + 1);
    assert.is(titles.filter((each) => each.endsWith('App down')).length, at + 1, titles.join());
    await run('runner-start', ['shop'], { root });
  }
  assert.is((await run('runner-audit', ['verify'], { root })).status, 0);
  await Promise.all([world.close(), chat.close()]);
});

test.run();
