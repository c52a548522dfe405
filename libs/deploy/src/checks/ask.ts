/**
 * The checks of a commit at its code host, in at most two calls; what did not change costs none. Where each type of
 * host lists them, and what its words mean.
 */
import type { CheckPage, CommitChecks, SeenCheck } from '@runner/common/apps/checks';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { type HostApi, isDenied, refuseOthers } from '@runner/common/hosts/api';
import { isObject, type JsonObject } from '@runner/common/text/json';

/** Statuses that runner itself writes begin so; a deploy does not wait for its own result. */
const OWN_CONTEXT = 'runner/';
/** A check list has the output of each check. In bytes. */
export const CHECKS_LIMIT = 16_777_216;
/** Further pages of one list; a commit with more checks is not deployed. */
const PAGES_MAX = 10;

/** Entries of a list in one answer. */
const PER_PAGE = 100;
/** The same of Gitea, which gives no more. */
const GITEA_PAGE = 50;
/** Longest name that is kept. */
const NAME_MAX = 200;

/** Asks the host. Throws `code_host_error`, `rate_limited`, `network_error`, `token_invalid`. */
export async function askChecks(
  api: HostApi,
  repo: string,
  commit: string,
  before: CommitChecks | undefined,
): Promise<CommitChecks> {
  const known = before?.commit === commit ? before.pages : undefined;
  const lists = listsOf(api.type, repo, commit);
  const read = await Promise.all(lists.map((list, index) => ask(api, list, known?.[index])));
  return { commit, checks: withoutOwn(api.type, read), pages: read };
}

/** GitLab makes runner's own status a job of the pipeline, which then says nothing more than its jobs. */
function withoutOwn(type: HostApi['type'], pages: readonly CheckPage[]): SeenCheck[] {
  const isOwn = ({ name }: SeenCheck) => name.startsWith(OWN_CONTEXT);
  const [jobs] = pages;
  const counted = type === 'gitlab' && jobs?.checks.some(isOwn) ? [jobs] : pages;
  return counted.flatMap(({ checks }) => checks).filter((check) => !isOwn(check));
}

/** Reads a list; the host answers 304 if it is still the one that was seen. */
async function ask(api: HostApi, { path, read }: List, seen: CheckPage | undefined) {
  const first = await api.get(path, seen?.etag ? { 'if-none-match': seen.etag } : {});
  if (first.status === 304 && seen) return seen;
  const checks: SeenCheck[] = [];
  let answer = first;
  for (let number = 1; ; number += 1) {
    refuseOthers(api, answer);
    if (isDenied(answer)) {
      const said = api.said(answer);
      throw new Failure(
        'token_invalid',
        `the token may not read the checks of ${path.split('?')[0]} (${answer.status}${said ? `: ${said}` : ''})${isFineGrained(said) ? ': GitHub lets no fine-grained token read checks, use a GitHub App' : ''}`,
      );
    }
    const body: unknown = orElse(() => JSON.parse(answer.body), undefined);
    checks.push(...read(body));
    const next = nextPage(path, number, body, answer.headers);
    if (next === undefined) break;
    if (number === PAGES_MAX)
      throw new Failure('code_host_error', `the commit has more than ${checks.length} checks`);
    answer = await api.get(next);
  }
  const isWhole = answer === first;
  const etag = isWhole ? first.headers.etag : undefined;
  return { checks, ...(etag !== undefined && { etag }) };
}

/** GitHub offers no permission for checks to a fine-grained token, and refuses it in these words. */
const isFineGrained = (said: string) => /not accessible by personal access token/i.test(said);

/** Where the list continues: as the host says, in the body or in a header. */
export function nextPage(
  path: string,
  number: number,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): string | undefined {
  if (isObject(body) && typeof body.next === 'string') return body.next;
  const link = /(?:^|,)\s*<([^>]+)>;[^,]*\brel="next"/.exec(headers.link ?? '')?.[1];
  if (link !== undefined) return link;
  if (/^\d+$/.test(headers['x-next-page'] ?? '')) return `${path}&page=${headers['x-next-page']}`;
  // Its combined status has no link, and the total in it is that of the page.
  const { length } = isObject(body) && Array.isArray(body.statuses) ? body.statuses : [];
  const isFull = length >= GITEA_PAGE || Number(headers['x-total-count']) > number * length;
  if (path.includes('?limit=') && length > 0 && isFull) return `${path}&page=${number + 1}`;
  const total = isObject(body) && typeof body.total_count === 'number' ? body.total_count : 0;
  return total > number * PER_PAGE ? `${path}&page=${number + 1}` : undefined;
}

/** One list of a host: where it is, and what its entries mean. */
interface List {
  readonly path: string;
  readonly read: (body: unknown) => readonly SeenCheck[];
}

/** The lists of a commit: at most two. */
function listsOf(type: HostApi['type'], repo: string, commit: string): readonly List[] {
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
      return [{ path: `${commitAt}/status?limit=${GITEA_PAGE}`, read: combinedStatus }];
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
