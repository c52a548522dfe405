import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { makeWorld, REPO, type World, worldSuite } from './world.ts';

const test = worldSuite('deploy --ref');

const PLAIN = { deploy: 'keep: 9\n' };

function active(world: World): string {
  const current = join(world.root, 'apps/shop/instances/default/current/VERSION');
  return existsSync(current) ? readFileSync(current, 'utf8').trim() : '';
}

const fetch = (world: World): Promise<Ended> =>
  run('runner-fetch', ['--deploy'], { root: world.root });

test('a tag, another branch, and a commit by its full or short id are deployed by their names', async ({
  world,
}) => {
  const first = await world.push('v1', PLAIN);
  const second = await world.push('v2', PLAIN);
  await world.git.commit(REPO, { VERSION: 'next\n' }, 'next', { branch: 'feature/next' });
  for (const [ref, shown, version] of [
    ['v1', 'v1', 'v1'],
    ['feature/next', 'next', undefined],
    [second, 'v2', 'v2'],
    [first.slice(0, 8), 'v1', 'v1'],
    ['refs/heads/main', 'v2', 'v2'],
    ['refs/tags/v1', 'v1', 'v1'],
  ] as const) {
    const done = await world.deploy(['--ref', ref]);
    assert.is(done.status, 0, `${ref}: ${done.stderr}`);
    assert.is(active(world), shown, ref);
    assert.match(done.stderr, new RegExp(`ok {5}fetch ${ref} of acme/shop`));
    if (version) assert.is(world.events().at(-1)?.version, version, ref);
  }
  assert.not.ok(existsSync(join(world.root, 'apps/shop/repo.git/history.git')));
});

test('the choice of an operator stays: the timer waits for the next push', async ({ world }) => {
  await world.push('v1', PLAIN);
  const head = await world.push('v2', PLAIN);
  await world.deploy(['--ref', 'v1']);
  const { held } = world.state() as { held: { commit: string; reason: string } };
  assert.equal([held.commit, held.reason], [head, 'v1 was deployed by hand']);
  const left = await fetch(world);
  assert.equal([left.status, left.stdout], [0, 'shop: on hold: v1 was deployed by hand\n']);
  await world.push('v3', PLAIN);
  assert.is((await fetch(world)).stdout, 'shop: deployed v3\n');
  assert.is(world.state().held, null);
  // The head by its name is nothing to be held.
  await world.deploy(['--ref', 'main']);
  assert.is(world.state().held, null);
});

test('a branch whose name extends the old one can replace it', async ({ world }) => {
  await world.launch('v1', PLAIN);
  await world.git.commit(REPO, { VERSION: 'next\n' }, 'next', { branch: 'release' });
  await world.git.deleteBranch(REPO, 'main');
  for (const branch of ['release', 'main/next', 'main']) {
    if (branch !== 'release') {
      await world.git.commit(REPO, { VERSION: `${branch}\n` }, branch, { branch });
    }
    await run('runner-edit', ['shop', '--branch', branch], { root: world.root });
    const done = await world.deploy();
    assert.is(done.status, 0, done.stderr);
    if (branch === 'main/next') await world.git.deleteBranch(REPO, branch);
  }
  assert.is(active(world), 'main');
});

for (const [ref, code, sentence] of [
  ['nope', 'ref_not_found', "the repository acme/shop has no branch, tag or commit 'nope'"],
  ['deadbeef', 'ref_not_found', "the repository acme/shop has no branch, tag or commit 'deadbeef'"],
  [
    '0123456789012345678901234567890123456789',
    'ref_not_found',
    "the repository acme/shop has no branch, tag or commit '0123456789012345678901234567890123456789'",
  ],
  [
    '--upload-pack=touch /tmp/pwned',
    'name_invalid',
    "'--upload-pack=touch /tmp/pwned' is not a valid branch, tag or commit name",
  ],
  ['-x', 'name_invalid', "'-x' is not a valid branch, tag or commit name"],
  ['a..b', 'name_invalid', "'a..b' is not a valid branch, tag or commit name"],
  [
    'main:refs/heads/x',
    'name_invalid',
    "'main:refs/heads/x' is not a valid branch, tag or commit name",
  ],
] as const) {
  test(`--ref=${ref} is refused in one sentence, and nothing is begun`, async ({ world }) => {
    await world.push('v1', PLAIN);
    const done = await world.deploy([`--ref=${ref}`, '--json']);
    assert.is(done.status, 1);
    assert.match(done.stderr, new RegExp(` \\(${code}\\)\\n$`));
    const last = JSON.parse(done.stdout.trimEnd().split('\n').at(-1) ?? '');
    assert.equal([last.error, last.message], [code, sentence]);
    assert.equal(world.kinds(), []);
    assert.is(world.state().deploying, null);
  });
}

test('the beginning of several commits is refused as such', async ({ world }) => {
  const commits = new Map<string, string>();
  // The ids are always the same: so is the first pair that begins alike.
  for (let number = 0; number < 900; number += 1) {
    const commit = await world.git.commit(REPO, { n: `${number}\n` }, `c${number}`);
    const start = commit.slice(0, 4);
    if (commits.has(start)) {
      const done = await world.deploy(['--ref', start]);
      assert.is(done.status, 1);
      assert.match(
        done.stderr,
        new RegExp(
          `'${start}' matches 2 commits of acme/shop: use more characters \\(ref_ambiguous\\)\\n$`,
        ),
      );
      return;
    }
    commits.set(start, commit);
  }
  assert.unreachable('no two commits begin alike');
});

test('a host that gives no commit by its id is asked for the history of its branches', async ({
  world,
}) => {
  await world.close();
  const old = await makeWorld({ old: true });
  try {
    const first = await old.push('v1', PLAIN);
    await old.git.commit(REPO, { VERSION: 'between\n' }, 'between');
    const second = (await old.git.head(REPO)) ?? '';
    await old.launch('v3', PLAIN);
    for (const [ref, shown] of [
      [second, 'between'],
      [first.slice(0, 10), 'v1'],
    ] as const) {
      const done = await old.deploy(['--ref', ref]);
      assert.is(done.status, 0, done.stderr);
      assert.is(active(old), shown);
    }
    const none = await old.deploy(['--ref', '0123456789012345678901234567890123456789']);
    assert.match(none.stderr, /\(ref_not_found\)\n$/);
  } finally {
    await old.close();
  }
});

test('after a force push a commit that is on no branch any more is still deployed by its id', async ({
  world,
}) => {
  const lost = await world.git.commit(
    REPO,
    { VERSION: 'lost\n', '.deploy.yml': 'keep: 9\n' },
    'lost',
  );
  await world.git.commit(REPO, { VERSION: 'new\n' }, 'new', { force: true });
  assert.is((await world.deploy()).status, 0);
  assert.is(active(world), 'new');
  const done = await world.deploy(['--ref', lost]);
  assert.is(done.status, 0, done.stderr);
  assert.is(active(world), 'lost');
});

test.run();
