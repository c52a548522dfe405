/** Writing the state of a commit, and GitHub's deployment of it, in the words of each host. */
import type { HostApi } from '@runner/common/hosts/api';
import type { HttpAnswer } from '@runner/common/http/request';
import { isObject, type JsonObject, jsonObject } from '@runner/common/text/json';
import type { CommitPost } from './message.ts';

/** The app, and where its commits are. */
export interface At {
  readonly api: HostApi;
  readonly app: string;
  readonly repo: string;
  readonly gitUrl: string;
}

/** Bitbucket's limit for a key. */
const KEY_MAX = 40;

/** Posts the status; GitHub gets a deployment as well, if the token may write one. */
export async function postTo(at: At, post: CommitPost): Promise<HttpAnswer> {
  const answer = await postStatus(at, post);
  if (at.api.type === 'github' && answer.status < 300) {
    const deployed = await deployment(at, post);
    // The status is there: a deployment is tried again only where that can help.
    if (deployed && deployed.status >= 500) return deployed;
  }
  return answer;
}

function postStatus({ api, app, repo, gitUrl }: At, post: CommitPost): Promise<HttpAnswer> {
  const { commit, state, description } = post;
  const context = `runner/${app}`;
  switch (api.type) {
    case 'gitlab': {
      const path = `/projects/${encodeURIComponent(repo)}/statuses/${commit}`;
      const word = { pending: 'running', success: 'success', failure: 'failed' }[state];
      return api.post(path, { state: word, name: context, description });
    }
    case 'bitbucket': {
      const word = { pending: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED' }[state];
      const about = { key: context.slice(0, KEY_MAX), name: context, state: word, description };
      const url = `${gitUrl}/${repo}/commits/${commit}`;
      return api.post(`/repositories/${repo}/commit/${commit}/statuses/build`, { ...about, url });
    }
    default:
      return api.post(`/repos/${repo}/statuses/${commit}`, { state, context, description });
  }
}

/** The environment is the app's name: apps of one repository do not replace each other's deployments. */
async function deployment(
  { api, app, repo }: At,
  { commit, state, description, deployId, isCorrection }: CommitPost,
): Promise<HttpAnswer | undefined> {
  const path = `/repos/${repo}/deployments`;
  const query = `sha=${commit}&environment=${encodeURIComponent(app)}&per_page=1`;
  const listed = await api.get(`${path}?${query}`);
  if (listed.status > 299) return listed;
  const newest = newestIn(listed.body);
  const isOurs = newest && (isCorrection || deployIdIn(newest) === deployId);
  let id = isOurs ? newest.id : undefined;
  if (id === undefined && isCorrection) return undefined;
  if (id === undefined) {
    const made = await api.post(path, {
      ref: commit,
      environment: app,
      auto_merge: false,
      required_contexts: [],
      description: `runner debug log ${app} ${deployId}`,
      payload: { deploy_id: deployId },
    });
    if (made.status > 299) return made;
    id = jsonObject(made.body)?.id;
  }
  const word = state === 'pending' ? 'in_progress' : state;
  const about = { state: word, environment: app, description };
  return api.post(`${path}/${id}/statuses`, { ...about, auto_inactive: state === 'success' });
}

function newestIn(body: string): JsonObject | undefined {
  const list = jsonObject(`{"list":${body}}`)?.list;
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return isObject(first) ? first : undefined;
}

/** GitHub gives the payload as it was sent, or as text. */
function deployIdIn({ payload }: JsonObject): unknown {
  const read = typeof payload === 'string' ? jsonObject(payload) : payload;
  return isObject(read) ? read.deploy_id : undefined;
}
