/** `kill -9` of rekey, add and edit: at every call that changes a file, and 200 times at random. */
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { killedAfter, killedAtCall } from '@runner/testing/killing';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { headerOf, keyIds, rekey, rootWith, THREE, type Tokens, tokensIn } from './rekey-root.ts';

const NEW = 'glpat-n3wn3wn3wn3wn3wn3wn3w';
const ADD = ['--repo', 'acme/new', '--branch', 'main', '--token', '-', '--ckey'];
const EDIT = ['shop', '--branch', 'next', '--token', '-'];

function copyOf(root: string): string {
  const copy = join(temporaryFolder('tokens'), 'root');
  cpSync(root, copy, { recursive: true });
  return copy;
}

/** Each of these is what `add` or `edit` may leave: as before, or all of it. */
function allOrNothing(root: string, app: string, before: Tokens): void {
  const now = JSON.stringify(tokensIn(root));
  const good = [before, { ...before, [app]: NEW }].map((each) => JSON.stringify(sorted(each)));
  assert.ok(good.includes(now), now);
}

function sorted(tokens: Tokens): Tokens {
  return Object.fromEntries(
    Object.keys(tokens)
      .sort()
      .map((app) => [app, tokens[app] ?? null]),
  );
}

test('rekey that is killed at any call leaves tokens that open, and the next run finishes', async () => {
  const root = rootWith(THREE, ['blog']);
  const rings = new Set<number>();
  let at = 0;
  for (let killed = true; killed; ) {
    at += 1;
    const copy = copyOf(root);
    killed = await killedAtCall('runner-tokens', ['rekey'], at, { root: copy });
    assert.equal(tokensIn(copy), THREE, `call ${at}`);
    rings.add(keyIds(copy).length);
    const { status, stderr } = await rekey(copy);
    assert.is(status, 0, stderr);
    assert.equal(tokensIn(copy), THREE, `call ${at}, finished`);
    assert.is(keyIds(copy).length, 1);
    assert.equal(
      Object.keys(THREE).map((app) => headerOf(copy, app).alg),
      ['dir', 'A256GCMKW', 'dir'],
    );
  }
  assert.ok(at > 25, `${at} calls`);
  assert.equal([...rings], [1, 2]);
});

test('add that is killed at any call leaves the whole app or nothing', async () => {
  const seen = new Set<boolean>();
  // The first add of a root makes the master key as well.
  for (const empty of [true, false]) {
    const root = empty ? join(temporaryFolder('tokens'), 'none') : rootWith(THREE);
    const before = empty ? {} : THREE;
    let at = 0;
    for (let killed = true; killed; ) {
      at += 1;
      const copy = empty ? join(temporaryFolder('tokens'), 'root') : copyOf(root);
      killed = await killedAtCall('runner-add', ADD, at, { root: copy, stdin: NEW });
      allOrNothing(copy, 'new', before);
      const there = existsSync(join(copy, 'state/new.json'));
      seen.add(there);
      const again = await run('runner-add', ADD, { root: copy, stdin: NEW });
      assert.is(again.status, there ? 1 : 0, again.stderr);
      assert.equal(sorted(tokensIn(copy)), sorted({ ...before, new: NEW }));
    }
    assert.ok(at > 8, `${at} calls`);
  }
  assert.is(seen.size, 2);
});

test('edit that is killed at any call leaves the old token or the new one', async () => {
  const root = rootWith(THREE);
  let at = 0;
  for (let killed = true; killed; ) {
    at += 1;
    const copy = copyOf(root);
    killed = await killedAtCall('runner-edit', EDIT, at, { root: copy, stdin: NEW });
    allOrNothing(copy, 'shop', THREE);
  }
  assert.ok(at > 6, `${at} calls`);
});

/** Kills amid the work, at least, of those of one root. */
const BEGUN = 8;

/** One root is killed again and again without repair in between: what is left over must not add up. */
async function killedAtRandom(times: number, seed: Tokens): Promise<void> {
  const root = rootWith(seed, ['a1', 'a5']);
  let whole = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 3; time += 1) {
    whole = Math.min(whole, (await run('runner-tokens', ['rekey'], { root })).ms);
  }
  let killed = 0;
  let begun = 0;
  // Only what was killed while it ran counts, and some of it amid the work. How long a run takes
  // changes with what else the machine does.
  for (let time = 0; killed < times || begun < BEGUN; time += 1) {
    assert.ok(time < 10 * times, `${killed} killed, ${begun} of them amid the work`);
    const delay = whole * (0.2 + 0.8 * Math.random());
    const isKilled = await killedAfter('runner-tokens', ['rekey'], delay, { root });
    if (isKilled) killed += 1;
    assert.equal(tokensIn(root), seed, `kill ${time}`);
    const isAmid = keyIds(root).length > 1;
    if (isAmid) begun += 1;
    if (!isKilled) whole *= 0.9;
    else if (!isAmid) whole *= 1.03;
    // Every other time it is left as it is.
    if (time % 2 === 1) assert.is((await rekey(root)).status, 0);
  }
  assert.is((await rekey(root)).status, 0);
  assert.equal(tokensIn(root), seed);
  assert.is(keyIds(root).length, 1);
}

test('after 130 kills of rekey at random moments every token opens', async () => {
  const seed = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [`a${n}`, `token-${n % 5}-xxxxx`]),
  );
  await Promise.all([killedAtRandom(65, sorted(seed)), killedAtRandom(65, sorted(seed))]);
});

test('after 70 kills of add and edit at random moments every token opens', async () => {
  const root = rootWith(THREE);
  let expected = THREE;
  // How long a run takes changes with what else the machine does: some are to be killed, some not.
  let { ms } = await run('runner-edit', EDIT, { root: copyOf(root), stdin: NEW });
  const kill = async (tool: string, args: readonly string[], stdin: string) => {
    const delay = ms * (0.3 + 0.9 * Math.random());
    ms *= (await killedAfter(tool, args, delay, { root, stdin })) ? 1.1 : 0.8;
  };
  for (let time = 0; time < 35; time += 1) {
    const app = `new${time}`;
    const args = [...ADD, '--name', app];
    await kill('runner-add', args, NEW);
    allOrNothing(root, app, expected);
    expected = tokensIn(root);
    await kill('runner-edit', EDIT, `${NEW}${time}`);
    const { shop, ...rest } = tokensIn(root);
    const { shop: before, ...others } = expected;
    assert.equal(rest, others);
    assert.ok(shop === before || shop === `${NEW}${time}`);
    expected = tokensIn(root);
  }
  assert.ok(Object.keys(expected).length > 3);
});

test.run();
