/** Where each type of host lists the checks of a commit, and what their words mean. */
import type { SeenCheck } from '@runner/common/apps/checks';
import { Failure } from '@runner/common/foundation/failure';
import type { HostApi } from '@runner/common/hosts/api';
import { isObject, type JsonObject } from '@runner/common/text/json';

/** Entries of a list in one answer. */
export const PER_PAGE = 100;
/** Longest name that is kept. */
const NAME_MAX = 200;

/** One list of a host: where it is, and what its entries mean. */
export interface List {
  readonly path: string;
  readonly read: (body: unknown) => readonly SeenCheck[];
}

/** The lists of a commit: at most two. */
export function listsOf(type: HostApi['type'], repo: string, commit: string): readonly List[] {
  const commitAt = `/repos/${repo}/commits/${commit}`;
  switch (type) {
    case 'github':
      return [
        { path: `${commitAt}/check-runs?filter=latest&per_page=${PER_PAGE}`, read: checkRuns },
        { path: `${commitAt}/status?per_page=${PER_PAGE}`, read: combinedStatus },
      ];
    case 'gitlab': {
      const project = `/projects/${encodeURIComponent(repo)}`;
      return [
        {
          path: `${project}/repository/commits/${commit}/statuses?per_page=${PER_PAGE}`,
          read: gitLabJobs,
        },
        { path: `${project}/pipelines?sha=${commit}&per_page=${PER_PAGE}`, read: pipelines },
      ];
    }
    case 'gitea':
      return [{ path: `${commitAt}/status?limit=${PER_PAGE}`, read: combinedStatus }];
    case 'bitbucket':
      return [
        {
          path: `/repositories/${repo}/commit/${commit}/statuses?pagelen=${PER_PAGE}`,
          read: buildStatuses,
        },
      ];
    default:
      throw new Failure('code_host_error', 'a host of the type git has no checks');
  }
}

function entriesOf(body: unknown, field?: string): JsonObject[] {
  const list = field !== undefined && isObject(body) ? body[field] : body;
  if (!Array.isArray(list))
    throw new Failure('code_host_error', 'the code host did not answer with a list of checks');
  return list.filter(isObject);
}

const nameOf = (...names: unknown[]) =>
  String(names.find((name) => typeof name === 'string' && name !== '') ?? 'a check').slice(
    0,
    NAME_MAX,
  );

/** What does not count as passed or pending has failed: an unknown word deploys nothing. */
function stateFrom(
  word: unknown,
  passed: readonly string[],
  pending: readonly string[],
): SeenCheck['state'] {
  const text = String(word).toLowerCase();
  if (passed.includes(text)) return 'passed';
  return pending.includes(text) ? 'pending' : 'failed';
}

function checkRuns(body: unknown): SeenCheck[] {
  return entriesOf(body, 'check_runs').map(({ name, status, conclusion }) => ({
    name: nameOf(name),
    state:
      status === 'completed'
        ? stateFrom(conclusion, ['success', 'neutral', 'skipped'], [])
        : 'pending',
  }));
}

/** GitHub says `state`, Gitea `status`. */
function combinedStatus(body: unknown): SeenCheck[] {
  if (isObject(body) && body.statuses === null) return [];
  return entriesOf(body, 'statuses').map(({ context, state, status }) => ({
    name: nameOf(context),
    state: stateFrom(state ?? status, ['success', 'skipped'], ['pending']),
  }));
}

const GITLAB_PENDING = [
  ...['created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled'],
  ...['waiting_for_callback', 'canceling', 'manual'],
];

/** A job that is allowed to fail does not hold up its pipeline. */
function gitLabJobs(body: unknown): SeenCheck[] {
  return entriesOf(body)
    .filter(({ allow_failure: free }) => free !== true)
    .map(({ name, status }) => ({
      name: nameOf(name),
      state: stateFrom(status, ['success', 'skipped'], GITLAB_PENDING),
    }));
}

/** The newest pipeline of each branch and source: one that was run again replaces the previous one. */
function pipelines(body: unknown): SeenCheck[] {
  const newest = new Map<string, JsonObject>();
  for (const each of entriesOf(body)) {
    const key = `${each.ref} ${each.source}`;
    if (Number(newest.get(key)?.id ?? -1) < Number(each.id)) newest.set(key, each);
  }
  return [...newest.values()].map(({ status }) => ({
    name: 'pipeline',
    state: stateFrom(status, ['success', 'skipped'], GITLAB_PENDING),
  }));
}

function buildStatuses(body: unknown): SeenCheck[] {
  return entriesOf(body, 'values').map(({ key, name, state }) => ({
    name: nameOf(name, key),
    state: stateFrom(state, ['successful'], ['inprogress']),
  }));
}
