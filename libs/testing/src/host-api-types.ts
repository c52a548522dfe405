/** What a stand-in for the API of a code host knows, is asked and answers. */
import type { Loopback } from './loopback.ts';

export type ApiType = 'github' | 'gitlab' | 'gitea' | 'bitbucket';

/** What a host knows about a token. */
export interface ApiToken {
  /** The account; absent: of a project, a repository or an App. */
  readonly login?: string;
  readonly scopes?: readonly string[];
  /** As the host writes it: a time of GitHub, a day of GitLab. */
  readonly expires?: string;
  /** Of an email:token pair of Bitbucket. */
  readonly email?: string;
  /** It may only read this repository, and not its account. */
  readonly repo?: string;
}

/** A check of a commit, in the words of its host. */
export interface ApiCheck {
  readonly name: string;
  readonly status: string;
  /** GitHub: of a completed check run; absent: it is a commit status. */
  readonly conclusion?: string | null;
}

/** What was posted about a commit, a deployment or its status. */
export interface ApiPost {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

/** A pull request. */
export interface FakePull {
  readonly number: number;
  isOpen: boolean;
  branch: string;
  commit: string;
  readonly isFork: boolean;
  labels: string[];
  readonly created: string;
  updated: string;
  /** In order: pushes, forced or not, and labels. */
  readonly events: { kind: string; at: string; by: string; label: string; commit: string }[];
}

/** What a host knows of them. */
export interface PullHost {
  readonly pulls: Map<number, FakePull>;
  readonly comments: { id: number; number: number; text: string; edits: number }[];
  readonly deployments: { id: number; environment: string; ref: string; state: string }[];
  /** Who may write to the repository: names, for GitLab ids. */
  readonly writers: Set<string>;
  /** Entries of one page at most. */
  perPage: number;
  /** Milliseconds; moves when a test says so. */
  clock: number;
  open(pull: Pick<FakePull, 'number' | 'branch' | 'commit'> & { isFork?: boolean }): FakePull;
  push(number: number, commit: string, isForced?: boolean): void;
  label(number: number, label: string, by: string, isOn?: boolean): void;
  set(number: number, isOpen: boolean): void;
}

/** A started API. The route for faults is `<method> <last part of the path>`. */
export interface HostApiServer extends Loopback {
  readonly type: ApiType;
  /** With the path under which the host serves its API. */
  readonly apiUrl: string;
  readonly tokens: Map<string, ApiToken>;
  /** Of each commit. */
  readonly checks: Map<string, ApiCheck[]>;
  /** State of the pipelines of each commit, of GitLab. */
  readonly pipelines: Map<string, string>;
  readonly posts: ApiPost[];
  /** Without one, nothing is known of pull requests. */
  readonly pulls: PullHost;
  /** A GitHub App, by its id. */
  installApp(id: string, publicKey: string, repo: string): void;
  /** The tokens that were made for Apps, newest last. */
  readonly minted: string[];
}

export interface GitHubApp {
  readonly publicKey: string;
  readonly repo: string;
}

/** One request, as a route sees it. */
export interface ApiCall {
  readonly method: string;
  /** Without the prefix of the API and without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: ApiToken | undefined;
  /** The id of the App that signed the request. */
  readonly app: string | undefined;
  readonly body: Record<string, unknown>;
  readonly host: HostApiServer;
  readonly apps: ReadonlyMap<string, GitHubApp>;
}

/** Status, body and headers. */
export type ApiAnswer = readonly [number, unknown, Readonly<Record<string, string>>?];
