/** A job with `on: one`: of the servers of a fleet one runs it, as the broker says. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobBook, JobEntry } from '@runner/common/apps/job-book';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from '../deploys/world.ts';
import { makeStage, type Stage } from './stage.ts';
import { must } from './world.ts';

const test = suite('jobs in a fleet');
const SERVERS = ['web1', 'web2', 'web3'];
const MINUTE = 60_000;
const WORDS = 'echo "token $RUNNER_JOB_TOKEN"; sleep "$LASTS"';

const bookOf = (root: string) => join(root, 'apps/shop/jobs.json');
const readBook = (root: string) => JSON.parse(readFileSync(bookOf(root), 'utf8')) as JobBook;
const entryOf = (root: string) => readBook(root).jobs.tick as JobEntry;

/** Sets the last look of a server back by `ms`. */
function since(root: string, ms: number): void {
  const settled = new Date(Date.now() - ms).toISOString();
  const tick = { ...entryOf(root), settled, next: settled };
  writeFileSync(bookOf(root), JSON.stringify({ of: readBook(root).of, jobs: { tick } }));
}

async function look({ roots }: Stage, ms: number): Promise<string[]> {
  for (const root of Object.values(roots)) since(root, ms);
  const each = Object.values(roots).map((root) => run('runner-jobs', ['run', '--due'], { root }));
  const ended = await Promise.all(each);
  assert.equal(
    ended.map(({ status }) => status),
    SERVERS.map(() => 0),
    ended.map(({ stderr }) => stderr).join(),
  );
  return Object.values(roots).map((root) => JSON.stringify(entryOf(root)));
}

/** Waits until no server has a run that goes on; how many ended well, of all. */
async function overAll({ roots }: Stage): Promise<number> {
  const all = () => Object.values(roots).map(entryOf);
  await until(() => all().every(({ run: going }) => !going), 'a run does not end');
  return all().flatMap(({ runs }) => runs.filter(({ outcome }) => outcome === 'ok')).length;
}

test('of three servers one runs a job, with a token that grows; without the broker it is missed, and said once', async () => {
  const world = await makeWorld();
  const stage = await makeStage(SERVERS, { world });
  const roots = Object.values(stage.roots);
  const ship = async (version: string, lasts: number) => {
    const job = `{ run: ${JSON.stringify(WORDS.replace('$LASTS', String(lasts)))}, every: 1m, on: one }`;
    const deploy = `start: { type: none }\njobs: { tick: ${job} }\n`;
    await world.push(version, { deploy });
    for (const root of roots) {
      const done = await run('runner-deploy', ['shop'], { root });
      assert.is(done.status, 0, done.stderr);
    }
  };
  try {
    await ship('v1', 0);
    await look(stage, MINUTE);
    assert.is(await overAll(stage), 1);
    const [winner = ''] = roots.filter((root) => entryOf(root).runs.length === 1);
    const others = roots.filter((root) => root !== winner);
    const name = Object.keys(stage.roots).find((server) => stage.roots[server] === winner) ?? '';
    for (const root of others) assert.is(entryOf(root).elsewhere?.server, name);
    const [other = ''] = others;
    const listed = await run('runner-jobs', ['shop'], { root: other });
    assert.match(listed.stdout, new RegExp(`\\nshop +tick +every 1m +on ${name} \\d{4}-`));
    // The same time is not claimed twice, and the next one has a larger token.
    await look(stage, 0);
    assert.is(await overAll(stage), 1);
    const tokens = async () => {
      const logs = await Promise.all(
        roots.map((root) => run('runner-jobs', ['log', 'shop', 'tick'], { root })),
      );
      return logs.flatMap(({ stdout }) => /token (\d+)/.exec(stdout)?.[1] ?? []).map(Number);
    };
    const [first = 0] = await tokens();
    assert.ok(first > 0);
    // A run that goes on elsewhere is not joined, by time or by hand.
    await ship('v2', 4);
    await until(() => new Date().getUTCSeconds() < 50, 'the minute does not end');
    const byHand = run('runner-jobs', ['run', 'shop', 'tick'], { root: other });
    await until(() => entryOf(other).run?.version === 'v2', 'the run does not begin');
    const refused = await run('runner-jobs', ['run', 'shop', 'tick'], { root: winner });
    assert.equal([refused.status, refused.stdout], [75, '']);
    assert.match(refused.stderr, /job tick of 'shop' runs already, on web\d \(locked\)\n$/);
    assert.is((await byHand).status, 0);
    assert.ok(Math.max(...(await tokens())) > first);
    // Also where a broker has lost its store.
    const largest = Math.max(...(await tokens()));
    await stage.broker.kill();
    rmSync(stage.broker.store, { recursive: true });
    await stage.startBroker();
    await must(stage.operator.fleet(['broker', 'check']));
    await must(run('runner-jobs', ['run', 'shop', 'tick'], { root: winner }));
    assert.ok(Math.max(...(await tokens())) > largest);
    // The broker is gone: the time waits, is missed, and one record on each server says why.
    await stage.broker.kill();
    const [root = ''] = roots;
    for (const ms of [10 * MINUTE, MINUTE, MINUTE]) {
      since(root, ms);
      await run('runner-jobs', ['run', '--due'], { root });
    }
    const log = readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8').split('\n');
    const missed = log.filter((line) => line.includes('"JobMissed"'));
    assert.is(missed.length, 1, missed.join('\n'));
    assert.match(missed[0] as string, /and the (?:server did not look then|broker was not asked)/);
  } finally {
    await stage.close();
    await world.close();
  }
});

test.run();
