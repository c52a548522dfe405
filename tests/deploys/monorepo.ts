/** A repository of many apps, each of which follows its own folder and the shared one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Files } from '@runner/testing/git-import';
import { startGitServer } from '@runner/testing/git-server';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

const REPO = 'acme/shops';
/** One push in this many changes what every app uses. */
const SHARED_EVERY = 25;

/** Deploys that were right and wrong. */
export interface Tally {
  needed: number;
  done: number;
  needless: number;
}

/** Numbers that look random, the same in every run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Pushes to random folders, some of them back to what was there or with a new history; polls at random. */
export async function pushAtRandom(apps: number, pushes: number, seed: number): Promise<Tally> {
  const random = randomFrom(seed);
  const root = temporaryFolder('root');
  const git = await startGitServer();
  await git.createRepo(REPO, { public: true });
  writeFileSync(join(root, 'config.yml'), `code_host_git_url: ${git.url}\n`, { mode: 0o600 });
  const names = Array.from({ length: apps }, (_, index) => `app-${index}`);
  const content: Record<string, string> = {
    libs: '0',
    ...Object.fromEntries(names.map((name) => [name, '0'])),
  };
  const commit = (folders: readonly string[], force = false) => {
    const files: Files = Object.fromEntries(
      folders.map((each) => [
        each === 'docs' ? `docs/${random(9)}` : `apps/${each}/file`,
        content[each] ?? String(random(1e9)),
      ]),
    );
    return git.commit(REPO, files, folders.join(', '), { force });
  };
  await commit(Object.keys(content));
  for (const name of names) {
    const args = ['--repo', REPO, '--branch', 'main', '--public', '--name', name];
    const added = await run('runner-add', [...args, '--paths', `apps/${name}/**,apps/libs`], {
      root,
    });
    if (added.status !== 0) throw new Error(added.stderr);
  }
  const seen = (name: string) => `${content[name]} ${content.libs}`;
  const deployed = new Map<string, string>();
  const tally = { needed: 0, done: 0, needless: 0 };
  const poll = async () => {
    const { stdout, stderr } = await run('runner-fetch', ['--deploy', '--json'], { root });
    const results = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    if (results.length !== apps) throw new Error(stdout + stderr);
    for (const { app, result } of results) {
      const isNeeded = deployed.get(app) !== seen(app);
      if (isNeeded) tally.needed += 1;
      if (result === 'deployed') tally[isNeeded ? 'done' : 'needless'] += 1;
      if (result === 'deployed') deployed.set(app, seen(app));
    }
  };
  await poll();
  for (let push = 1; push <= pushes; push += 1) {
    const name = names[random(apps)] as string;
    const folder = random(SHARED_EVERY) === 0 ? 'libs' : random(5) === 0 ? 'docs' : name;
    // Few values: a push often brings back what is deployed.
    if (folder !== 'docs') content[folder] = String(random(3));
    await commit([folder], random(20) === 0);
    if (random(3) === 0 || push === pushes) await poll();
  }
  await git.close();
  return tally;
}
