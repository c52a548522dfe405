/** What is different from the last version that worked. */
import { readSecrets } from '@runner/common/app-secrets/file';
import type { ChangeSummary, Deployed } from '@runner/common/apps/deployed';
import type { AppState } from '@runner/common/apps/state';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure, systemCode } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { git } from '@runner/deploy/git/git';
import { isOlder } from '@runner/deploy/journal/after-rollback';

/** What changed since the last good version. */
export interface ChangedSince {
  /** The last good version, and its commit. */
  version: string;
  commit: string;
  /** What the deploy recorded of its commits, hosts and packages; null if it did not begin. */
  changes: ChangeSummary | null;
  /** Whether `.deploy.yml` is another one, the operator's included; null: not known. */
  deploy_file: boolean | null;
  /** Names of secrets that were set or removed since; null: this user may not read them. */
  secrets: string[] | null;
  /** How many files differ; null: the mirror does not have both commits, or this user may not read it. */
  files: number | null;
  /** At most 10 of these files, the ones that the cause names first. */
  changed: { path: string; named: boolean }[];
}

const FILES_SHOWN = 10;
const TIMEOUT = 10_000;

/** The newest version before `at`, ISO 8601, that was neither rolled back nor failed its watch. */
export function goodBefore({ instances, watched }: AppState, at: string): Deployed | undefined {
  const bad = watched?.verdict === 'bad' ? watched.deploy_id : undefined;
  const kept = Object.values(instances).flatMap(({ current, previous }) =>
    current ? [current, ...previous.filter((each) => isOlder(each, current))] : previous,
  );
  const before = kept.filter((each) => each.deployed_at < at && each.deploy_id !== bad);
  return before.sort((a, b) => (a.deployed_at < b.deployed_at ? 1 : -1))[0];
}

/** What `commit` has and `good` had not; `cause` may name files. */
export async function changedSince(
  server: Server,
  app: AppState,
  good: Deployed,
  { commit, cause }: { commit: string; cause: string },
): Promise<Omit<ChangedSince, 'changes'>> {
  const files = await filesBetween(server, app.app, good.commit, commit);
  const names = namesOf(cause);
  const marked = files?.map((path) => ({ path, named: names.some((name) => isSame(path, name)) }));
  const isOperators = (app.deploy_file?.since ?? '') > good.deployed_at;
  return {
    version: good.version,
    commit: good.commit,
    deploy_file: isOperators || (files?.includes('.deploy.yml') ?? null),
    secrets: secretsSince(server, app.app, good.deployed_at),
    files: files?.length ?? null,
    changed: (marked ?? []).sort((a, b) => +b.named - +a.named).slice(0, FILES_SHOWN),
  };
}

async function filesBetween(
  { io, paths }: Server,
  app: string,
  from: string,
  to: string,
): Promise<string[] | undefined> {
  if (![from, to].every((each) => /^[0-9a-f]{40,64}$/.test(each))) return undefined;
  const range = ['--end-of-options', from, to];
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', ...range];
  try {
    const options = { cwd: paths.app(app).repo, timeout: TIMEOUT };
    const { status, stdout } = await git(io, args, options);
    return status === 0 ? stdout.toString('utf8').split('\0').filter(Boolean) : undefined;
  } catch (error) {
    // The folder of the app may not be entered, or git is missing.
    if (error instanceof Failure || systemCode(error) === 'EACCES') return undefined;
    throw error;
  }
}

/** Words of a cause that may be paths, without the line numbers that compilers append. */
function namesOf(cause: string): string[] {
  const words = cause.match(/[\w@+./-]{3,300}/g) ?? [];
  return words
    .map((each) => each.replace(/^\.\/|[.:]+$/g, ''))
    .filter((each) => /[./]|file$/.test(each));
}

/** The path itself, its end, or an absolute path that ends with it. */
function isSame(path: string, name: string): boolean {
  return `/${path}`.endsWith(`/${name}`) || name.endsWith(`/${path}`);
}

function secretsSince({ paths }: Server, app: string, at: string): string[] | null {
  const names = () => {
    const { secrets = [], started = [] } = readSecrets(paths, app) ?? {};
    const there = new Set(secrets.map(({ name }) => name));
    const set = secrets.filter(({ changed_at }) => changed_at > at).map(({ name }) => name);
    const all = started.flatMap((each) => each.secrets.map(({ name }) => name));
    return [...new Set([...set, ...all.filter((name) => !there.has(name))])].sort();
  };
  return unlessFailure(names, null);
}
