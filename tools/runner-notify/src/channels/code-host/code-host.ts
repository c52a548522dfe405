/**
 * The result of a deploy on its commit, at the code host of the app: `notify.commit_status`. The token is
 * that of the app, so each message may go to another host; what one refuses does not stop the others.
 */
import { requireTrustedApp } from '@runner/common/apps/store';
import { codeHostOf } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { failureIn, onFailure } from '@runner/common/foundation/attempt';
import type { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { type HostApi, refuseOthers } from '@runner/common/hosts/api';
import { openApi } from '@runner/common/hosts/open';
import type { HttpAnswer } from '@runner/common/http/request';
import { jsonObject } from '@runner/common/text/json';
import type { Channel, Rate, SendOutcome } from '../../service/contract.ts';
import { type Call, delayOf, problemOf, unreached } from '../../service/exchange.ts';
import { type At, type CommitPost, postTo } from './message.ts';

/** GitHub allows 80 content-creating requests per minute. */
const RATES: readonly Rate[] = [{ count: 60, per: 60_000 }];
const METHOD = 'commit status';
/** Errors that can go away: the host, the network or a key may be back at the next attempt. */
const PASSING = [
  'network_error',
  'code_host_error',
  'rate_limited',
  'mkey_missing',
  'mkey_unknown',
];
const RIGHTS =
  'check what the token may do: docs/code-hosts.md lists the permissions for the status of a commit';

/** Delivers to the code host of each app. */
export function codeHostChannel(server: Server, redact: Call['redact']): Channel {
  const call: Call = { env: server.io.env, redact, method: METHOD };
  return {
    rates: RATES,
    send: ({ payload: { app, posts } }) =>
      sendAll(server, call, String(app), posts as readonly CommitPost[]).catch(
        onFailure((failure) => outcomeOf(call, failure)),
      ),
    // Only writing a status would show whether the token is allowed to.
    inspect: async () => ({ healthy: null, facts: {}, advice: [] }),
    sendTest: () => Promise.reject(new Error('a commit has no test status')),
  };
}

async function sendAll(
  { io, paths }: Server,
  call: Call,
  name: string,
  posts: readonly CommitPost[],
): Promise<SendOutcome> {
  const app = requireTrustedApp(paths, name);
  const { gitUrl } = codeHostOf(readConfig(paths), io.env, app.host);
  const api = await openApi({ paths, io }, app);
  const at: At = { api, app: name, repo: app.repo, gitUrl };
  for (const post of posts) {
    const outcome = judge(call, api, await postTo(at, post));
    if (outcome.class !== 'delivered') return outcome;
  }
  return { class: 'delivered', rest: 0, accepted: { httpStatus: 201, body: {} } };
}

/**
 * A token may be replaced, and a proxy may answer in the host's place: only what a host says about the
 * status itself is final. A refusal concerns one app, and never stops the channel.
 */
function judge(call: Call, api: HostApi, answer: HttpAnswer): SendOutcome {
  const { status } = answer;
  const said = api.said(answer) || `the code host answers with HTTP status ${status}`;
  const problem = (retryable: boolean, hint?: string) =>
    problemOf(call, { http_status: status, code: status, description: said, retryable, hint });
  if (status === 200 || status === 201) {
    if (isWritten(answer)) return { class: 'delivered', rest: 0 };
    return { class: 'retry', problem: problem(true) };
  }
  // GitLab refuses a state that the commit already has.
  if (api.type === 'gitlab' && /cannot transition/i.test(said))
    return { class: 'delivered', rest: 0 };
  if (failureIn(() => refuseOthers(api, answer))?.code === 'rate_limited')
    return { class: 'wait', delay: delayOf(answer, pauseIn(answer)), problem: problem(true) };
  if (status === 400 || status === 409 || status === 422)
    return { class: 'rejected', problem: problem(false, RIGHTS) };
  return { class: 'retry', problem: problem(true, status < 500 ? RIGHTS : undefined) };
}

/**
 * GitHub says at which second requests are taken again, and asks for a minute where it says nothing:
 * docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api. Undefined: as in `Retry-After`.
 */
function pauseIn({ headers }: HttpAnswer): number | undefined {
  if (headers['retry-after'] !== undefined) return undefined;
  if (headers['x-ratelimit-remaining'] !== '0') return 60;
  const seconds = Number(headers['x-ratelimit-reset']) - Date.now() / 1000;
  return seconds > 0 ? seconds : 60;
}

/** Every host answers with what it wrote. */
function isWritten({ body }: HttpAnswer): boolean {
  const { state, status } = jsonObject(body) ?? {};
  return typeof state === 'string' || typeof status === 'string';
}

/** The problem that prevented the request. */
function outcomeOf(call: Call, failure: Failure): SendOutcome {
  if (failure.code === 'network_error') return unreached(call, failure);
  const isPassing = PASSING.includes(failure.code);
  const { code, message: description } = failure;
  const problem = problemOf(call, { http_status: null, code, description, retryable: isPassing });
  return { class: isPassing ? 'retry' : 'rejected', problem };
}
