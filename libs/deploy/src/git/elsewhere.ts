/**
 * Repositories of submodules: on the app's own host with its token, on another one with that of the app
 * which an operator named for this repository, or without a token.
 */
import { findApp } from '@runner/common/apps/store';
import {
  type CodeHost,
  codeHostsOf,
  DEFAULT_HOST,
  submoduleTokensFrom,
} from '@runner/common/config/code-hosts';
import type { Config } from '@runner/common/config/file';
import { partsOf, placeAt } from '@runner/common/config/repo-place';
import { repoName } from '@runner/common/foundation/names';
import type { Server } from '@runner/common/foundation/paths';
import type { Secret } from '@runner/common/secrets/secret';
import { openToken } from '@runner/common/tokens/open';
import { sourceLogin } from './login.ts';
import type { Elsewhere } from './source.ts';

/** The app whose submodules are fetched. */
interface Home extends Server {
  readonly config: Config;
  readonly app: string;
  /** The host of the app. */
  readonly host: CodeHost;
  readonly token: Secret | undefined;
}

/** Makes `GitSource.elsewhere`. */
export function elsewhereFrom(home: Home): (address: string) => Elsewhere | undefined {
  return (address) => {
    const { io, config, host: own } = home;
    const others = codeHostsOf(config, io.env).filter(({ name }) => name !== own.name);
    const place = placeAt([own, ...others], address);
    if (!place) return undefined;
    const { host } = place;
    const repo = repoName(place.repo, partsOf(host));
    const isOwn = host === own;
    const token = isOwn ? home.token : allowedToken(home, host, repo);
    // What a token has fetched is not for a commit that gets none any more.
    const folder = isOwn ? '' : `${token ? '' : 'anonymous'}@${host.name}`;
    return { ...sourceLogin(io, host, token, repo), repo, folder };
  };
}

/** A commit chooses the address: without an operator's word it would read what other apps' tokens can. */
function allowedToken(home: Home, host: CodeHost, repo: string): Secret | undefined {
  const { io, paths, config } = home;
  const from = submoduleTokensFrom(config, home.app, repo).find(
    (app) => (findApp(paths, app)?.host ?? DEFAULT_HOST) === host.name,
  );
  return from === undefined ? undefined : openToken(paths, io.env, from);
}
