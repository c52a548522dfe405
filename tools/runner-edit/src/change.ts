/** Changing an app, under the registry's lock. */

import { changeApp } from '@runner/common/apps/change';
import type { RequiredChecks } from '@runner/common/apps/checks';
import { type OperatorFileUse, operatorFileOf } from '@runner/common/apps/operator-file';
import type { AcceptedCommit, RequireSigned } from '@runner/common/apps/signed';
import type { AppState } from '@runner/common/apps/state';
import { requireOwnApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { type FollowValues, followedBy, isFollowGiven } from '@runner/common/cli/follow';
import { codeHostOf } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { placeOfRepo } from '@runner/common/config/repo-place';
import { isThere } from '@runner/common/files/read';
import { Failure, invalidValue, notProvided } from '@runner/common/foundation/failure';
import { requireSuits } from '@runner/common/hosts/suits';
import { digestOf, fingerprintOf, type Secret } from '@runner/common/secrets/secret';
import { type AppChoice, readAppKey, storedToken } from '@runner/common/tokens/app-key';
import { sealingKeys, tokenFrom } from '@runner/common/tokens/borrow';
import { readToken, type TokenChoice } from '@runner/common/tokens/input';
import { hasTwoLayers } from '@runner/common/tokens/vault';
import { deployFileFrom, type FileValues, isFileGiven } from './deploy-file.ts';

/** What `edit` prints; `fingerprint` is null when the token was not changed. */
export interface Edited
  extends Pick<AppState, 'app' | 'host' | 'repo' | 'branch' | 'tags' | 'paths'> {
  require_checks?: RequiredChecks | undefined;
  /** Whose commits need a signature; null: none. */
  require_signed: RequireSigned | null;
  fingerprint: string | null;
  /** The operator's `.deploy.yml`: for commits without one, for every commit; null without it. */
  deploy_file: OperatorFileUse;
}

/** The options that a change reads. */
export interface EditOptions
  extends FollowValues,
    FileValues,
    AppChoice,
    Omit<TokenChoice, 'note'> {
  'token-from': string | undefined;
  public: boolean;
  ckey: boolean;
  repo: string | undefined;
  'require-checks': string | undefined;
  'require-signed': string | undefined;
}

/** Longest name of a check. */
const CHECK_NAME_MAX = 200;

type EditContext = Pick<Context, 'io' | 'paths' | 'note'> & {
  readonly options: EditOptions;
  readonly args: { readonly app: string };
};

/** Throws `app_not_found`, `name_invalid`, `token_invalid`, `token_source_…`, `usage`. */
export async function change(context: EditContext): Promise<Edited> {
  const { io, paths, options, args } = context;
  const given =
    options.token ??
    options['token-file'] ??
    options['token-from'] ??
    options['app-id'] ??
    options['app-key-file'];
  if (
    given === undefined &&
    !options.public &&
    options.repo === undefined &&
    !isFollowGiven(options) &&
    options['require-checks'] === undefined &&
    options['require-signed'] === undefined &&
    !isFileGiven(options)
  ) {
    throw notProvided(
      '<--token <TOKEN>|--token-file <FILE>|--token-from <APP>|--public|--repo <OWNER/NAME>|--branch <BRANCH>|--tags <PATTERN>|--semver <RANGE>|--paths <PATHS>|--require-checks <CHECKS>|--require-signed <head|strict|off>|--deploy-file <FILE>>',
    );
  }
  if (options.ckey && given === undefined) {
    throw notProvided('<--token <TOKEN>|--token-file <FILE>|--token-from <APP>>');
  }
  const known = requireOwnApp(paths, args.app);
  const { app } = known;
  const where = options.repo === undefined ? undefined : await placeOfRepo(context, options.repo);
  const keeper = given === undefined && !options.public ? app : undefined;
  await requireSuits(context, where ?? known, keeper);
  const followed = isFollowGiven(options) ? await followedBy(options, known) : undefined;
  const checks = requiredFrom(options['require-checks']);
  if (checks !== undefined && checks !== 'none') await requireApi(context, where ?? known);
  const signed = await signedFrom(context);
  const readFile = deployFileFrom(context);
  const token = given === undefined ? undefined : newToken(context);
  const changed = changeApp({ io, paths, command: 'edit', app }, (before) => {
    const { host, require_checks, ...now } = before;
    const next: AppState = {
      ...now,
      // 0.1.0 reads it again when what it would misread is gone; secrets it would leave out.
      version: isThere(paths.secrets(app)) ? now.version : 1,
      ...(where ?? (host !== undefined && { host })),
      ...followed,
      ...withChecks(checks ?? require_checks),
      ...signed,
      ...readFile?.(before),
      state: stateWith(context, now, token),
    };
    return sourceWords(next) === sourceWords(before) ? next : { ...next, head: undefined };
  });
  const fingerprint = token ? fingerprintOf(digestOf(token)) : null;
  const { host, repo, branch, tags, paths: only, require_checks } = changed;
  const deploy_file = operatorFileOf(changed);
  const hosted = host === undefined ? {} : { host };
  const source = { ...hosted, repo, branch, tags, paths: only };
  const { require_signed = null } = changed;
  return { app, ...source, require_checks, require_signed, deploy_file, fingerprint };
}

/** What decides which commit is the head. */
function sourceWords({ host, repo, branch, tags, paths }: AppState): string {
  return JSON.stringify([host, repo, branch, tags?.pattern, tags?.semver, paths]);
}

/** `all`, a list of names, or `none`; undefined without the option. */
function requiredFrom(text: string | undefined): RequiredChecks | 'none' | undefined {
  if (text === undefined) return undefined;
  if (text === 'all' || text === 'none') return text;
  const names = text.split(',').map((name) => name.trim());
  const isName = (name: string) =>
    !['', 'all', 'none'].includes(name) && name.length <= CHECK_NAME_MAX;
  if (names.every(isName)) return names;
  throw invalidValue(
    text.slice(0, 80),
    '--require-checks <CHECKS>',
    'give all, none, or names separated by commas',
  );
}

/** Throws `not_configured` for a host that knows no checks. */
async function requireApi({ io, paths }: EditContext, { host }: { host?: string }): Promise<void> {
  const { type, name } = codeHostOf(readConfig(paths), io.env, host);
  if (type !== 'git') return;
  throw new Failure('not_configured', `the code host ${name} has type git, which has no checks`);
}

/** What the option changes in a state. Throws `signers_invalid`, `usage`. */
async function signedFrom({
  paths,
  options: { 'require-signed': given },
}: EditContext): Promise<{ require_signed?: RequireSigned; accepted?: AcceptedCommit }> {
  if (given === undefined) return {};
  const none = { require_signed: undefined, accepted: undefined };
  if (given === 'off') return none as object;
  if (given !== 'head' && given !== 'strict')
    throw invalidValue(
      given.slice(0, 80),
      '--require-signed <head|strict|off>',
      'give head, strict or off',
    );
  const { readSigners } = await import('@runner/deploy/signed/signers');
  readSigners(paths);
  return { require_signed: given };
}

const withChecks = (checks: RequiredChecks | 'none' | undefined) =>
  checks === undefined || checks === 'none' ? {} : { require_checks: checks };

function newToken({ io, paths, options, note }: EditContext): Secret | undefined {
  const source = options['token-from'];
  return source === undefined
    ? (readAppKey(io, options) ?? readToken(io, { ...options, note }, 'New token (hidden)'))
    : tokenFrom(io, paths, source);
}

/** A second layer (ckey) is kept. */
function stateWith(
  { io, paths, options }: EditContext,
  app: AppState,
  token: Secret | undefined,
): AppState['state'] {
  if (!token && !options.public) return app.state;
  // When the old token ends no longer matters.
  const {
    repohost_token: before,
    repohost_token_ends: _,
    github_app: ___,
    repohost_token_fingerprint: __,
    ...rest
  } = app.state;
  if (!token) return rest;
  const twoLayers = options.ckey || hasTwoLayers(before ?? '');
  return { ...rest, ...storedToken(token, app.app, sealingKeys(io, paths), twoLayers) };
}
