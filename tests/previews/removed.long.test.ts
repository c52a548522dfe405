/** What is removed stays removed, and says so; what cannot be removed says why. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { killedAfter } from '@runner/testing/killing';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { askHost, startWaker } from '../traffic/sleep-world.ts';
import { makePreviewWorld } from './world.ts';

test('a removed preview is no trouble, and comes back only by undo', async () => {
  const world = await makePreviewWorld();
  chmodSync(join(world.root, 'apps/shop'), 0o751);
  await world.open(7, { page: 'seven' });
  await world.sync();
  const folder = join(world.root, 'apps/shop--pr-7');
  assert.is(statSync(folder).mode & 0o777, 0o751);
  const refused = await world.runner('remove', 'shop--pr-7', '--yes');
  assert.match(refused.stderr, 'is a preview of shop: runner preview remove shop 7');
  assert.is((await world.runner('preview', 'remove', 'shop', 'pr-7')).status, 0);
  for (const tool of ['restart', 'deploy', 'rollback', 'start']) {
    const ended = await world.runner(tool, 'shop--pr-7');
    assert.is(ended.status, 1);
    assert.match(
      ended.stderr,
      /shop--pr-7 was removed: by an operator; to bring it back: runner preview undo shop 7/,
    );
  }
  // Refused, which is no failed deploy.
  const log = readFileSync(join(world.root, 'logs/deploy-events.jsonl'), 'utf8');
  assert.not.match(log, 'DeployFailure');
  assert.equal(world.processes(), []);
  const waker = await startWaker(world.root);
  const socketPath = join(world.root, 'waker/app.sock');
  assert.is((await askHost({ socketPath }, 'pr-7.preview.example.org')).status, 404);
  waker.kill('SIGTERM');
  const { state, next } = JSON.parse((await world.runner('status', 'shop--pr-7', '--json')).stdout);
  assert.is(state, 'removed');
  assert.match(next, /runner preview undo shop 7$/);
  assert.is((await world.runner('status', 'shop--pr-7', '--check')).status, 0);
  const told = await world.runner('why', 'shop--pr-7');
  assert.not.match(told.stdout, /down|restart/);
  const doctor = await world.runner('doctor', '--offline', '--json');
  assert.not.match(doctor.stdout, /shop--pr-7/);
  assert.is((await world.runner('preview', 'undo', 'shop', '7')).status, 0);
  await world.answers('pr-7', 'seven');
  const listed = async () => {
    const { stdout } = await world.runner('preview', 'list', 'shop', '--json');
    const [{ previews, waiting }] = JSON.parse(stdout).apps;
    return [previews[0].state, previews[0].removed_why, waiting.length];
  };
  assert.is((await world.runner('stop', 'shop--pr-7')).status, 0);
  assert.equal(await listed(), ['stopped', null, 0]);
  const open = await world.runner('preview', 'open', 'shop', '7');
  assert.equal([open.status, open.stdout], [1, '']);
  assert.match(open.stderr, 'shop--pr-7 is stopped: run runner start shop--pr-7 (not_ready)');
  assert.is((await world.runner('start', 'shop--pr-7')).status, 0);
  process.kill(Number(world.processes()[0]?.split(' ')[2]), 'SIGKILL');
  await until(async () => (await listed())[0] === 'down', 'it is not down');
  assert.match((await world.runner('preview', 'open', 'shop', '7')).stderr, 'is down: run runner');
  assert.is((await world.runner('start', 'shop--pr-7')).status, 0);
  const paused = await world.runner('pause', 'shop--pr-7');
  assert.match(paused.stderr, 'shop--pr-7 is a preview of shop: a pause of shop does not concern');
  const opened = await world.runner('preview', 'open', 'shop', 'topic-7');
  assert.is(opened.stdout, 'https://pr-7.preview.example.org\n', opened.stderr);
  for (const which of ['', 'topic-8']) {
    const wrong = await world.runner('preview', 'open', 'shop', which);
    assert.match(wrong.stderr, `'${which}' for '<WHICH>': it is not the number of a pull request`);
  }
  assert.is((await world.runner('preview', 'disable', 'shop')).status, 0);
  for (const verb of ['undo', 'open']) {
    const ended = await world.runner('preview', verb, 'shop', '7');
    assert.match(ended.stderr, /'shop' has no previews: run runner preview enable shop/);
  }
  const domain = ['--domain', 'pr-{n}.preview.example.org'];
  await world.runner('preview', 'enable', 'shop', ...domain, '--label', 'go');
  await world.sync();
  const why = 'has not the label go';
  assert.equal((await listed()).slice(0, 2), ['removed', why]);
  const deployed = await world.runner('deploy', 'shop--pr-7');
  assert.match(deployed.stderr, `shop--pr-7 was removed: ${why}; `);
  assert.is((await world.runner('preview', 'undo', 'shop', '7')).status, 0);
  const synced = await world.sync();
  assert.not.match(synced.stdout + synced.stderr, why);
  assert.equal(await listed(), ['ready', null, 0]);
  await world.end();
});

test('a preview whose database cannot be dropped is being removed until it can', async () => {
  const world = await makePreviewWorld();
  const allow = join(world.root, 'apps/shop--pr-4/instances/default/shared/allow');
  const more = `preview: { database: { create: 'true', drop: 'test -e "$RUNNER_SHARED/allow"' } }\n`;
  await world.open(4, { more });
  assert.match((await world.sync()).stderr, /preview.database: true/);
  await world.push(4, 'again', { more });
  assert.not.match((await world.sync()).stderr, /preview.database/);
  world.close(4);
  const failed = await world.sync();
  assert.is(failed.status, 1);
  assert.match(failed.stdout, /database was not dropped: preview.database.drop: /);
  const [app] = JSON.parse((await world.runner('preview', 'list', '--json')).stdout).apps;
  assert.is(app.previews[0].state, 'removing');
  assert.match(world.api.pulls.comments[0]?.text ?? '', /was removed: is closed$/);
  assert.ok(world.api.pulls.deployments.every(({ state }) => state === 'inactive'));
  const doctor = await world.runner('doctor', '--offline');
  assert.match(doctor.stdout + doctor.stderr, /shop--pr-4 cannot be removed: its database/);
  const log = () => readFileSync(join(world.root, 'logs/deploy-events.jsonl'), 'utf8');
  assert.not.match(log(), /"PreviewRemoved"/);
  writeFileSync(allow, '');
  assert.is((await world.sync()).status, 0);
  assert.match(log(), /"PreviewRemoved"/);
  await world.end();
});

test('a preview whose drop was begun finishes it before it is made again, with its database', async () => {
  const world = await makePreviewWorld();
  const file = join(world.root, 'apps/shop--pr-5/instances/default/shared/db');
  const drop = `rm -f $RUNNER_SHARED/db; test -e $RUNNER_SHARED/allow`;
  const more = `preview: { database: { create: 'touch $RUNNER_SHARED/db', drop: '${drop}' } }\n`;
  await world.open(5, { more });
  await world.sync();
  await world.answers('pr-5', 'pr 5');
  world.close(5);
  // It has done its work, and fails: as if it was killed then.
  assert.is((await world.sync()).status, 1);
  assert.not(existsSync(file));
  world.api.pulls.set(5, true);
  await world.push(5, 'again', { more });
  const failed = await world.sync();
  assert.match(failed.stdout, /shop--pr-5 is not wholly removed: its database was not dropped: /);
  const opened = await world.runner('preview', 'open', 'shop', '5');
  assert.equal([opened.status, opened.stdout], [1, '']);
  assert.match(opened.stderr, /pr-5 has no preview: it is being removed: its database was not/);
  assert.equal(world.processes(), []);
  writeFileSync(join(file, '..', 'allow'), '');
  const made = await world.sync();
  assert.match(made.stderr, /preview.database: touch /, made.stdout + made.stderr);
  await world.answers('pr-5', 'again');
  assert.ok(existsSync(file));
  await world.end();
});

test('a preview whose state was removed is removed with its pull request, or made again', async () => {
  const world = await makePreviewWorld();
  const more = `preview: { database: { create: 'true', drop: 'touch $RUNNER_SHARED/dropped' } }\n`;
  const commit = await world.open(1, { more });
  await world.open(2, { more });
  await world.sync();
  for (const key of ['pr-1', 'pr-2']) rmSync(join(world.root, `state/shop--${key}.json`));
  world.close(1);
  const synced = await world.sync();
  assert.is(synced.status, 0, synced.stdout + synced.stderr);
  assert.ok(existsSync(join(world.root, 'apps/shop--pr-1/instances/default/shared/dropped')));
  await world.answers('pr-2', 'pr 2');
  assert.equal(
    world.processes().map((each) => each.split(' ')[0]),
    ['shop--pr-2'],
  );
  assert.match(String(world.api.pulls.comments[0]?.text), /was removed: is closed$/);
  const log = readFileSync(join(world.root, 'logs/deploy-events.jsonl'), 'utf8');
  assert.match(
    log,
    `"PreviewRemoved","project":"shop--pr-1","instance":"default","version":"${commit.slice(0, 12)}"`,
  );
  await world.end();
});

test('a preview whose purge was killed is not removed a second time, and the next sync removes its files', async () => {
  const world = await makePreviewWorld();
  const { root } = world;
  const more = `preview: { database: { create: 'true', drop: 'false' } }\n`;
  await world.open(1, { more });
  assert.is((await world.sync()).status, 0);
  const moment = "name === 'unlinkSync' && String(args[0]).endsWith('/state/shop--pr-1.json')";
  const killed = await run('runner-preview', ['disable', 'shop', '--purge', '--force'], {
    root,
    env: killedAfter(moment),
  });
  assert.is(killed.signal, 'SIGKILL', killed.stderr);
  const folder = join(root, 'apps/shop--pr-1');
  assert.ok(existsSync(join(folder, 'instances/default/a/current')));
  const synced = await world.sync();
  assert.equal(
    [synced.status, synced.stdout, synced.stderr],
    [0, 'shop: previews are in line\n', ''],
  );
  assert.not(existsSync(folder));
  assert.equal(world.processes(), []);
  await world.end();
});

test('a folder that cannot be read is named, and keeps no preview from being made', async () => {
  const world = await makePreviewWorld();
  const folder = join(world.root, 'apps/shop--pr-9');
  mkdirSync(folder);
  writeFileSync(join(folder, 'instances'), '');
  await world.open(1);
  const synced = await world.sync();
  assert.is(synced.status, 1);
  assert.match(synced.stdout + synced.stderr, /cannot read the folder .*shop--pr-9\/instances/);
  await world.answers('pr-1', 'pr 1');
  await world.end();
});

test('a preview whose state is damaged is named, and keeps no other from being made or removed', async () => {
  const world = await makePreviewWorld();
  for (const number of [1, 2]) await world.open(number);
  await world.sync();
  const state = join(world.root, 'state/shop--pr-1.json');
  const good = readFileSync(state);
  writeFileSync(state, '{"version": 1');
  world.close(2);
  await world.open(3);
  const synced = await world.sync();
  assert.equal(
    [synced.status, await world.page('pr-2'), await world.page('pr-3')],
    [1, null, 'pr 3'],
  );
  const why = `the state file ${state} is not JSON`;
  assert.match(synced.stdout, `shop: problem: ${why}\n`);
  const listed = await world.runner('preview', 'list');
  assert.match(listed.stdout, /pr-2 +removed.*\n.*pr-3 +ready/);
  assert.match(listed.stdout, `\nshop--pr-1: ${why}\n`);
  const doctor = await world.runner('doctor', '--offline');
  assert.match(doctor.stdout + doctor.stderr, why);
  writeFileSync(state, good);
  assert.is((await world.sync()).status, 0);
  await world.end();
});

test('a comment that the token may not write is named in the list until it can be written', async () => {
  const world = await makePreviewWorld();
  const body = { message: 'Resource not accessible by personal access token' };
  world.api.fail({ status: 403, body }, Number.POSITIVE_INFINITY, 'POST comments');
  await world.open(7);
  assert.is((await world.sync()).status, 0);
  const list = async () => (await world.runner('preview', 'list')).stdout;
  assert.match(await list(), /pr-7 +ready .* the token may not write a comment \(403\): see docs/);
  world.api.heal();
  await world.push(7, 'again');
  await world.sync();
  assert.not.match(await list(), /token/);
  await world.end();
});

test('a removed preview that comes back with a commit that fails does not run the one before', async () => {
  const world = await makePreviewWorld();
  await world.open(9, { page: 'hostile', isFork: true });
  world.api.pulls.clock += 5_000;
  await world.sync();
  world.api.pulls.clock += 5_000;
  world.api.pulls.label(9, 'preview', 'ada');
  await world.sync();
  await world.answers('pr-9', 'hostile');
  world.close(9);
  await world.sync();
  world.api.pulls.set(9, true);
  world.api.pulls.clock += 5_000;
  await world.push(9, 'worse', { more: 'hooks: { pre_switch: "exit 1" }\n' });
  await world.sync();
  for (const isOn of [false, true]) {
    world.api.pulls.clock += 5_000;
    world.api.pulls.label(9, 'preview', 'ada', isOn);
  }
  const failed = await world.sync();
  assert.match(failed.stdout, 'shop--pr-9 failed');
  assert.equal([await world.page('pr-9'), world.processes()], [null, []], failed.stderr);
  await world.runner('preview', 'disable', 'shop', '--purge');
  await world.end();
});

test('enable keeps the settings that are not given, says what holds, and refuses the address of another app', async () => {
  const world = await makePreviewWorld('github', '--max 2 --label go --notify');
  const enable = async (...args: string[]) => {
    const { stdout, stderr } = await world.runner('preview', 'enable', 'shop', ...args);
    return stdout.split('\n')[1] ?? stderr;
  };
  assert.is(
    await enable('--ttl', '2d'),
    'at most 2, until 2d after the last push, asleep after 15m, with the label go, announced',
  );
  assert.is(
    await enable('--label', '', '--quiet', '--max-awake', '1'),
    'at most 2, until 2d after the last push, asleep after 15m, at most 1 awake',
  );
  const refusal = async (domain: string) =>
    (await world.runner('preview', 'enable', 'shop', '--domain', domain)).stderr;
  assert.match(
    await refusal('https://pr-{n}.p.example.org'),
    /give the name alone, without https:/,
  );
  assert.match(await refusal('{n}'), /needs a domain after it/);
  assert.match(await refusal('pr-{n}.p.example.org;}server{'), /letters, digits and dashes/);
  assert.match(await refusal('pr.p.example.org'), /needs \{n\} in its first label/);
  // A number can be open in both: only one of them would be reached.
  const { root } = world;
  const blog = ['--repo', 'here:acme/shop', '--name', 'blog', '--token-from', 'shop'];
  assert.is((await run('runner-add', [...blog, '--branch', 'main'], { root })).status, 0);
  const domain = ['--domain', 'pr-{n}.PREVIEW.example.org'];
  const taken = await world.runner('preview', 'enable', 'blog', ...domain);
  assert.is(
    taken.stderr,
    "error: invalid value 'pr-{n}.preview.example.org' for '--domain <DOMAIN>': the previews of shop have it\n",
  );
  await world.end();
});

test('a code host that cannot be asked is shown until it can; a preview is not an app', async () => {
  const world = await makePreviewWorld();
  const set = ['set', 'shop', 'DB', '--preview', '--file', '-'];
  const stored = await run('runner-env', set, {
    root: world.root,
    stdin: 'preview-db-number-1-{n}',
  });
  assert.is(stored.stderr, '');
  assert.match(stored.stdout, /for previews; each gets it with its next push/);
  await world.open(2);
  await world.sync();
  const secrets = JSON.parse((await world.runner('env', 'list', 'shop', '--json')).stdout);
  assert.is(secrets.secrets[0].applied, true);
  world.api.fail({ status: 503 }, Number.POSITIVE_INFINITY, 'GET pulls');
  await world.sync();
  for (const args of [
    ['preview', 'list'],
    ['status', 'shop'],
    ['doctor', '--offline'],
  ]) {
    const [tool = '', ...rest] = args;
    const { stdout } = await world.runner(tool, ...rest);
    assert.match(stdout.replace(/\s+/g, ' '), /pull requests cannot be looked for since 20/, tool);
    assert.not.match(stdout, /secrets:/);
  }
  world.api.heal();
  await world.sync();
  assert.not.match((await world.runner('preview', 'list')).stdout, /cannot/);
  for (const args of [
    ['fetch', 'shop--pr-2'],
    ['edit', 'shop--pr-2', '--branch', 'main'],
    ['env', 'unset', 'shop--pr-2', 'DB'],
    ['preview', 'list', 'shop--pr-2'],
    ['preview', 'disable', 'shop--pr-2'],
  ]) {
    const [tool = '', ...rest] = args;
    const ended = await world.runner(tool, ...rest);
    assert.is(ended.status, 1, args.join(' '));
    assert.match(ended.stderr, /shop--pr-2 is a preview of shop: /);
  }
  assert.ok(existsSync(join(world.root, 'state/shop--pr-2.json')));
  await world.end();
});

test.run();
