/**
 * `npm run bench -- signed`: what `require_signed` adds to `runner deploy --check`: the signature of the
 * newest commit, and those of 500 commits since the last accepted one, whose history is on disk already.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGitServer } from '@runner/testing/git-server';
import { Repo, TREE } from '../tests/signed/histories.ts';
import { armouredBy, commitBytes, signedBytes, signingKey } from '../tests/signed/keys.ts';
import {
  added,
  compare,
  conclude,
  type Figure,
  FLOOR,
  ours,
  printTable,
} from './harness/measure.ts';
import { makeRoot, mustRun } from './harness/root.ts';
import { besideServices } from './harness/services.ts';
import { printSetting } from './harness/setting.ts';

const REPO = 'acme/shop';
const COMMITS = 500;
const ROUNDS = 20;
const START = 1_760_000_000;
/** In times of `node -e 0`, which takes about 40 ms: 40 ms and 1 s. */
const [HEAD, STRICT] = [1, 25];

async function serve(): Promise<string[]> {
  const git = await startGitServer();
  await git.createRepo(REPO, { public: true });
  const repo = new Repo(
    git.path(REPO),
    '[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n',
  );
  repo.write('tree', Buffer.alloc(0), TREE);
  const key = signingKey();
  const ids: string[] = [];
  for (let number = 0; number <= COMMITS; number += 1) {
    const parents = ids.slice(-1);
    const bytes = commitBytes({
      tree: TREE,
      parents,
      date: START + number * 60,
      message: `change ${number}`,
    });
    ids.push(repo.write('commit', signedBytes(bytes, armouredBy(key, bytes))));
  }
  writeFileSync(join(repo.folder, 'refs/heads/main'), `${ids.at(-1)}\n`);
  // The server alone does not keep its process alive.
  setInterval(() => git.requests.splice(0), 1000);
  return [git.url, key.line.split(' ')[1] as string, ids[0] as string, ids.at(-2) as string];
}

async function measure([url = '', key = '', first = '', before = '']: readonly string[]) {
  printSetting('Signed commits', ROUNDS);
  const made = async (mode?: string, accepted?: string): Promise<string> => {
    const root = await makeRoot(`code_host_git_url: ${url}\n`, REPO);
    if (mode === undefined) return root;
    const signers = join(root, 'commit_signers');
    writeFileSync(signers, `ada ssh-ed25519 ${key}\n`, { mode: 0o644 });
    const text = `code_host_git_url: ${url}\ncommit_signers: ${signers}\n`;
    writeFileSync(join(root, 'config.yml'), text, { mode: 0o600 });
    await mustRun('runner-edit', ['app0', '--require-signed', mode], { root });
    const path = join(root, 'state/app0.json');
    const state = { ...JSON.parse(readFileSync(path, 'utf8')) };
    state.accepted = { commit: accepted, version: 'v1', at: new Date().toISOString() };
    writeFileSync(path, JSON.stringify(state), { mode: 0o600 });
    return root;
  };
  const check = ['runner-deploy', 'app0', '--check'];
  const strict = await made('strict', first);
  const figures = compare(
    [
      FLOOR,
      ours('not required', await made(), check, { strict: true }),
      ours('head', await made('head', before), check, { strict: true }),
      ours(`strict, ${COMMITS} commits`, strict, check, { strict: true }),
    ],
    ROUNDS,
  );
  const [, off, head, all] = figures as [Figure, Figure, Figure, Figure];
  const rows = [
    ...figures,
    added('what head adds', head, off, HEAD),
    added(`what strict adds, ${COMMITS} commits`, all, off, STRICT),
  ];
  const kept = [printTable('deploy --check', rows)];
  const begin = performance.now();
  rmSync(join(strict, 'apps/app0/history.git'), { recursive: true, force: true });
  await mustRun('runner-deploy', ['app0', '--check'], { root: strict });
  const cold = Math.round(performance.now() - begin);
  process.stdout.write(
    `\nThe first time, with fetching the history of ${COMMITS} commits: ${cold} ms\n`,
  );
  conclude(kept);
}

void besideServices(serve, measure);
