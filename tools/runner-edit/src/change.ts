/** Changing an app, under the registry's lock. */

import { changeApp } from '@runner/common/apps/change';
import type { AppState, TagRule } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { followedBy, isFollowGiven } from '@runner/common/cli/follow';
import { codeHostsOf } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { placeOfRepo } from '@runner/common/config/repo-place';
import { usage } from '@runner/common/foundation/failure';
import { digestOf, fingerprintOf, type Secret } from '@runner/common/secrets/secret';
import { sealingKeys, tokenFrom } from '@runner/common/tokens/borrow';
import { readToken } from '@runner/common/tokens/input';
import { hasTwoLayers, seal } from '@runner/common/tokens/vault';

/** What `edit` prints; `fingerprint` is null when the token was not changed. */
export interface Edited {
  app: string;
  /** Name of the code host; absent for `default`. */
  host?: string;
  repo: string;
  branch: string;
  tags?: TagRule | undefined;
  paths?: string[] | undefined;
  fingerprint: string | null;
}

/** The options that a change reads. */
export interface Changes {
  token: string | undefined;
  'token-file': string | undefined;
  'token-from': string | undefined;
  public: boolean;
  ckey: boolean;
  repo: string | undefined;
  branch: string | undefined;
  tags: string | undefined;
  semver: string | undefined;
  paths: string | undefined;
}

type EditContext = Pick<Context, 'io' | 'paths' | 'note'> & {
  readonly options: Changes;
  readonly args: { readonly app: string };
};

/** Throws `app_not_found`, `name_invalid`, `token_invalid`, `token_source_…`, `usage`. */
export async function change(context: EditContext): Promise<Edited> {
  const { io, paths, options, args } = context;
  const given = options.token ?? options['token-file'] ?? options['token-from'];
  if (
    given === undefined &&
    !options.public &&
    options.repo === undefined &&
    !isFollowGiven(options)
  ) {
    throw usage(
      'the following required arguments were not provided: <--token <TOKEN>|--token-file <FILE>|--token-from <APP>|--public|--repo <OWNER/NAME>|--branch <BRANCH>|--tags <PATTERN>|--semver <RANGE>|--paths <PATHS>>',
    );
  }
  if (options.ckey && given === undefined) {
    throw usage(
      'the following required arguments were not provided: <--token <TOKEN>|--token-file <FILE>|--token-from <APP>>',
    );
  }
  const known = requireApp(paths, args.app);
  const { app } = known;
  const where =
    options.repo === undefined
      ? undefined
      : placeOfRepo(options.repo, () => codeHostsOf(readConfig(paths), io.env));
  const followed = isFollowGiven(options) ? await followedBy(options, known) : undefined;
  const token = given === undefined ? undefined : newToken(context);
  const changed = changeApp(paths, io, 'edit', app, ({ host, ...now }) => ({
    ...now,
    ...(where ?? (host !== undefined && { host })),
    ...followed,
    ...((where !== undefined || followed) && { head: undefined }),
    state: stateWith(context, now, token),
  }));
  const fingerprint = token ? fingerprintOf(digestOf(token)) : null;
  const { host, repo, branch, tags, paths: only } = changed;
  return { app, ...(host !== undefined && { host }), repo, branch, tags, paths: only, fingerprint };
}

function newToken({ io, paths, options, note }: EditContext): Secret | undefined {
  const source = options['token-from'];
  return source === undefined
    ? readToken(io, { ...options, note }, 'New token (hidden)')
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
    repohost_token_fingerprint: __,
    ...rest
  } = app.state;
  if (!token) return rest;
  const twoLayers = options.ckey || hasTwoLayers(before ?? '');
  return { ...rest, repohost_token: seal(token, app.app, sealingKeys(io, paths), twoLayers) };
}
