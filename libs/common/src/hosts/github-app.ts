/** Acting as a GitHub App: a token for one repository, which lasts an hour and is never stored. */

import { sign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CodeHost } from '../config/code-hosts.ts';
import { Failure } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import type { HttpAnswer } from '../http/request.ts';
import { Secret } from '../secrets/secret.ts';
import { isObject, type JsonObject, jsonObject } from '../text/json.ts';
import type { AppKey } from '../tokens/app-key.ts';
import { type HostApi, hostApi, isDenied, refuseOthers } from './api.ts';
import { onlyGitHub } from './suits.ts';

/** GitHub accepts at most ten minutes; a minute before now allows for a clock that is ahead. In s. */
const VALID = 540;
const BEFORE = 60;
/** Wait before retrying after a server error of GitHub, in ms. */
const AGAIN = 1000;

type AppClock = Pick<Io, 'env' | 'now'>;

/** The API as the App itself. */
export function appApi(host: CodeHost, app: AppKey, io: AppClock): HostApi {
  if (host.type !== 'github') throw onlyGitHub(host);
  const token = new Secret(webToken(app, io.now()));
  return hostApi(host, { token, authorization: `Bearer ${token.reveal()}`, env: io.env });
}

/** A JSON Web Token, RS256. */
function webToken({ id, key }: AppKey, now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const payload = { iat: seconds - BEFORE, exp: seconds + VALID, iss: id };
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(payload)}`;
  const privateKey = { key, format: 'der', type: 'pkcs8' } as const;
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
}

/** Makes a token for one repository. Throws `token_invalid`, `repo_not_found`, `network_error`, … */
export async function installationToken(host: CodeHost, app: AppKey, repo: string, io: AppClock) {
  const api = appApi(host, app, io);
  const found = await patient(() => api.get(`/repos/${repo}/installation`));
  if (found.status === 404)
    throw new Failure('repo_not_found', `the GitHub App ${app.id} is not installed for ${repo}`);
  const { id } = read(api, app, found);
  const repositories = [repo.split('/').at(-1)];
  const path = `/app/installations/${id}/access_tokens`;
  const made = read(api, app, await patient(() => api.post(path, { repositories })));
  if (typeof made.token !== 'string')
    throw new Failure('code_host_error', 'the code host did not answer with a token');
  const rights = isObject(made.permissions) ? Object.entries(made.permissions) : [];
  return {
    token: new Secret(made.token),
    /** Such as `contents:read`. */
    permissions: rights.map(([name, level]) => `${name}:${level}`),
  };
}

/** An error of GitHub's own is often over at once. */
async function patient(ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  const answer = await ask();
  if (answer.status < 500) return answer;
  await sleep(AGAIN);
  return ask();
}

function read(api: HostApi, { id }: AppKey, answer: HttpAnswer): JsonObject {
  refuseOthers(api, answer);
  if (!isDenied(answer)) return jsonObject(answer.body) ?? {};
  const said = api.said(answer);
  throw new Failure(
    'token_invalid',
    `the code host refused the key of the GitHub App ${id} (${answer.status}${said ? `: ${said}` : ''})`,
  );
}
