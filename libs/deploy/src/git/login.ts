/** How git logs in at a code host: with the stored token, or with one that is made for a GitHub App. */
import type { CodeHost } from '@runner/common/config/code-hosts';
import type { Io } from '@runner/common/foundation/io';
import { installationToken } from '@runner/common/hosts/github-app';
import { loginOf } from '@runner/common/hosts/login';
import type { Secret } from '@runner/common/secrets/secret';
import { appKeyOf } from '@runner/common/tokens/app-key';
import type { GitSource } from './source.ts';

/** What of a source is for its host. */
export type SourceLogin = Pick<GitSource, 'gitUrl' | 'gitUser' | 'token' | 'mint'>;

export function sourceLogin(
  io: Io,
  host: CodeHost,
  token: Secret | undefined,
  repo: string,
): SourceLogin {
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
