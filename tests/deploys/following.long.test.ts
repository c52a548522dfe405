import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deployed, writeState } from '@runner/testing/app-states';
import { gitEnvironment } from '@runner/testing/git-repos';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite<{ git: GitServer; root: string }>('following');

/** The rows of a table of following-cases.md: what stands between the pipes. */
function rowsOf(firstHeading: string): string[][] {
  const lines = readFileSync('tests/deploys/following-cases.md', 'utf8').split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| \`${firstHeading}\``)) + 2;
  const rows = lines.slice(start, lines.indexOf('', start));
  const cells = (row: string) => row.split(/(?<!\\)\|/).slice(1, -1);
  return rows.map((row) =>
    cells(row).map((cell) =>
      cell
        .trim()
        .replaceAll('\\|', '|')
        .replace(/^`(.*)`$/, '$1'),
    ),
  );
}

const lines = (rows: readonly (readonly (string | undefined)[])[]) =>
  rows.map((row) => row.join(' | ')).join('\n');

test.before.each(async (context) => {
  context.git = await startGitServer();
  context.root = temporaryFolder('root');
  writeFileSync(join(context.root, 'config.yml'), `code_host_git_url: ${context.git.url}\n`, {
    mode: 0o600,
  });
});
test.after.each(({ git }) => git.close());

const runs = (version: string, commit: string) => ({
  default: { current: deployed(version, { commit }), previous: [] },
});

/** The result of `fetch` for every app, by its name. */
async function fetchAll(root: string): Promise<Map<string, string>> {
  const { stdout, stderr } = await run('runner-fetch', ['--json'], { root });
  assert.is(stderr, '');
  return new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => {
        const { app, result, version, error } = JSON.parse(line);
        return [app, error ?? (result === 'new_commit' ? `new: ${version}` : result)];
      }),
  );
}

/** A repository whose commits the others borrow, newest first. */
interface Base {
  readonly path: string;
  readonly commits: readonly string[];
}

const inRepo = (cwd: string, args: string[], input = '') =>
  execFileSync('git', args, { cwd, env: gitEnvironment(), input, encoding: 'utf8' }).trim();

/** Writes the tags of a listing, in its order, each on a commit of its own. */
function writeTags(
  git: GitServer,
  repo: string,
  base: Base,
  listed: readonly string[],
): Map<string, string> {
  const folder = git.path(repo);
  for (const name of ['objects/info', 'refs']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(folder, 'config'), '[core]\n\tbare = true\n');
  writeFileSync(join(folder, 'objects/info/alternates'), `${join(base.path, 'objects')}\n`);
  const [head = ''] = base.commits;
  const first = new Map<string, string>();
  const lines = listed.map((text, index) => {
    const [name = '', note = ''] = text.split(/ \((.*)\)/);
    const other = /same commit as (\S+)/.exec(note)?.[1];
    const commit = first.get(other ?? '') ?? (base.commits[index + 1] as string);
    first.set(name, commit);
    const points = note.includes('moved') ? head : commit;
    if (!note.includes('annotated')) return [`${points} refs/tags/${name}\n`];
    const tag = `object ${points}\ntype commit\ntag ${name}\ntagger A <a@example.org> 1 +0000\n\nx\n`;
    return [`${inRepo(base.path, ['mktag'], tag)} refs/tags/${name}\n^${points}\n`];
  });
  const packed = [
    `${head} refs/heads/main\n`,
    ...lines.flat().sort((a, b) => (a.slice(41) < b.slice(41) ? -1 : 1)),
  ];
  writeFileSync(
    join(folder, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${packed.join('')}`,
  );
  return first;
}

test('each row of the table of tags is so', async ({ git, root }) => {
  await git.createRepo('acme/base', { public: true });
  for (let each = 0; each < 6; each += 1) await git.commit('acme/base', { file: `${each}` }, 'x');
  const path = git.path('acme/base');
  const base = { path, commits: inRepo(path, ['rev-list', 'main']).split('\n') };
  const rows = rowsOf('--tags');
  await Promise.all(rows.map((_, index) => git.createRepo(`acme/case-${index}`, { public: true })));
  for (const [index, [pattern = '', range = '', active = '', tags = '']] of rows.entries()) {
    const app = `case-${index}`;
    const listed = tags.split(/, (?![^(]*\))/).filter(Boolean);
    const commits = writeTags(git, `acme/${app}`, base, listed);
    writeState(root, app, {
      version: 2,
      branch: '',
      tags: { pattern, semver: range || null },
      ...(active !== '–' && { instances: runs(active, commits.get(active) ?? 'f'.repeat(40)) }),
    });
  }
  const results = await fetchAll(root);
  const found = rows.map((row, index) => [
    ...row.slice(0, 4),
    results.get(`case-${index}`)?.replace('up_to_date', 'up to date'),
  ]);
  assert.equal(lines(found), lines(rows));
});

/** Pushes of a row; resolves the commit that was deployed. */
async function push(git: GitServer, repo: string, pushes: string): Promise<string> {
  const files = ['apps/shop/server.js', 'apps/blog/server.js', 'libs/money.js', 'README.md'];
  const base = await git.commit(repo, Object.fromEntries(files.map((file) => [file, '1'])), 'base');
  for (const each of pushes.split('; ')) {
    const path = each.replace(/^(delete|merge:|force push:) /, '');
    if (each === 'revert') await git.commit(repo, { 'apps/shop/server.js': '1' }, each);
    else if (each.startsWith('delete')) await git.commit(repo, { [path]: null }, each);
    else if (each.startsWith('merge')) await merge(git, repo, path);
    else await git.commit(repo, { [path]: '2' }, each, { force: each.startsWith('force') });
  }
  return base;
}

async function merge(git: GitServer, repo: string, path: string): Promise<void> {
  const side = await git.commit(repo, { [path]: '2' }, 'side', { branch: 'side' });
  const main = await git.commit(repo, { 'README.md': '2' }, 'main');
  const person = {
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  const options = {
    cwd: git.path(repo),
    env: { ...gitEnvironment(), ...person },
    encoding: 'utf8',
  } as const;
  const tree = execFileSync('git', ['merge-tree', '--write-tree', main, side], options).trim();
  const args = ['commit-tree', tree, '-p', main, '-p', side, '-m', 'merge'];
  execFileSync(
    'git',
    ['update-ref', 'refs/heads/main', execFileSync('git', args, options).trim()],
    options,
  );
}

test('each row of the table of paths is so', async ({ git, root }) => {
  const rows = rowsOf('--paths');
  await Promise.all(
    rows.map(async ([paths = '', pushes = ''], index) => {
      await git.createRepo(`acme/case-${index}`, { public: true });
      const base = await push(git, `acme/case-${index}`, pushes);
      const args = ['--repo', `acme/case-${index}`, '--branch', 'main', '--public'];
      const added = await run('runner-add', [...args, '--paths', paths], { root });
      assert.is(added.status, 0, added.stderr);
      const state = JSON.parse(readFileSync(join(root, `state/case-${index}.json`), 'utf8'));
      assert.is(state.version, 2);
      writeState(root, `case-${index}`, { ...state, instances: runs('v1', base) });
    }),
  );
  const results = await fetchAll(root);
  const found = rows.map((row, index) => [
    ...row.slice(0, 2),
    results
      .get(`case-${index}`)
      ?.replace(/^new: .*/, 'new')
      .replaceAll('_', ' '),
  ]);
  assert.equal(lines(found), lines(rows));
});

test.run();
