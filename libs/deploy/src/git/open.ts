/** Opening the repository of an app, and those of its submodules: their addresses and tokens. */
import { openSecrets, secretsToRedact } from '@runner/common/app-secrets/open';
import type { AppState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { chatSecretsOf } from '@runner/common/config/chat-credentials';
import {
  type CodeHost,
  codeHostOf,
  codeHostsOf,
  DEFAULT_HOST,
  submoduleTokensFrom,
} from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { partsOf, placeAt, type RecordedPlace } from '@runner/common/config/repo-place';
import { makeFolder } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { repoName } from '@runner/common/foundation/names';
import type { Server } from '@runner/common/foundation/paths';
import { installationToken } from '@runner/common/hosts/github-app';
import { formsOf, loginOf } from '@runner/common/hosts/login';
import { redactor } from '@runner/common/secrets/redactor';
import type { Secret } from '@runner/common/secrets/secret';
import { appKeyOf } from '@runner/common/tokens/app-key';
import { keyLines } from '@runner/common/tokens/key-file';
import { openToken } from '@runner/common/tokens/open';
import { gitFailure } from './failure.ts';
import { gitIn } from './git.ts';
import { atAddress } from './remote.ts';
import type { Elsewhere, GitSource } from './source.ts';

/** What opening a source needs. */
export interface SourceRequest extends Server {
  readonly signal: AbortSignal;
}

/** The repository of an app, its secrets, and a function that redacts them. */
export function sourceOf({ io, paths, signal }: SourceRequest, app: AppState) {
  const config = readConfig(paths);
  const { env } = io;
  const host = codeHostOf(config, env, app.host);
  const token = openToken(paths, env, app.app);
  // A commit chooses the address: without an operator's word it would read what other apps' tokens can.
  const allowedToken = (at: CodeHost, repo: string) => {
    const from = submoduleTokensFrom(config, app.app, repo).find(
      (each) => (findApp(paths, each)?.host ?? DEFAULT_HOST) === at.name,
    );
    return from === undefined ? undefined : openToken(paths, env, from);
  };
  const elsewhere = (address: string): Elsewhere | undefined => {
    const others = codeHostsOf(config, env).filter(({ name }) => name !== host.name);
    const place = placeAt([host, ...others], address);
    if (!place) return undefined;
    const repo = repoName(place.repo, partsOf(place.host));
    const isOwn = place.host === host;
    const login = isOwn ? token : allowedToken(place.host, repo);
    // What a token has fetched is not for a commit that gets none any more.
    const folder = isOwn ? '' : `${login ? '' : 'anonymous'}@${place.host.name}`;
    return { ...sourceLogin(io, place.host, login, repo), repo, folder };
  };
  const source: GitSource = {
    ...sourceLogin(io, host, token, app.repo),
    io,
    app: app.app,
    repo: app.repo,
    branch: app.branch,
    tags: app.tags,
    mirror: paths.app(app.app).repo,
    signal,
    compare: (from, to) => compareLink(host, app.repo, from, to),
    elsewhere,
  };
  // A step runs as the same user, who can read all of these.
  const secrets = openSecrets(paths, io.env, app.app);
  const toHide = [
    ...keyLines(paths, io.env),
    ...chatSecretsOf(config),
    ...secretsToRedact(secrets, paths.root),
    ...formsOf(token),
  ];
  return { source, secrets, redact: redactor(toHide) };
}

/** How git logs in at a code host: with the stored token, or with one that is made for a GitHub App. */
export function sourceLogin(io: Io, host: CodeHost, token: Secret | undefined, repo: string) {
  const { gitUrl } = host;
  const none = { gitUrl, gitUser: '', token: undefined, mint: undefined };
  if (!token) return none;
  const app = appKeyOf(token);
  if (!app) {
    const { user, password } = loginOf(host.type, token);
    return { ...none, gitUser: user, token: password };
  }
  let made: Promise<Secret> | undefined;
  const mint = () => {
    made ??= installationToken(host, app, repo, io).then((installation) => installation.token);
    return made;
  };
  return { ...none, gitUser: 'x-access-token', mint };
}

/** The page of a code host that compares two commits; undefined for a host whose pages are not known. */
export function compareLink({ type, gitUrl }: CodeHost, repo: string, from: string, to: string) {
  const page = `${gitUrl}/${repo}`;
  if (type === 'git') return undefined;
  if (type === 'gitlab') return `${page}/-/compare/${from}...${to}`;
  if (type === 'bitbucket') return `${page}/branches/compare/${to}%0D${from}#diff`;
  return `${page}/compare/${from}...${to}`;
}

/** For the question which branch is the default one, in milliseconds. */
const TIMEOUT = 30_000;

/** What asking needs: an app that is about to be registered. */
interface BranchQuestion extends Server {
  readonly app: string;
  readonly place: RecordedPlace;
  readonly token: Secret | undefined;
  readonly signal: AbortSignal;
}

/** The default branch, as the code host says before an app is registered. Throws `token_invalid`, `repo_not_found`, `branch_not_found`, `network_error`, … */
export async function defaultBranch(question: BranchQuestion): Promise<string> {
  const { io, paths, app, place, token, signal } = question;
  const host = codeHostOf(readConfig(paths), io.env, place.host);
  const source: GitSource = {
    ...sourceLogin(io, host, token, place.repo),
    io,
    app,
    repo: place.repo,
    branch: '',
    // There is none yet; git runs in the folder above it.
    mirror: `${paths.root}/none`,
    signal,
    compare: () => undefined,
    elsewhere: () => undefined,
  };
  makeFolder(paths.root);
  const options = { source, cwd: paths.root, outside: true, timeout: TIMEOUT };
  const { answer } = await atAddress(source, (at) =>
    gitIn(source, ['ls-remote', '--quiet', '--symref', '--end-of-options', at, 'HEAD'], options),
  );
  if (answer.status !== 0) throw gitFailure(source, answer);
  const [, branch] = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(answer.stdout.toString('utf8')) ?? [];
  if (branch !== undefined) return branch;
  throw new Failure(
    'branch_not_found',
    `the repository ${place.repo} names no default branch; is it empty? Give one with --branch <BRANCH>`,
  );
}
