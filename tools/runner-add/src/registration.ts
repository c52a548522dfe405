/** Registering an app, under the registry's lock. */

import { changeRegistry } from '@runner/common/apps/change';
import { repoLabel } from '@runner/common/apps/following';
import type { AppState } from '@runner/common/apps/state';
import { createApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { type FollowValues, followedBy } from '@runner/common/cli/follow';
import { placeOfRepo, sshNote } from '@runner/common/config/repo-place';
import { isThere } from '@runner/common/files/read';
import { Failure, notProvided } from '@runner/common/foundation/failure';
import { appName } from '@runner/common/foundation/names';
import { requireSuits } from '@runner/common/hosts/suits';
import { digestOf, fingerprintOf, type Secret } from '@runner/common/secrets/secret';
import { type AppChoice, readAppKey, storedToken } from '@runner/common/tokens/app-key';
import { sealingKeys, tokenFrom } from '@runner/common/tokens/borrow';
import { readToken, type TokenChoice } from '@runner/common/tokens/input';

/** What `add` prints; `fingerprint` is null for an app without a token. */
export interface AddedApp
  extends Pick<AppState, 'app' | 'host' | 'repo' | 'branch' | 'tags' | 'paths' | 'created_at'> {
  fingerprint: string | null;
}

/** The options that registering reads. */
export interface Registration extends FollowValues, AppChoice, Omit<TokenChoice, 'note'> {
  repo: string;
  'token-from': string | undefined;
  public: boolean;
  name: string | undefined;
  ckey: boolean;
}

type AddContext = Pick<Context, 'io' | 'paths' | 'note'> & { options: Registration };

/** Checks everything, prompts for the token if necessary, and writes the app's state file. */
export async function register(context: AddContext): Promise<AddedApp> {
  const { io, paths, options } = context;
  const where = await placeOfRepo(context, options.repo);
  const sshWords = sshNote(options.repo, where);
  if (sshWords !== undefined) context.note(sshWords);
  await requireSuits(context, where);
  const followed = await followedBy(options);
  const app = appName(options.name ?? (where.repo.split('/').at(-1) as string));
  // The prompt comes before the lock, since a person may take a while, and after this check.
  if (isThere(paths.state(app)))
    throw new Failure('app_exists', `an app called '${app}' is registered already`);
  const given =
    options.public || options['token-from'] ? undefined : tokenOf(context, repoLabel(where));
  return changeRegistry({ io, paths, command: 'add' }, () => {
    const source = options['token-from'];
    const token = source === undefined ? given : tokenFrom(io, paths, source);
    const now = io.now().toISOString();
    const state: AppState = {
      version: 1,
      app,
      ...where,
      ...followed,
      created_at: now,
      updated_at: now,
      state: token ? storedToken(token, app, sealingKeys(io, paths), options.ckey) : {},
      instances: {},
      failures: null,
      held: null,
      deploying: null,
      last_checked: null,
    };
    createApp(paths, state);
    const fingerprint = token ? fingerprintOf(digestOf(token)) : null;
    return { app, ...where, ...followed, fingerprint, created_at: now };
  });
}

function tokenOf({ io, options, note }: AddContext, repo: string): Secret {
  const token =
    readAppKey(io, options) ?? readToken(io, { ...options, note }, `Token for ${repo} (hidden)`);
  if (token) return token;
  throw notProvided('<--token <TOKEN>|--token-file <FILE>|--token-from <APP>|--public>');
}
