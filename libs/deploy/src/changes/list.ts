/** `runner changes`: the commits between two versions of an app. */
import type { Migration } from '@runner/common/apps/database';
import type { Deployed } from '@runner/common/apps/deployed';
import type { AppState } from '@runner/common/apps/state';
import { DEPLOY_FILE, readDeployFile } from '@runner/common/deploy-file/read';
import { widenedNetwork } from '@runner/common/deploy-file/widened';
import { onFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { refName } from '@runner/common/foundation/names';
import { cleanRecord } from '@runner/common/redaction/record';
import { keptVersions } from '../database/kept.ts';
import { type WayBack, wayBackTo } from '../database/way-back.ts';
import { blobsOf } from '../git/commit-files.ts';
import { type CommitSummary, commitsBetween } from '../git/history.ts';
import { type SourceRequest, sourceOf } from '../git/open.ts';
import { fetchWanted } from '../git/ref.ts';
import { headOf, listFollowed, noHead, tagOn, versionOf } from '../git/remote.ts';
import { fetchMissing } from '../git/same-paths.ts';
import type { GitSource } from '../git/source.ts';
import type { Ref } from '../git/tags.ts';
import { isOlder } from '../journal/after-rollback.ts';
import { underLock } from '../journal/lock.ts';
import { broughtBy, scriptFields } from '../packages/brought.ts';
import { withObjects } from '../signed/objects.ts';
import { judgeAll } from '../signed/range.ts';
import { examineSigners } from '../signed/signers.ts';
import { commitAt } from '../signed/walk.ts';
import { LOCK_WAIT, signerOf, type VerifiedCommit } from './verify.ts';

export interface NamedCommit {
  version: string;
  commit: string;
}

/** Where signatures are required, a commit has its signer, or why it has none. */
type ListedCommit = CommitSummary & Partial<Pick<VerifiedCommit, 'signed_by' | 'refused'>>;

/** What `runner changes` prints. */
export interface ChangeList {
  app: string;
  /** `next`: what a deploy would bring; `last`: what the last one brought. */
  what: 'next' | 'last' | 'range';
  from: NamedCommit;
  to: NamedCommit;
  count: number;
  /** The page of the host that compares them; null if the host has none, or they are one commit. */
  compare: string | null;
  /** Newest first. */
  commits: ListedCommit[];
  /** Hosts that `network` of `.deploy.yml` lists in `to` and not in `from`. */
  network_added: string[];
  /** `name@version` of packages whose install script is new in `to`, at most 20. */
  new_install_scripts: string[];
  /** What these commits have done to the database, the newest first; none: nothing, or not yet. */
  migrations: Pick<Migration, 'version' | 'commit' | 'deploy_id' | 'at' | 'verdict' | 'reasons'>[];
  /** What a rollback to `from` meets in the database; null without migrations, or if it is not kept. */
  way_back: MigratedWayBack | null;
}

/** Whether a version works with the database as it is now. */
export interface MigratedWayBack extends Pick<WayBack, 'verdict' | 'fix'> {
  version: string;
  /** true: `runner rollback` goes back; false: it refuses; null: it asks. */
  open: boolean | null;
  reason: string;
}

type ChangeRange = Pick<ChangeList, 'what' | 'from' | 'to'>;

/** Throws `ref_not_found`, `version_not_found`, `locked`, and what git's calls throw. */
export async function listChanges(
  request: SourceRequest,
  app: AppState,
  from: string | undefined,
  to: string | undefined,
): Promise<ChangeList> {
  const { source, redact } = sourceOf(request, app);
  const range = await rangeOf(source, app, from, to);
  return underLock({ ...request, app: app.app, wait: LOCK_WAIT }, 'changes', async () => {
    const [first, last] = [range.from.commit, range.to.commit];
    const found = first === last ? NOTHING : await commitsBetween(source, first, last, 'far');
    if (!found) {
      const message = `the code host does not say what is between ${range.from.version} and ${range.to.version}: it no longer has both, or does not serve partial clones (on the server: git config uploadpack.allowFilter true)`;
      throw new Failure('ref_not_found', message);
    }
    const compare = first === last ? null : (source.compare(first, last) ?? null);
    const list = { app: app.app, ...range, count: found.count, compare };
    const commits = await withSigners(request, source, app, found.commits);
    // Empty if the files of the commits cannot be had.
    const none = onFailure((): string[] => []);
    const network_added = await networkAdded(source, app, range).catch(none);
    const new_install_scripts = await newScripts(source, app, range).catch(none);
    const database = databaseOf(request, app, range, commits);
    return cleanRecord(
      { ...list, commits, network_added, new_install_scripts, ...database },
      redact,
    );
  });
}

async function withSigners(
  { io, paths }: SourceRequest,
  source: GitSource,
  { require_signed: required }: AppState,
  commits: readonly CommitSummary[],
): Promise<ListedCommit[]> {
  if (!required) return [...commits];
  const { signers } = examineSigners(paths);
  const read = await withObjects(source, (reader) =>
    Promise.all(commits.map(({ commit }) => commitAt(reader, commit))),
  );
  const verdicts = await judgeAll({ signers, now: io.now() }, read);
  return commits.map((each, at) => ({ ...each, ...signerOf(verdicts[at]) }));
}

/** Only if the first commit has a list is the other fetched. */
async function networkAdded(
  source: GitSource,
  { deploy_file }: AppState,
  { from, to }: ChangeRange,
): Promise<string[]> {
  if (deploy_file?.wins) return [];
  const fileOf = async ({ commit }: NamedCommit) => {
    const [bytes] = await blobsOf(source, [`${commit}:${DEPLOY_FILE}`]);
    return readDeployFile(bytes, DEPLOY_FILE, true);
  };
  const before = await fileOf(from);
  if (widenedNetwork(before, readDeployFile(undefined)).length === 0) return [];
  await fetchWanted(source, to.commit);
  return widenedNetwork(before, await fileOf(to));
}

/** As the record of a deploy has them. */
async function newScripts(
  source: GitSource,
  app: AppState,
  { from, to }: ChangeRange,
): Promise<string[]> {
  if (from.commit === to.commit) return [];
  const there = await fetchMissing(source, [from.commit, to.commit]);
  if (there.length < 2) return [];
  const range = { from: from.commit, to: to.commit };
  return scriptFields((await broughtBy(source, app, range)).scripts).new_install_scripts ?? [];
}

/** The migrations of these commits that are in the database, and the way back over them. */
function databaseOf(
  { paths }: SourceRequest,
  app: AppState,
  { from }: ChangeRange,
  commits: readonly CommitSummary[],
): Pick<ChangeList, 'migrations' | 'way_back'> {
  const brought = new Set(commits.map(({ commit }) => commit));
  const migrations = (app.migrations ?? [])
    .filter(({ commit, gone }) => !gone && brought.has(commit))
    .map(({ version, commit, deploy_id, at, verdict, reasons }) => {
      return { version, commit, deploy_id, at, verdict, reasons };
    })
    .reverse();
  const kept = keptVersions(paths.app(app.app), app);
  const to = kept.findLast(({ commit }) => commit === from.commit);
  const way = migrations.length > 0 && to ? wayBackTo({ paths, app }, to) : undefined;
  if (!to || !way) return { migrations, way_back: null };
  const { verdict, words: reason, fix } = way;
  const open = verdict === 'unknown' ? null : verdict !== 'broken';
  return { migrations, way_back: { version: to.version, verdict, open, reason, fix } };
}

const NOTHING = { commits: [], count: 0 };

async function rangeOf(
  source: GitSource,
  app: AppState,
  from: string | undefined,
  to: string | undefined,
): Promise<ChangeRange> {
  const names = [from, to].filter((name) => name !== undefined);
  const wanted = names.map((name) => refName(name, 'version, branch, tag or commit'));
  const patterns = wanted.flatMap((name) => [`refs/heads/${name}`, `refs/tags/${name}`]);
  const { refs } = await listFollowed(source, patterns);
  const head = await headOf(source, refs);
  if (from !== undefined) {
    const end = to === undefined ? newest(source, head) : resolve(source, app, refs, to);
    return { what: 'range', from: resolve(source, app, refs, from), to: end };
  }
  const [current, before = current] = activeIn(app);
  if (head && head.commit !== current.commit)
    return { what: 'next', from: shown(current), to: newest(source, head) };
  return { what: 'last', from: shown(before), to: shown(current) };
}

/** What is active of an app, and the version before it; after a rollback, the one that it left. Throws `version_not_found`. */
export function activeIn({ app, instances }: AppState): [Deployed, before: Deployed | undefined] {
  for (const { current, previous } of Object.values(instances)) {
    const left = previous.at(-1);
    if (current) return [current, left && isOlder(current, left) ? left : previous[0]];
  }
  const what = `nothing of '${app}' is deployed yet: give two versions`;
  throw new Failure('version_not_found', what);
}

const shown = ({ version, commit }: Deployed): NamedCommit => ({ version, commit });

function newest(source: GitSource, head: Awaited<ReturnType<typeof headOf>>): NamedCommit {
  if (!head) throw noHead(source);
  return { commit: head.commit, version: versionOf(head.commit, head.tag) };
}

/** Shortest beginning of a commit's id that is taken for one. */
const SHORTEST = 7;

/** A version that is kept, a branch, a tag, or the id of a commit. */
function resolve(
  source: GitSource,
  app: AppState,
  refs: readonly Ref[],
  name: string,
): NamedCommit {
  const kept = Object.values(app.instances).flatMap(({ current, previous }) => [
    ...(current ? [current] : []),
    ...previous,
  ]);
  const named = kept.find(({ version }) => version === name);
  if (named) return shown(named);
  for (const ref of [`refs/heads/${name}`, `refs/tags/${name}^{}`, `refs/tags/${name}`]) {
    const commit = refs.find(([, listed]) => listed === ref)?.[0];
    if (commit !== undefined) return { commit, version: name };
  }
  const isBeginning = name.length >= SHORTEST && /^[0-9a-f]+$/.test(name);
  const begun = isBeginning ? kept.find(({ commit }) => commit.startsWith(name)) : undefined;
  if (begun) return shown(begun);
  if (/^[0-9a-f]{40}$|^[0-9a-f]{64}$/.test(name))
    return { commit: name, version: versionOf(name, tagOn(name, refs)) };
  throw new Failure(
    'ref_not_found',
    `the repository ${source.repo} has no branch or tag '${name}', and no such version is kept; give a commit in full`,
  );
}
