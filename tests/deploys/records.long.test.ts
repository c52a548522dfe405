/** What the audit log records of a deploy, instance by instance, and what the chats get of it. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { startDiscord } from '@runner/testing/discord';
import { failingAt, killedAfter, recorded, SUCCESS_OPENED } from '@runner/testing/killing';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { deployFile, type World, worldSuite } from './world.ts';

const test = worldSuite('records');

const TWO =
  'instances: { blue: { domain: b.example.org }, green: { domain: g.example.org } }\nnotify: {}\n';
/** Healthy in `blue` only, as long as the file `bad` is in the release. */
const HALF =
  "start: { type: none }\nhealth: { cmd: 'test $RUNNER_INSTANCE = blue || test ! -e bad', within: 200ms, interval: 50ms }\n";

type Event = Record<string, unknown>;

function shown(events: readonly Event[], ...fields: readonly string[]): string[] {
  return events.map((event) =>
    ['event_type', 'instance', ...fields].map((field) => String(event[field])).join(' '),
  );
}

async function verify({ root }: World): Promise<string> {
  const { stdout, stderr } = await run('runner-audit', ['verify'], { root });
  return stdout + stderr;
}

/** The chat's messages, with what a template makes of them. */
async function chatOf(world: World) {
  const discord = await startDiscord();
  const each = '{ discord: "${INSTANCE} at ${DOMAIN}" }';
  const templates = `{ started: ${each}, success: ${each}, failure: ${each}, rollback: ${each} }`;
  appendFileSync(
    join(world.root, 'config.yml'),
    `notify: { discord_webhook: "${discord.webhook}", templates: ${templates} }\n`,
  );
  return discord;
}

test('each instance has its own records, and each event is one message that names them all', async ({
  world,
}) => {
  const discord = await chatOf(world);
  await world.launch('v1', { deploy: `${TWO}${HALF}` });
  await world.push('v2', { deploy: `${TWO}${HALF}`, files: { bad: '' } });
  assert.is((await world.deploy()).status, 1);
  assert.equal(shown(world.events(), 'domain', 'version'), [
    'DeployStarted blue b.example.org v1',
    'DeployStarted green g.example.org v1',
    'DeploySuccess blue b.example.org v1',
    'DeploySuccess green g.example.org v1',
    'DeployStarted blue b.example.org v2',
    'DeployStarted green g.example.org v2',
    'DeployFailure blue b.example.org v2',
    'DeployFailure green g.example.org v2',
    'RollbackSuccess green g.example.org v1',
    'RollbackSuccess blue b.example.org v1',
  ]);
  const all = world.events().filter(({ event_type: kind }) => kind !== 'RollbackSuccess');
  assert.equal(new Set(all.map(({ instances }) => String(instances))), new Set(['blue,green']));
  const failures = all.filter(({ event_type: kind }) => kind === 'DeployFailure');
  assert.equal(shown(failures, 'failed_instance', 'stage'), [
    'DeployFailure blue green health',
    'DeployFailure green green health',
  ]);
  const texts = discord.messages.map(({ content, embeds }) =>
    JSON.stringify([content, embeds]).replaceAll('\\', ''),
  );
  const both = 'blue,green at b.example.org,g.example.org';
  const back = 'green,blue at g.example.org,b.example.org';
  const wanted = [both, both, both, 'green at g.', back];
  assert.is(texts.length, wanted.length, texts.join('\n'));
  for (const [index, text] of wanted.entries()) assert.match(texts[index] as string, text);
  assert.match(await verify(world), /2 deploys/);
  await discord.close();
});

test('a record names the user, the commit, its author and the duration of each stage', async ({
  world,
}) => {
  const deploy = 'build: sleep 0.3\nstart: { type: none }\n';
  await world.push('v1', { deploy });
  const user = userInfo().username;
  await world.deploy();
  await world.push('v2', { deploy });
  await world.deploy([], { SUDO_USER: 'ada' });
  await world.push('v3', { deploy: 'build: exit 3\n' });
  const timer = { INVOCATION_ID: '0123456789abcdef0123456789abcdef' };
  await run('runner-fetch', ['--deploy'], { root: world.root, env: timer });
  await run('runner-rollback', ['shop', '--to', 'v1'], { root: world.root });
  assert.equal(shown(world.events(), 'user', 'subject', 'trigger'), [
    `DeployStarted default ${user} v1 manual`,
    `DeploySuccess default ${user} v1 manual`,
    'DeployStarted default ada v2 manual',
    'DeploySuccess default ada v2 manual',
    'DeployStarted default timer v3 fetch',
    'DeployFailure default timer v3 fetch',
    `RollbackSuccess default ${user} v1 manual`,
  ]);
  for (const { author, event_type: kind } of world.events().slice(0, 6)) {
    assert.is(typeof author, 'string', String(kind));
  }
  const steps = world.events()[1]?.steps as { stage: string; ms: number }[];
  assert.equal(
    steps.map(({ stage }) => stage),
    ['fetch', 'export', 'build', 'switch'],
  );
  assert.ok((steps[2]?.ms ?? 0) >= 300, JSON.stringify(steps));
  const failed = world.events()[5]?.steps as { stage: string }[];
  assert.equal(
    failed.map(({ stage }) => stage),
    ['fetch', 'export', 'build'],
  );
});

