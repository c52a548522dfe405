/**
 * Random lives of pull requests on real executables: pushed, forced, closed while they are built, reopened,
 * relabelled, with a host that is down at times and kills -9 at any moment. After a quiet fetch nothing is
 * there that should not be.
 */
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { IS_WHOLE } from '@runner/testing/extent';
import { runKilled } from '@runner/testing/killing';
import { randomOf } from '@runner/testing/random';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePreviewWorld, type PreviewWorld } from './world.ts';

const COUNT = Number(process.env.PREVIEW_COUNT ?? (IS_WHOLE ? 40 : 8));
const SEED = Number(process.env.PREVIEW_SEED ?? 1);
const AT_ONCE = 6;
const DATABASE =
  'preview: { database: { create: \'touch "$RUNNER_SHARED/db"\', drop: \'rm -f "$RUNNER_SHARED/db"\' } }\n';

type Pulls = PreviewWorld['api']['pulls'];

/** What should be, and what is. */
async function expectInLine(world: PreviewWorld, words: string): Promise<void> {
  const { pulls } = world.api;
  const states = readdirSync(join(world.root, 'state')).filter((name) =>
    /^shop--pr-\d+\.json$/.test(name),
  );
  const open = [...pulls.pulls.values()].filter(({ isOpen, isFork }) => isOpen && !isFork);
  const alive: string[] = [];
  for (const file of states) {
    const app = file.slice(0, -5);
    const state = world.state(app) as unknown as {
      preview: { number: number; commit: string; removed_at?: string; outcome?: string };
      deploying: unknown;
    };
    const { number, commit, removed_at: removed, outcome } = state.preview;
    const database = join(world.root, 'apps', app, 'instances/default/shared/db');
    if (removed !== undefined) {
      assert.not(existsSync(database), `${words}: ${app} has a database`);
      continue;
    }
    alive.push(app);
    assert.is(commit, pulls.pulls.get(number)?.commit, `${words}: ${app} is at another commit`);
    assert.ok(outcome, `${words}: ${app} was left half way`);
    assert.is(state.deploying, null, words);
  }
  assert.equal(alive.sort(), open.map(({ number }) => `shop--pr-${number}`).sort(), words);
  const strangers = world.processes().filter((line) => !alive.includes(line.split(' ')[0] ?? ''));
  assert.equal(strangers, [], `${words}: processes`);
  expectShown(pulls, words);
}

/** One comment each, and no deployment of what is closed. */
function expectShown(pulls: Pulls, words: string): void {
  const numbers = pulls.comments.map(({ number }) => number);
  assert.equal(numbers, [...new Set(numbers)], `${words}: comments`);
  for (const { number, text } of pulls.comments)
    if (!pulls.pulls.get(number)?.isOpen) assert.match(text, /was removed/, words);
  for (const { environment, state, ref } of pulls.deployments) {
    const pull = pulls.pulls.get(Number(environment.split('-').at(-1)));
    if (!pull?.isOpen || ref !== pull.commit)
      assert.is(state, 'inactive', `${words}: a deployment of ${environment}`);
  }
}

