/**
 * Submodules on the app's own code host are fetched with its token. Any other address is refused:
 * the token goes to one host only.
 */
import { join } from 'node:path';
import { Failure } from '@runner/common/foundation/failure';
import { repoName } from '@runner/common/foundation/names';
import { blobsOf, type CommitTree, treeOf } from './commit-files.ts';
import { git } from './git.ts';
import { refuseLargeFiles } from './large-files.ts';
import { fetchById } from './remote.ts';
import type { GitSource } from './source.ts';

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

/** Fetches all submodules of a commit, outer ones first. Throws `submodule_unsupported`, … */
export async function fetchSubmodules(source: GitSource, tree: CommitTree): Promise<Submodule[]> {
  return collect(source, tree, { above: '', depth: 1, room: MOST });
}

/** `above` is the path of the repository in the release, `room` how many more submodules may come. */
async function collect(
  source: GitSource,
  tree: CommitTree,
  { above, depth, room }: { above: string; depth: number; room: number },
): Promise<Submodule[]> {
  if (tree.submodules.length === 0) return [];
  const found: Submodule[] = [];
  const addresses = await addressesOf(source, tree);
  for (const { path, sha } of tree.submodules) {
    const place = `${above}${path}`;
    if (depth > DEEPEST || found.length >= room) {
      throw refused(place, `there are more than ${MOST} submodules, or more than ${DEEPEST} deep`);
    }
    const repo = repoAt(source, place, addresses.get(path));
    const mirror = join(rootMirror(source), 'modules', `${repo}.git`);
    const inner: GitSource = { ...source, repo, mirror };
    await fetchSubmodule(inner, sha, place);
    found.push({ path: place, commit: sha, source: inner });
    const below = await treeOf(inner, sha, [MODULES_FILE]);
    await refuseLargeFiles(inner, sha, below);
    const inside = { above: `${place}/`, depth: depth + 1, room: room - found.length };
    found.push(...(await collect(inner, below, inside)));
  }
  return found;
}

/** A commit that the host no longer has is missing on every server. */
async function fetchSubmodule(inner: GitSource, sha: string, place: string): Promise<void> {
  try {
    await fetchById(inner, sha);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'ref_not_found') throw error;
    throw refused(place, error.message);
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
  const { io, mirror: cwd, signal } = source;
  const args = [
    'config',
    '--null',
    '--file',
    '-',
    '--no-includes',
    '--get-regexp',
    '^submodule\\.',
  ];
  const read = await git(io, args, { cwd, signal, input: text });
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

/** `owner/name` of a submodule on the app's own code host. */
function repoAt(source: GitSource, path: string, address: string | undefined): string {
  if (address === undefined) throw refused(path, `${MODULES_FILE} has no address for it`);
  const place = /^\.\.?\//.test(address)
    ? relativeTo(source.repo, address)
    : pathOnHost(source, address);
  if (place === undefined) {
    throw refused(
      path,
      `its address ${address.slice(0, 200)} is not on the code host ${new URL(source.gitUrl).host}, and the token goes nowhere else`,
    );
  }
  try {
    return repoName(place);
  } catch {
    throw refused(path, `its address ${address.slice(0, 200)} is not <owner>/<name>`);
  }
}

/** `../lib.git` beside `acme/shop` is `acme/lib.git`. */
function relativeTo(repo: string, address: string): string {
  const parts = repo.split('/');
  for (const part of address.replace(/\/+$/, '').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** The path of an address of any kind when it names the code host; undefined for another host. */
function pathOnHost(source: GitSource, address: string): string | undefined {
  const host = new URL(source.gitUrl);
  const scp = /^(?:[^@/:]+@)?([^/:@]+):(?!\/)(.+)$/.exec(address);
  if (scp) return scp[1]?.toLowerCase() === host.hostname ? clean(scp[2] as string) : undefined;
  if (!/^(?:https?|ssh|git|git\+ssh):\/\//i.test(address) || !URL.canParse(address))
    return undefined;
  const { protocol, hostname, port, pathname } = new URL(address);
  const isWeb = /^https?:$/.test(protocol);
  if (hostname.toLowerCase() !== host.hostname || (isWeb && port !== host.port)) return undefined;
  const prefix = isWeb ? host.pathname.replace(/\/$/, '') : '';
  return pathname.startsWith(`${prefix}/`) ? clean(pathname.slice(prefix.length)) : undefined;
}

function clean(path: string): string {
  return path.replace(/^\/+|\/+$/g, '');
}
