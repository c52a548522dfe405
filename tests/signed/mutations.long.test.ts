/**
 * Histories with one thing wrong are refused, good ones are not. SIGNED_COUNT=n changes how many are wrong;
 * half as many are good.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import type { GitSource } from '@runner/deploy/git/source';
import { requireSigned } from '@runner/deploy/signed/require';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { randomOf } from '@runner/testing/random';
import { executable } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Case, goodCase, KEYS, LIST, MUTATIONS, NOW, Repo, TREE } from './histories.ts';

const COUNT = Number(process.env.SIGNED_COUNT ?? 180);
const SEED = Number(process.env.SIGNED_SEED ?? 29);
const REPO = 'acme/shop';
const HOST = '[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n';

interface Stage {
  git: GitServer;
  root: string;
}
const test = suite<Stage>('mutated histories');

test.before(async (context) => {
  context.git = await startGitServer({ token: 'unused' });
  await context.git.createRepo(REPO, { public: true });
  const root = join(temporaryFolder('root'), 'root');
  mkdirSync(root);
  const signers = join(root, 'commit_signers');
  writeFileSync(join(root, 'config.yml'), `commit_signers: ${signers}\n`, { mode: 0o600 });
  writeFileSync(signers, `${LIST}\n`, { mode: 0o644 });
  writeFileSync(`${signers}.revoked`, `${KEYS.revoked.line}\n`, { mode: 0o644 });
  context.root = root;
});
test.after(({ git }) => git.close());

/** Throws a Failure if it is refused. */
async function checked({ git, root }: Stage, found: Case, mode: 'head' | 'strict'): Promise<void> {
  const app = join(root, 'apps/shop');
  rmSync(app, { recursive: true, force: true });
  const mirror = new Repo(join(app, 'repo.git'));
  const { wanted, accepted, objects, lost } = found;
  const isFar = found.far === true || lost !== undefined;
  if (isFar) {
    const host = new Repo(git.path(REPO), HOST);
    host.write('tree', Buffer.alloc(0), TREE);
    for (const [id, [type, body]] of objects) if (id !== lost) host.write(type, body, id);
    writeFileSync(join(host.folder, 'refs/heads/main'), `${wanted.commit}\n`);
    const children = [...objects].filter(([, [, body]]) => body.includes(`parent ${lost}\n`));
    if (lost)
      writeFileSync(join(host.folder, 'shallow'), children.map(([id]) => `${id}\n`).join(''));
  }
  for (const [id, [type, body]] of objects)
    if (!isFar || id === wanted.commit) mirror.write(type, body, id);
  found.plant?.(mirror);
  const io = { env: process.env, program: executable('runner-deploy') } as unknown as Io;
  const source: GitSource = {
    ...{ io, app: 'shop', repo: REPO, branch: 'main', tags: found.tags, token: undefined },
    ...{ mint: undefined, gitUrl: git.url, gitUser: 'x', mirror: mirror.folder },
    compare: () => undefined,
    elsewhere: () => undefined,
    signal: new AbortController().signal,
  };
  const state = { app: 'shop', tags: found.tags, require_signed: mode, accepted } as AppState;
  await requireSigned({ paths: pathsOf(root), source, app: state, now: NOW }, wanted);
}

test('no history with one thing wrong is accepted', async (stage) => {
  const random = randomOf(SEED);
  const kinds = Object.entries(MUTATIONS);
  const tally = new Map<string, Map<string, number>>();
  const accepted: string[] = [];
  for (let at = 0; at < COUNT; at += 1) {
    const [kind, make] = kinds[at % kinds.length] as (typeof kinds)[number];
    let outcome = 'ACCEPTED';
    try {
      await checked(stage, make(random), 'strict');
      accepted.push(`${kind} (${at})`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      outcome = error.code;
    }
    const codes = tally.get(kind) ?? new Map<string, number>();
    tally.set(kind, codes.set(outcome, (codes.get(outcome) ?? 0) + 1));
  }
  for (const [kind, codes] of tally) {
    const count = [...codes.values()].reduce((sum, each) => sum + each, 0);
    console.log(`(${count} refused: ${kind}: ${[...codes.keys()].join(', ')})`);
  }
  console.log(`of ${COUNT} mutated histories (${accepted.length} accepted)`);
  assert.equal(accepted, []);
  const known = ['commit_not_signed', 'lineage_broken', 'git_failed'];
  const codes = [...tally.values()].flatMap((each) => [...each.keys()]);
  assert.ok(
    codes.every((code) => known.includes(code)),
    codes.join(),
  );
});

test('no good history is refused', async (stage) => {
  const random = randomOf(SEED + 1);
  const refused: string[] = [];
  const count = Math.ceil(COUNT / 2);
  for (let at = 0; at < count; at += 1) {
    try {
      await checked(stage, goodCase(random), at % 3 === 0 ? 'head' : 'strict');
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      refused.push(`${at}: ${error.message}`);
    }
  }
  console.log(`(${count - refused.length} good histories accepted, ${refused.length} refused)`);
  assert.equal(refused, []);
});

test.run();
