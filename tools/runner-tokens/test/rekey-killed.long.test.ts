/** `kill -9` of rekey, add and edit: at every call that changes a file; of rekey also at random. */
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { testStorm } from '@runner/testing/kill-storm';
import { isKilled, killAtEachCall } from '@runner/testing/killing';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { headerOf, keyIds, rekey, rootWith, THREE, type Tokens, tokensIn } from './rekey-root.ts';

const NEW = 'glpat-n3wn3wn3wn3wn3wn3wn3w';
const REKEY = { tool: 'runner-tokens', args: ['rekey'] };
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
  const calls = await killAtEachCall(async (call) => {
    const copy = copyOf(root);
    const killed = await isKilled(REKEY, { call }, copy);
    assert.equal(tokensIn(copy), THREE, `call ${call}`);
    rings.add(keyIds(copy).length);
    const { status, stderr } = await rekey(copy);
    assert.is(status, 0, stderr);
    assert.equal(tokensIn(copy), THREE, `call ${call}, finished`);
    assert.is(keyIds(copy).length, 1);
    assert.equal(
      Object.keys(THREE).map((app) => headerOf(copy, app).alg),
      ['dir', 'A256GCMKW', 'dir'],
    );
    return killed;
  });
  assert.ok(calls > 25, `${calls} calls`);
  assert.equal([...rings], [1, 2]);
});

test('add that is killed at any call leaves the whole app or nothing', async () => {
  const seen = new Set<boolean>();
  // The first add of a root makes the master key as well.
  for (const empty of [true, false]) {
    const root = empty ? join(temporaryFolder('tokens'), 'none') : rootWith(THREE);
    const before = empty ? {} : THREE;
    const calls = await killAtEachCall(async (call) => {
      const copy = empty ? join(temporaryFolder('tokens'), 'root') : copyOf(root);
      const add = { tool: 'runner-add', args: ADD, stdin: NEW };
      const killed = await isKilled(add, { call }, copy);
      allOrNothing(copy, 'new', before);
      const there = existsSync(join(copy, 'state/new.json'));
      seen.add(there);
      const again = await run('runner-add', ADD, { root: copy, stdin: NEW });
      assert.is(again.status, there ? 1 : 0, again.stderr);
      assert.equal(sorted(tokensIn(copy)), sorted({ ...before, new: NEW }));
      return killed;
    });
    assert.ok(calls > 8, `${calls} calls`);
  }
  assert.is(seen.size, 2);
});

test('edit that is killed at any call leaves the old token or the new one', async () => {
  const root = rootWith(THREE);
  const calls = await killAtEachCall(async (call) => {
    const copy = copyOf(root);
    const killed = await isKilled({ tool: 'runner-edit', args: EDIT, stdin: NEW }, { call }, copy);
    allOrNothing(copy, 'shop', THREE);
    return killed;
  });
  assert.ok(calls > 6, `${calls} calls`);
});

/** Kills amid the work, at least, of those of one root. */
const BEGUN = 8;

const SEED = sorted(
  Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`a${n}`, `token-${n % 5}-xxxxx`])),
);

// One root is killed again and again, every other time without repair: what is left over must not add up.
testStorm(test, 'rekey: every token opens', 130, async () => {
  const root = rootWith(SEED, ['a1', 'a5']);
  let begun = 0;
  return {
    root,
    storm: {
      next: () => REKEY,
      async check(_, time) {
        assert.equal(tokensIn(root), SEED, `run ${time}`);
        if (keyIds(root).length > 1) begun += 1;
        if (time % 2 === 1) assert.is((await rekey(root)).status, 0);
      },
    },
    async close() {
      assert.is((await rekey(root)).status, 0);
      assert.equal(tokensIn(root), SEED);
      assert.is(keyIds(root).length, 1);
      assert.ok(begun >= BEGUN, `${begun} kills amid the work`);
    },
  };
});

test.run();
