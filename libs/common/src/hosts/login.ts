/** How a stored token is presented to git and to the API of each type of code host. */
import type { HostType } from '../config/code-hosts.ts';
import { Secret } from '../secrets/secret.ts';
import { appKeyOf } from '../tokens/app-key.ts';

/** User name and password of git over https. */
export interface Login {
  readonly user: string;
  readonly password: Secret;
}

/** The user name beside a token. */
const USER: Readonly<Record<HostType, string>> = {
  github: 'x-access-token',
  gitlab: 'oauth2',
  gitea: 'oauth2',
  // A token of a repository, project or workspace.
  bitbucket: 'x-token-auth',
  git: 'git',
};

/** A token as the user stored it: alone, or `user:token` where the host wants both. */
export function loginOf(type: HostType, token: Secret): Login {
  const text = token.reveal();
  const at = type === 'github' ? -1 : text.indexOf(':');
  if (at === -1) return { user: USER[type], password: token };
  // An API token of Bitbucket has its owner's mail address for the API, and a fixed user for git.
  const user = type === 'bitbucket' ? 'x-bitbucket-api-token-auth' : text.slice(0, at);
  return { user, password: new Secret(text.slice(at + 1)) };
}

/** The header `Authorization` of a request to the API. */
export function authorizationOf(type: HostType, token: Secret): string {
  const text = token.reveal();
  if (type === 'gitea') return `token ${loginOf(type, token).password.reveal()}`;
  if (type === 'bitbucket' && text.includes(':'))
    return `Basic ${Buffer.from(text, 'utf8').toString('base64')}`;
  return `Bearer ${text}`;
}

/** Whether an API can be asked about a token: not for `git`, nor with a deploy token of GitLab. */
export function hasApi(type: HostType, token: Secret): boolean {
  if (type === 'git') return false;
  return type !== 'gitlab' || !token.reveal().includes(':');
}

/** A token and the password in it: each must be redacted. */
export function formsOf(token: Secret | undefined): Secret[] {
  if (!token) return [];
  const text = token.reveal();
  const app = appKeyOf(token);
  if (app) return [token, new Secret(app.key.toString('base64'))];
  const at = text.indexOf(':');
  return at === -1 ? [token] : [token, new Secret(text.slice(at + 1))];
}
