/** The open pull requests of each type of host. */
import type { HostApi } from '@runner/common/hosts/api';
import { isObject, type JsonObject } from '@runner/common/text/json';
import { bad, bodyOf, listAll } from './pages.ts';

/** A pull request or branch that may become a preview. */
export interface PreviewCandidate {
  readonly key: string;
  readonly number?: number;
  readonly branch: string;
  /** Where the host has its head: of a fork too. */
  readonly ref: string;
  /** Of its head; empty if the host does not say. */
  readonly commit: string;
  /** When something of it changed, by the clock of the host. */
  readonly changed: string;
  /** undefined: the host has none. */
  readonly labels: readonly string[] | undefined;
  readonly isFork: boolean;
}

/** Candidates, and the time of the host; undefined: it does not say. */
export interface Listing {
  readonly candidates: readonly PreviewCandidate[];
  readonly date: string | undefined;
}

/** The path of a repository, or project, in the API. */
export function repoPath({ type }: Pick<HostApi, 'type'>, repo: string): string {
  if (type === 'gitlab') return `/projects/${encodeURIComponent(repo)}`;
  return type === 'bitbucket' ? `/repositories/${repo}` : `/repos/${repo}`;
}

const PULLS = {
  gitlab: 'merge_requests',
  bitbucket: 'pullrequests',
  github: 'pulls',
  gitea: 'pulls',
};

/** The path of one pull request, or of all. */
export function pullPath(api: Pick<HostApi, 'type'>, repo: string, number?: number): string {
  const { type } = api;
  const all = `${repoPath(api, repo)}/${PULLS[type === 'git' ? 'github' : type]}`;
  return number === undefined ? all : `${all}/${number}`;
}

const QUERIES = {
  github: 'state=open&sort=created&direction=asc&per_page=100',
  gitlab: 'state=opened&scope=all&order_by=created_at&sort=asc&per_page=100',
  gitea: 'state=open&sort=oldest&limit=50',
  bitbucket: 'state=OPEN&pagelen=50',
  git: '',
};

/** Lists the open pull requests. Throws what makes the list worth nothing. */
export async function openPulls(api: HostApi, repo: string): Promise<Listing> {
  const path = pullPath(api, repo);
  const { entries, date } = await listAll(api, `${path}?${QUERIES[api.type]}`);
  const candidates = entries.map((entry) => {
    const read = readPull(api.type, entry);
    if (!read) throw bad(path, 'has an entry that cannot be read');
    return read;
  });
  return { candidates, date };
}

/** Whether one is open: a list can miss what moved from one page to another. */
export async function isOpen(api: HostApi, repo: string, number: number): Promise<boolean> {
  const path = pullPath(api, repo, number);
  const answer = await api.get(path);
  if (answer.status === 404) return false;
  const body = bodyOf(api, answer, path);
  if (!isObject(body) || typeof body.state !== 'string') throw bad(path, 'has no state');
  return /^open(?:ed)?$/i.test(body.state);
}

const inner = (value: unknown): JsonObject => (isObject(value) ? value : {});
const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

function readPull(type: HostApi['type'], pull: JsonObject): PreviewCandidate | undefined {
  const [head, base] = [inner(pull.head ?? pull.source), inner(pull.base ?? pull.destination)];
  const changed = textOf(pull.updated_at ?? pull.updated_on);
  const names = Array.isArray(pull.labels) ? pull.labels : [];
  const given = names.map((each) => textOf(isObject(each) ? each.name : each));
  const labels = type === 'bitbucket' ? undefined : given;
  const about = (
    number: unknown,
    branch: unknown,
    commit: unknown,
  ): PreviewCandidate | undefined => {
    if (!Number.isSafeInteger(number) || Number(number) < 1 || Number.isNaN(Date.parse(changed)))
      return undefined;
    const id = Number(number);
    const ref = {
      gitlab: `refs/merge-requests/${id}/head`,
      bitbucket: `refs/heads/${branch}`,
      github: `refs/pull/${id}/head`,
    }[type === 'gitea' || type === 'git' ? 'github' : type];
    const isCommit = /^[0-9a-f]{12,64}$/.test(textOf(commit));
    const found = { ref, branch: textOf(branch), commit: isCommit ? textOf(commit) : '' };
    return { key: `pr-${id}`, number: id, changed, labels, ...found, isFork: true };
  };
  // What is not known to be of the repository itself is a fork's.
  const of = (read: PreviewCandidate | undefined, own: unknown, target: unknown) =>
    read && { ...read, isFork: own === undefined || own === null || own !== target };
  if (type === 'gitlab')
    return of(
      about(pull.iid, pull.source_branch, pull.sha),
      pull.source_project_id,
      pull.target_project_id,
    );
  if (type === 'bitbucket')
    return of(
      about(pull.id, inner(head.branch).name, inner(head.commit).hash),
      inner(head.repository).full_name,
      inner(base.repository).full_name,
    );
  // With AGit, anyone who may read can push to a pull request of Gitea: it names the repository as its own, and no branch.
  const isOfBranch = !textOf(head.ref).startsWith('refs/');
  const own = isOfBranch ? inner(head.repo).id : undefined;
  return of(about(pull.number, head.ref, head.sha), own, inner(base.repo).id);
}
