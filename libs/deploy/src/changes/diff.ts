/** `runner diff`: what is different in two versions of an app, beyond their commits. */
import type { Deployed } from '@runner/common/apps/deployed';
import type { AppState } from '@runner/common/apps/state';
import { DEPLOY_FILE } from '@runner/common/deploy-file/read';
import { difference } from '@runner/common/files/difference';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { cleanRecord } from '@runner/common/redaction/record';
import { keptVersions } from '../database/kept.ts';
import { blobsOf } from '../git/commit-files.ts';
import { commitsBetween } from '../git/history.ts';
import { type SourceRequest, sourceOf } from '../git/open.ts';
import { fetchMissing } from '../git/same-paths.ts';
import type { GitSource } from '../git/source.ts';
import { bytesOfRelease } from '../instances/kept-file.ts';
import { underLock } from '../journal/lock.ts';
import { broughtBy } from '../packages/brought.ts';
import { opened } from '../statement/envelope.ts';
import { claimsOf, statementText } from '../statement/seal.ts';
import { activeIn, type ChangeList, listChanges, type NamedCommit } from './list.ts';
import { LOCK_WAIT } from './verify.ts';

/** Names that only one of the two has, and those that both have and that are not the same; sorted. */
export interface NameChanges {
  added: string[];
  removed: string[];
  changed: string[];
}

/** What `runner diff` prints. */
export interface VersionDiff
  extends Pick<ChangeList, 'app' | 'from' | 'to' | 'count' | 'compare' | 'commits'> {
  /** How many commits `from` has and `to` has not; null: not known. */
  taken_back: number | null;
  /** The unified diff of `.deploy.yml`, the operator's where that counted; empty if nothing changed. */
  deploy_file: string;
  /** Packages of the lock files, as `name@version`; `changed` as `name: before to after`. */
  packages: NameChanges;
  /** Names of secrets at the two deploys; null if a version is not kept, or was deployed by 0.1.0. */
  secrets: NameChanges | null;
  /** Files of systemd's units at the two deploys; null if a version is not kept. */
  units: NameChanges | null;
}

/**
 * Compares two versions; without `from` the active one with the one before, without `to` with the active
 * one. Throws `version_not_found`, and what `listChanges` throws.
 */
export async function diffVersions(
  request: SourceRequest,
  app: AppState,
  from: string | undefined,
  to: string | undefined,
): Promise<VersionDiff> {
  const { source, redact } = sourceOf(request, app);
  const [first, last] = [from ?? beforeActive(app).commit, to ?? activeIn(app)[0].commit];
  const list = await listChanges(request, app, first, last);
  return underLock({ ...request, app: app.app, wait: LOCK_WAIT }, 'diff', async () => {
    const there = await fetchMissing(source, [list.from.commit, list.to.commit]);
    const sides = [list.from, list.to].map((side) => ({
      ...side,
      kept: keptVersions(request.paths.app(app.app), app).findLast(
        ({ commit }) => commit === side.commit,
      ),
    })) as [Side, Side];
    const [old, now] = await Promise.all(sides.map((side) => fileOf(request, source, app, side)));
    const labels = sides.map(({ version }) => `${DEPLOY_FILE} of ${version}`);
    const [start, end] = [list.from.commit, list.to.commit];
    const back = start === end ? { count: 0 } : await commitsBetween(source, end, start, 'near');
    const both = there.length === 2 || list.from.commit === list.to.commit;
    const { app: name, count, compare, commits } = list;
    return cleanRecord(
      {
        app: name,
        from: list.from,
        to: list.to,
        count,
        taken_back: back?.count ?? null,
        compare,
        commits,
        deploy_file: difference(request.io.env, labels as [string, string], old ?? '', now ?? ''),
        packages: both ? await packageChanges(source, app, list) : NONE,
        secrets: namesChanged(...pairOf(sides, ({ secrets }) => secrets)),
        units: namesChanged(...pairOf(sides, (kept) => unitsOf(request.paths, app.app, kept))),
      },
      redact,
    );
  });
}

const NONE: NameChanges = { added: [], removed: [], changed: [] };

/** A version of the two; `kept` if its release is there. */
interface Side extends NamedCommit {
  readonly kept: Deployed | undefined;
}

function beforeActive(app: AppState): Deployed {
  const [active, before] = activeIn(app);
  if (before) return before;
  const only = `no version before ${active.version} of '${app.app}' is kept: give two versions`;
  throw new Failure('version_not_found', only);
}

/** As it was deployed, else as it is in the commit. */
async function fileOf(
  { paths }: SourceRequest,
  source: GitSource,
  { app }: AppState,
  { kept, commit }: Side,
): Promise<Buffer | undefined> {
  if (kept) return bytesOfRelease(paths, app, kept);
  const [bytes] = await blobsOf(source, [`${commit}:${DEPLOY_FILE}`]);
  return bytes;
}

async function packageChanges(
  source: GitSource,
  app: AppState,
  { from, to }: Pick<ChangeList, 'from' | 'to'>,
): Promise<NameChanges> {
  const [first, last] = [from.commit, to.commit];
  const [brought, lost] = await Promise.all([
    broughtBy(source, app, { from: first, to: last }),
    broughtBy(source, app, { from: last, to: first }),
  ]);
  const versions = (packages: typeof brought.added) => {
    const all = new Map<string, string>();
    for (const { name, version } of packages)
      all.set(name, [...new Set([...(all.get(name)?.split(', ') ?? []), version])].join(', '));
    return all;
  };
  const [added, removed] = [versions(brought.added), versions(lost.added)];
  const changed = [...added.keys()].filter((name) => removed.has(name));
  const only = (those: Map<string, string>, others: Map<string, string>) =>
    [...those].filter(([name]) => !others.has(name)).map(([name, at]) => `${name}@${at}`);
  return {
    added: only(added, removed).sort(),
    removed: only(removed, added).sort(),
    changed: changed.map((name) => `${name}: ${removed.get(name)} to ${added.get(name)}`).sort(),
  };
}

type Named = Readonly<Record<string, unknown>> | undefined;

function pairOf(
  [from, to]: readonly [Side, Side],
  pick: (kept: Deployed) => Named,
): [before: Named, after: Named] {
  return [from.kept && pick(from.kept), to.kept && pick(to.kept)];
}

function namesChanged(before: Named, after: Named): NameChanges | null {
  if (!before || !after) return null;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const has = (side: object, name: string) => Object.hasOwn(side, name);
  return {
    added: names.filter((name) => !has(before, name)),
    removed: names.filter((name) => !has(after, name)),
    changed: names.filter(
      (name) => has(before, name) && has(after, name) && before[name] !== after[name],
    ),
  };
}

/** Digests of unit files by path, from the statement of a release. */
function unitsOf(paths: Paths, app: string, { release }: Deployed): Named {
  const text = statementText(paths.app(app), release);
  const envelope = text === undefined ? undefined : opened(text, undefined);
  return envelope && claimsOf(envelope.value)?.units;
}
