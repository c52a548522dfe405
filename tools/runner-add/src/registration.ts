/** Registering an app, under the registry's lock. */

import { changeRegistry } from '@runner/common/apps/change';
import { repoLabel } from '@runner/common/apps/following';
import type { AppState } from '@runner/common/apps/state';
import { createApp, newApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { type FollowValues, followedBy } from '@runner/common/cli/follow';
import { placeOfRepo, type RecordedPlace, sshNote } from '@runner/common/config/repo-place';
import { isThere, makeFolder } from '@runner/common/files/read';
import { Failure, notProvided, usage } from '@runner/common/foundation/failure';
import { appName, previewedApp } from '@runner/common/foundation/names';
import { requireSuits } from '@runner/common/hosts/suits';
import { digestOf, fingerprintOf, type Secret } from '@runner/common/secrets/secret';
import { type AppChoice, readAppKey, storedToken } from '@runner/common/tokens/app-key';
import { sealingKeys, tokenFrom } from '@runner/common/tokens/borrow';
import { readToken, type TokenChoice } from '@runner/common/tokens/input';
import { defaultBranch } from '@runner/deploy/git/open';
import { untilInterrupted } from '@runner/deploy/report/interruption';
import { offerHost } from './new-host.ts';

/** What `add` prints; `fingerprint` is null for an app without a token. */
export interface AddedApp
  extends Pick<AppState, 'app' | 'host' | 'repo' | 'branch' | 'tags' | 'paths' | 'created_at'> {
  fingerprint: string | null;
}

/** The options that registering reads. */
export interface Registration extends FollowValues, AppChoice, Omit<TokenChoice, 'note'> {
  /** Beside the argument, which means the same. */
  repo: string | undefined;
  'token-from': string | undefined;
  public: boolean;
  name: string | undefined;
  ckey: boolean;
}

type AddContext = Pick<Context, 'io' | 'paths' | 'note'> & {
  options: Registration;
  args: { repo: string | undefined };
};

/** Checks everything, prompts for the token if necessary, and writes the app's state file. */
export async function register(context: AddContext): Promise<AddedApp> {
  const { io, paths, options } = context;
  const address = repositoryOf(context);
  await offerHost(context, address);
  const where = await placeOfRepo(context, address);
  const sshWords = sshNote(address, where);
  if (sshWords !== undefined) context.note(sshWords);
  await requireSuits(context, where);
  const given = isBranchOpen(options) ? undefined : await followedBy(options);
  const app = appName(options.name ?? (where.repo.split('/').at(-1) as string));
  if (previewedApp(app) !== undefined)
    throw new Failure(
      'name_invalid',
      `'${app}' is the name of a preview: give another with --name`,
    );
  // The prompt comes before the lock, since a person may take a while, and after this check.
  if (isThere(paths.state(app)))
    throw new Failure('app_exists', `an app called '${app}' is registered already`);
  const token = tokenOf(context, repoLabel(where));
  const followed =
    given ?? (await followedBy({ ...options, branch: await branchOf(context, app, where, token) }));
  return changeRegistry({ io, paths, command: 'add' }, () => {
    const now = io.now().toISOString();
    const state = token ? storedToken(token, app, sealingKeys(io, paths), options.ckey) : {};
    createApp(paths, newApp(app, now, { ...where, ...followed, state }));
    makeFolder(paths.app(app).dir);
    const fingerprint = token ? fingerprintOf(digestOf(token)) : null;
    return { app, ...where, ...followed, fingerprint, created_at: now };
  });
}

function repositoryOf({ options, args }: AddContext): string {
  const [one, other] = [args.repo, options.repo];
  if (one !== undefined && other !== undefined)
    throw usage("the argument '[REPO]' cannot be used with '--repo <OWNER/NAME>'");
  const address = one ?? other;
  if (address === undefined) throw notProvided('<REPO>');
  return address;
}

/** Whether the code host decides what is followed. */
function isBranchOpen({ branch, tags, semver }: Registration): boolean {
  return branch === undefined && tags === undefined && semver === undefined;
}

/** The default branch of the repository. Throws what asking the code host throws. */
function branchOf(
  { io, paths }: AddContext,
  app: string,
  place: RecordedPlace,
  token: Secret | undefined,
): Promise<string> {
  return untilInterrupted(io, (signal) => defaultBranch({ io, paths, app, place, token, signal }));
}

/** Undefined for an app without a token. */
function tokenOf({ io, paths, options, note }: AddContext, repo: string): Secret | undefined {
  if (options.public) return undefined;
  const source = options['token-from'];
  if (source !== undefined) return tokenFrom(io, paths, source);
  const token =
    readAppKey(io, options) ?? readToken(io, { ...options, note }, `Token for ${repo} (hidden)`);
  if (token) return token;
  throw notProvided('<--token <TOKEN>|--token-file <FILE>|--token-from <APP>|--public>');
}
