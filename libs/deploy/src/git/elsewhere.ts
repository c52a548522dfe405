/** Repositories of submodules: on the app's own host with its token, or on another with one of that host. */
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import { type CodeHost, codeHostsOf, DEFAULT_HOST } from '@runner/common/config/code-hosts';
import type { Config } from '@runner/common/config/file';
import { partsOf, placeAt } from '@runner/common/config/repo-place';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import { repoName } from '@runner/common/foundation/names';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { digestOf, type Secret } from '@runner/common/secrets/secret';
import { openToken } from '@runner/common/tokens/open';
import { sourceLogin } from './login.ts';
import type { Elsewhere } from './source.ts';

/** The app whose submodules are fetched. */
interface Home extends Server {
  readonly config: Config;
  /** The host of the app. */
  readonly host: CodeHost;
  readonly token: Secret | undefined;
}

/** Makes `GitSource.elsewhere`. */
export function elsewhereFrom(home: Home): (address: string) => Elsewhere | undefined {
  return (address) => {
    const { io, paths, config, host: own } = home;
    const { env } = io;
    const others = codeHostsOf(config, env).filter(({ name }) => name !== own.name);
    const place = placeAt([own, ...others], address);
    if (!place) return undefined;
    const { host } = place;
    const repo = repoName(place.repo, partsOf(host));
    const isOwn = host === own;
    const token = isOwn ? home.token : tokenFor(paths, env, host, repo);
    const folder = isOwn ? '' : `@${host.name}`;
    return { ...sourceLogin(io, host, token, repo), repo, folder };
  };
}

/**
 * The token of another host: of `token_from`, of the app with that repository, or the only one that apps
 * have there. Throws `submodule_unsupported` if apps have several.
 */
function tokenFor(paths: Paths, env: Env, host: CodeHost, repo: string): Secret | undefined {
  if (host.tokenFrom !== undefined) return openToken(paths, env, host.tokenFrom);
  const onHost = ({ host: name = DEFAULT_HOST }: AppState) => name === host.name;
  const apps = listApps(paths).apps.filter(onHost);
  const exact = apps.find((app) => app.repo === repo);
  if (exact) return openToken(paths, env, exact.app);
  const tokens = apps.flatMap(({ app }) => openToken(paths, env, app) ?? []);
  const distinct = new Map(tokens.map((token) => [digestOf(token), token]));
  if (distinct.size < 2) return tokens[0];
  throw new Failure(
    'submodule_unsupported',
    `the apps on the code host ${host.name} have ${distinct.size} tokens: for the submodule ${repo}, set code_hosts.${host.name}.token_from in config.yml`,
  );
}