test('after a kill each instance gets the record that is missing, and keeps its domain', async ({
  world,
}) => {
  const discord = await chatOf(world);
  await world.push('v1', { deploy: `${TWO}start: { type: none }\n` });
  await world.deploy([], killedAfter(recorded('DeployStarted')));
  await run('runner-fetch', ['--deploy', '--quiet'], { root: world.root });
  assert.equal(shown(world.events().slice(0, 4), 'domain', 'trigger'), [
    'DeployStarted blue b.example.org manual',
    'DeployStarted green g.example.org manual',
    'DeployFailure blue b.example.org recovery',
    'DeployFailure green g.example.org recovery',
  ]);
  assert.match(await verify(world), /2 deploys/);
  assert.is(discord.messages.length, 4);
  await discord.close();
});

test('events of all instances that cannot be appended are kept and appended later', async ({
  world,
}) => {
  await world.push('v1', { deploy: TWO });
  const opened = `name === 'openSync' && String(args[0]).endsWith('/deploy-events.jsonl')`;
  const after = `text(args[0]).includes('DeployStarted')`;
  const done = await world.deploy([], failingAt(`${opened} && ${after}`));
  assert.is(done.status, 0, done.stderr);
  assert.is(world.events().length, 2);
  await run('runner-audit', ['list'], { root: world.root });
  assert.equal(shown(world.events().slice(2), 'late').sort(), [
    'DeploySuccess blue true',
    'DeploySuccess green true',
  ]);
  assert.match(await verify(world), /1 deploy/);
});

test('verify finds the missing record of one instance, and accepts the joined records of 0.1.0', async ({
  world,
}) => {
  await world.push('v1', { deploy: `${TWO}start: { type: none }\n` });
  await world.deploy();
  const log = join(world.root, 'logs/deploy-events.jsonl');
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  const write = (kept: readonly (string | undefined)[]) =>
    writeFileSync(log, `${kept.join('\n')}\n`);
  write(lines.slice(0, 3));
  assert.match(await verify(world), 'has no end');
  write(lines.slice(1));
  assert.match(await verify(world), 'of blue ended but has no DeployStarted');
  write([...lines, lines[3]]);
  assert.match(await verify(world), 'has a second end');
  const old = [lines[0], lines[2]].map((line) => {
    const { instances: _, ...record } = JSON.parse(line ?? '') as Event;
    return JSON.stringify({ ...record, instance: 'blue,green' });
  });
  write(old);
  assert.match(await verify(world), /1 deploy/);
  write([...old, old[1]]);
  assert.match(await verify(world), 'has a second end');
});

test('a kept log has at most 20 MB: its head, its tail, and what was left out', async ({
  world,
}) => {
  await world.launch('v1', { deploy: 'build: "seq 1 3200000; echo the last line"\n' });
  const id = String(world.events()[0]?.deploy_id);
  const text = readFileSync(join(world.root, 'logs/deploys/shop', `${id}.log`), 'utf8');
  assert.ok(text.length <= 20_000_000 && text.length > 18_000_000, String(text.length));
  assert.ok(text.startsWith('$ seq 1 3200000; echo the last line\n1\n2\n'));
  assert.match(text.slice(9_000_000, 11_000_000), /\n\d+\n… \d+ bytes left out …\n\d+\n/);
  assert.ok(text.endsWith('\n3200000\nthe last line\n'));
});

test('a deploy that 0.1.0 began and did not end is recovered, and the log stays sound', async ({
  world,
}) => {
  await world.push('v1', { deploy: `${TWO}start: { type: none }\n` });
  await world.deploy([], killedAfter(recorded('DeployStarted')));
  const [log, state] = ['logs/deploy-events.jsonl', 'state/shop.json'].map((path) =>
    join(world.root, path),
  ) as [string, string];
  const started = JSON.parse(readFileSync(log, 'utf8').split('\n')[0] ?? '') as Event;
  for (const field of ['instances', 'user', 'subject', 'author', 'domain']) delete started[field];
  writeFileSync(log, `${JSON.stringify({ ...started, instance: 'blue,green' })}\n`);
  const app = world.state() as { deploying: Event };
  const { user, start_time, ...deploying } = app.deploying;
  assert.equal([typeof user, typeof start_time], ['string', 'string']);
  writeFileSync(state, JSON.stringify({ ...app, deploying }));
  const done = await run('runner-fetch', ['--deploy', '--quiet'], { root: world.root });
  assert.is(done.status, 0, done.stderr);
  assert.equal(shown(world.events().slice(0, 3), 'version'), [
    'DeployStarted blue,green v1',
    'DeployFailure blue v1',
    'DeployFailure green v1',
  ]);
  assert.match(await verify(world), /2 deploys/);
});

test('what fails after the success of a deploy is reported, and is no failure of it', async ({
  world,
}) => {
  const { port } = world;
  await world.push('v1', { deploy: 'instances: { blue: {}, green: {} }\n' });
  await world.deploy();
  await world.push('v2', { deploy: deployFile(port).replace('default:', 'blue:') });
  const broken = failingAt(`${SUCCESS_OPENED} && ++count === 2`);
  const done = await world.deploy([], broken);
  assert.is(done.status, 0, done.stderr);
  assert.match(
    done.stderr,
    /runner deploy: the deploy succeeded, but cannot write .*EIO/,
    done.stderr,
  );
  assert.not.ok(world.kinds().includes('DeployFailure'));
  const fetched = await run('runner-fetch', ['--deploy'], { root: world.root });
  assert.is(fetched.stdout, 'shop: up to date\n');
});

test.run();
