/**
 * Submodules on a known code host are fetched, each with a token of its own host. Any other address is
 * refused.
 */
import { join } from 'node:path';
import { Failure } from '@runner/common/foundation/failure';
import { blobsOf, type CommitTree, refuseLargeFiles, treeOf } from './commit-files.ts';
import { gitIn } from './git.ts';
import { fetchById } from './remote.ts';
import type { Elsewhere, GitSource } from './source.ts';

/** A submodule whose commit is in its mirror. */
export interface Submodule {
  /** Where it belongs in the release. */
  readonly path: string;
  readonly commit: string;
  readonly source: GitSource;
}

/** git's file of the submodules of a commit. */
export const MODULES_FILE = '.gitmodules';
/** Limits: a repository can name itself as a submodule. */
const MOST = 100;
const DEEPEST = 5;

/**
 * Fetches all submodules of a commit, outer ones first. `above` is the path of the repository in the release,
 * `room` how many more submodules may come. Throws `submodule_unsupported`, …
 */
export async function fetchSubmodules(
  source: GitSource,
  tree: CommitTree,
  { above, depth, room } = { above: '', depth: 1, room: MOST },
): Promise<Submodule[]> {
  if (tree.submodules.length === 0) return [];
  const found: Submodule[] = [];
  const addresses = await addressesOf(source, tree);
  for (const { path, sha } of tree.submodules) {
    const place = `${above}${path}`;
    if (depth > DEEPEST || found.length >= room) {
      throw refused(place, `there are more than ${MOST} submodules, or more than ${DEEPEST} deep`);
    }
    const { folder, ...known } = repoAt(source, place, addresses.get(path));
    const mirror = join(rootMirror(source), 'modules', folder, `${known.repo}.git`);
    const inner: GitSource = { ...source, ...known, mirror };
    await fetchSubmodule(inner, sha, place, folder !== '');
    found.push({ path: place, commit: sha, source: inner });
    const below = await treeOf(inner, sha, [MODULES_FILE]);
    await refuseLargeFiles(inner, sha, below);
    const inside = { above: `${place}/`, depth: depth + 1, room: room - found.length };
    found.push(...(await fetchSubmodules(inner, below, inside)));
  }
  return found;
}

/** A commit that the host no longer has is missing on every server. */
async function fetchSubmodule(inner: GitSource, sha: string, place: string, isElsewhere: boolean) {
  try {
    await fetchById(inner, sha);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code === 'ref_not_found') throw refused(place, error.message);
    const isClosed = error.code === 'token_invalid' || error.code === 'repo_not_found';
    if (!isClosed) throw error;
    // Its code would name a change of the app's own repository.
    if (!isElsewhere || inner.token || inner.mint)
      throw new Failure(
        'not_configured',
        `the submodule ${place} cannot be fetched: ${error.message}`,
      );
    throw new Failure(
      'not_configured',
      `the submodule ${place} gets no token: if ${inner.app} may read ${inner.repo}, name the app with a token for it in config.yml: submodules: { ${inner.app}: { APP: [${inner.repo}] } }`,
    );
  }
}

/** The mirrors of all submodules are side by side in that of the app. */
function rootMirror({ mirror }: GitSource): string {
  const at = mirror.indexOf('/repo.git/modules/');
  return at === -1 ? mirror : mirror.slice(0, at + '/repo.git'.length);
}

function refused(path: string, why: string): Failure {
  return new Failure('submodule_unsupported', `the submodule ${path} cannot be fetched: ${why}`);
}

/** Addresses of `.gitmodules` by path. */
async function addressesOf(source: GitSource, tree: CommitTree): Promise<Map<string, string>> {
  const file = tree.top.get(MODULES_FILE);
  const [text] = file?.mode.startsWith('100') ? await blobsOf(source, [file.sha]) : [];
  if (text === undefined) return new Map();
  const wanted = ['--file', '-', '--no-includes', '--get-regexp', '^submodule\\.'];
  const read = await gitIn(source, ['config', '--null', ...wanted], { input: text });
  const values = new Map<string, string>();
  for (const line of read.stdout.toString('utf8').split('\0')) {
    const end = line.indexOf('\n');
    if (end !== -1) values.set(line.slice(0, end), line.slice(end + 1));
  }
  const paths = [...values].filter(([key]) => key.endsWith('.path'));
  return new Map(
    paths.flatMap(([key, path]) => {
      const url = values.get(`${key.slice(0, -'.path'.length)}.url`);
      return url === undefined ? [] : [[path, url] as const];
    }),
  );
}

/** The repository of a submodule, on the host of its parent or on another one. */
function repoAt(source: GitSource, path: string, address: string | undefined): Elsewhere {
  if (address === undefined) throw refused(path, `${MODULES_FILE} has no address for it`);
  const shown = address.slice(0, 200);
  const isRelative = /^\.\.?\//.test(address);
  const whole = isRelative ? `${source.gitUrl}/${relativeTo(source.repo, address)}` : address;
  let place: Elsewhere | undefined;
  try {
    place = source.elsewhere(whole);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'name_invalid') throw error;
    throw refused(path, `its address ${shown} is not <owner>/<name>`);
  }
  if (place) return place;
  throw refused(
    path,
    `its address ${shown} is on no known code host: an operator can add the host to code_hosts in config.yml`,
  );
}

/** `../lib.git` beside `acme/shop` is `acme/lib.git`. */
function relativeTo(repo: string, address: string): string {
  const parts = repo.split('/');
  for (const part of address.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}
