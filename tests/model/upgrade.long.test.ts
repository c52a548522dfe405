/** From 0.1.0 to this version, and back: no event, message, hold, block or running app is lost. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hasOldVersion } from './old-version.ts';
import {
  BAD,
  type Context,
  checkDelivered,
  checkLog,
  commitBlog,
  fetched,
  GOOD,
  killDeploy,
  linesOf,
  listed,
  makeOldServer,
  PAIR,
  queue,
  recordMore,
  running,
  runOn,
  use,
} from './upgrade.ts';

const test = suite<Context>('upgrade from 0.1.0');

test.after(async ({ world, chat }) => {
  use();
  await world?.close();
  await chat?.close();
});

const skipped = hasOldVersion() ? undefined : 'the history does not hold version 0.1.0';
if (skipped) process.stdout.write(`skipped: ${skipped}\n`);
const testOrSkip = skipped ? test.skip : test;

testOrSkip('this version goes on where 0.1.0 was', async (context) => {
  Object.assign(context, await makeOldServer());
  const { world, old } = context;
  const [before] = running(world);
  await checkLog(context);
  use();

  assert.equal(await listed(world, 'shop'), ['held', 'v2']);
  assert.equal(await listed(world, 'blog'), ['blocked']);
  assert.is(await fetched(world, 'shop'), 'shop: on hold: v3 was rolled back');
  assert.is(await fetched(world, 'blog'), 'blog: deploy blocked, same commit failed 3 times');
  assert.equal(running(world), [before]);
  await checkDelivered(context, 'queued-by-old');

  const back = await runOn(world, 'runner-rollback', 'shop');
  assert.match(back.stdout, /^Rolled back shop from v2 to v1 /, back.stderr);
  assert.match(await fetched(world, 'shop'), /^shop: on hold: /);
  assert.equal(
    running(world).map(({ version }) => version),
    ['v1'],
  );

  // Killed by the upgrade.
  await world.push('v4', { deploy: GOOD(world) });
  use(old);
  await killDeploy(world);
  use();
  assert.is(await fetched(world, 'shop'), 'shop: deployed v4');
  assert.is(await world.page(), 'v4');
  assert.equal(
    running(world).map(({ version }) => version),
    ['v4'],
  );
  await recordMore(context);
  await checkLog(context);
  assert.ok(linesOf(world).some((line) => line.includes('dead0001')));
});

testOrSkip('0.1.0 goes on where this version was', async (context) => {
  const { world, old } = context;
  await world.push('v5', { deploy: GOOD(world) });
  assert.is(await fetched(world, 'shop'), 'shop: deployed v5');
  for (const from of ['v5', 'v4']) {
    const back = await runOn(world, 'runner-rollback', 'shop');
    assert.match(back.stdout, new RegExp(`^Rolled back shop from ${from} `), back.stderr);
  }
  await commitBlog(world, 'b2', BAD);
  assert.match(await fetched(world, 'blog'), /failed at build/);
  await queue(context, 'queued-by-new');
  await checkLog(context);
  const [before] = running(world);
  const text = readFileSync(join(world.root, 'state/shop.json'), 'utf8');
  assert.is((JSON.parse(text) as { version: number }).version, 1);
  use(old);

  assert.equal(await listed(world, 'shop'), ['held', before?.version]);
  assert.match(await fetched(world, 'shop'), /^shop: held/);
  assert.equal(running(world), [before]);
  await checkDelivered(context, 'queued-by-new');
  // Two more failures block it: the first one counts.
  for (const _ of [1, 2]) assert.match(await fetched(world, 'blog'), /failed at build/);
  assert.is(await fetched(world, 'blog'), 'blog: deploy blocked, same commit failed 3 times');

  assert.is(await fetched(world, 'pair'), 'pair: up to date');
  await world.git.commit('acme/pair', { '.deploy.yml': PAIR, two: '' }, 'p2', { tag: 'p2' });
  assert.is(await fetched(world, 'pair'), 'pair: deployed p2');

  await world.push('v6', { deploy: GOOD(world) });
  use();
  await killDeploy(world);
  use(old);
  assert.is(await fetched(world, 'shop'), 'shop: deployed v6');
  assert.equal(
    running(world).map(({ version }) => version),
    ['v6'],
  );
  await checkLog(context);
});

testOrSkip('and this version once more', async (context) => {
  const { world } = context;
  use();
  assert.equal(await listed(world, 'shop'), ['ok', 'v6']);
  assert.equal(await listed(world, 'blog'), ['blocked']);
  const back = await runOn(world, 'runner-rollback', 'shop');
  assert.match(back.stdout, /^Rolled back shop from v6 /, back.stderr);
  assert.match(await fetched(world, 'shop'), /^shop: on hold: v6 /);
  await checkLog(context);
});

test.run();