test(`${COUNT} random lives leave no process, database, comment or deployment behind, nor a folder after two days`, async () => {
  const world = await makePreviewWorld('github', `--max ${AT_ONCE}`);
  const { api, root } = world;
  const random = randomOf(SEED);
  const pick = (count: number) => Math.floor(random() * count);
  const counts = { lives: 0, kills: 0, outages: 0, syncs: 0, quiet: 0 };
  const content = () => {
    const kind = pick(6);
    if (kind === 0) return { more: DATABASE };
    if (kind === 1) return { more: 'build: exit 3\n' };
    return {};
  };
  const plain = async (number: number, page: string) => {
    // Nothing is started: many of these cost little.
    const deploy = `${DATABASE}hooks: { pre_switch: 'true' }\n`;
    const branch = `topic-${number}`;
    const sha = await world.commit(branch, page, deploy, true);
    world.git('update-ref', `refs/pull/${number}/head`, sha);
    return sha;
  };
  const isPlain = (number: number) => number % 4 !== 0;
  const born = async () => {
    counts.lives += 1;
    const number = counts.lives;
    if (pick(8) === 0) await world.open(number, { isFork: true });
    else if (isPlain(number)) {
      const commit = await plain(number, `v${number}`);
      api.pulls.open({ number, branch: `topic-${number}`, commit });
    } else await world.open(number, content());
  };
  const change = async (number: number) => {
    const what = pick(6);
    const pull = api.pulls.pulls.get(number);
    if (!pull) return;
    if (what < 2) api.pulls.set(number, !pull.isOpen);
    else if (what < 5 && pull.isOpen && !pull.isFork)
      if (isPlain(number))
        api.pulls.push(number, await plain(number, `${pick(1e9)}`), pick(2) === 0);
      else await world.push(number, `${pick(1e9)}`, { isForced: pick(2) === 0, ...content() });
    else api.pulls.label(number, 'preview', 'mallory', pick(2) === 0);
  };
  const sync = async (isQuiet = false) => {
    counts.syncs += 1;
    const command = { tool: 'runner-preview', args: ['sync', 'shop'] };
    if (isQuiet || pick(3) === 0) return world.sync();
    const fault = (['drop', 'html', 'cut', { status: 500 }] as const)[pick(12)];
    if (fault) {
      counts.outages += 1;
      const route = ['*', 'GET pulls', 'POST comments', 'POST deployments'][pick(4)];
      api.fail(fault, 1 + pick(6), route);
    }
    const how = pick(2) === 0 ? { call: 1 + pick(60) } : { ms: 300 + pick(4_000) };
    const ended = await runKilled(command, how, root);
    if (ended.signal !== null) counts.kills += 1;
    api.heal();
    return ended;
  };
  const settle = async (words: string) => {
    // What a killed one has begun may hold a lock for a moment; one quiet fetch is what counts.
    const quiet = await sync(true);
    counts.quiet += 1;
    // Status 1: a build that fails has just failed.
    const isFine = quiet.status === 0 || /^shop: shop--\S+ failed; see: /m.test(quiet.stdout);
    if (!isFine) assert.unreachable(`${words}: ${quiet.stdout}${quiet.stderr}`);
    await expectInLine(world, words);
  };
  while (counts.lives < COUNT) {
    const open = [...api.pulls.pulls.values()].filter(({ isOpen }) => isOpen);
    for (let free = AT_ONCE - open.length; free > 0 && counts.lives < COUNT; free -= 1)
      await born();
    for (const { number } of api.pulls.pulls.values()) if (pick(4) === 0) await change(number);
    const all = [...api.pulls.pulls.values()].filter(({ isOpen }) => isOpen);
    for (const { number } of all.slice(AT_ONCE)) api.pulls.set(number, false);
    await sync();
    if (pick(3) === 0) await settle(`after ${counts.lives} lives`);
  }
  await settle('at the end');
  for (const { number } of api.pulls.pulls.values()) api.pulls.set(number, false);
  await settle('once all are closed');
  assert.equal(world.processes(), []);
  for (const file of readdirSync(join(root, 'state')).filter((name) =>
    /^shop--.*json$/.test(name),
  )) {
    const path = join(root, 'state', file);
    const old = new Date(Date.now() - 49 * 3_600_000).toISOString();
    const text = readFileSync(path, 'utf8').replace(
      /"removed_at": "[^"]*"/,
      `"removed_at": "${old}"`,
    );
    writeFileSync(path, text);
  }
  const inFolders = () =>
    ['apps', 'state', 'secrets', 'view']
      .map((folder) => join(root, folder))
      .flatMap((folder) =>
        existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [],
      );
  // What a killed writer left is as old, too.
  const longAgo = new Date(Date.now() - 7_200_000);
  for (const path of inFolders()) if (path.endsWith('.tmp')) utimesSync(path, longAgo, longAgo);
  await sync(true);
  const left = inFolders().map((path) => basename(path));
  assert.equal(
    left.filter((name) => name.includes('--')),
    [],
  );
  console.log(
    `(${counts.lives} lives, ${counts.syncs} syncs, ${counts.kills} kills, ${counts.outages} outages, ${counts.quiet} quiet fetches)`,
  );
  await world.end();
});

test.run();
