/** Opens the API of an app's code host, with the app's token. */
import type { AppState } from '../apps/state.ts';
import { codeHostOf } from '../config/code-hosts.ts';
import { readConfig } from '../config/file.ts';
import { Failure } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import { appKeyOf } from '../tokens/app-key.ts';
import { openToken } from '../tokens/open.ts';
import { type HostApi, hostApi } from './api.ts';
import { installationToken } from './github-app.ts';
import { authorizationOf, hasApi } from './login.ts';

/** Throws `no_token_configured` without a token, or where the host or the token has no API. */
export async function openApi(
  { paths, io }: { paths: Paths; io: Pick<Io, 'env' | 'now'> },
  { app, host: name, repo }: Pick<AppState, 'app' | 'host' | 'repo'>,
  limit?: number,
): Promise<HostApi> {
  const { env } = io;
  const host = codeHostOf(readConfig(paths), env, name);
  const stored = openToken(paths, env, app);
  const key = stored && appKeyOf(stored);
  const token = key ? (await installationToken(host, key, repo, io)).token : stored;
  if (!token) throw new Failure('no_token_configured', `the app '${app}' has no token`);
  if (!hasApi(host.type, token)) {
    const why = `the code host ${host.name} has no API for the token of '${app}'`;
    throw new Failure('no_token_configured', why);
  }
  const access = { token, authorization: authorizationOf(host.type, token), env };
  return hostApi(host, limit === undefined ? access : { ...access, limit });
}
