/** The commit status for a deploy's event, and GitHub's deployment, in the words of each host. */
import { hashOf } from '@runner/common/audit/chain';
import { textOf } from '@runner/common/audit/record';
import type { HostApi } from '@runner/common/hosts/api';
import type { HttpAnswer } from '@runner/common/http/request';
import { isObject, type JsonObject, jsonObject } from '@runner/common/text/json';
import { cleanText, cutCodePoints } from '@runner/common/text/plain';
import { durationText } from '@runner/common/text/time';
import type { Announceable } from '../../message/records.ts';
import type { Message } from '../../service/contract.ts';
import { onlyForm } from '../../service/section.ts';

export type CommitPost = ReturnType<typeof postsOf>[number];

/** GitHub's limit for a description. */
const DESCRIPTION_MAX = 140;

/** The message of an event; undefined for one that concerns no commit. */
export function commitMessage({ kind, project, fields }: Announceable): Message | undefined {
  const posts = postsOf(kind, (name) => textOf(fields, name), fields.duration_ms).filter(
    ({ commit }) => /^[0-9a-f]{40,64}$/.test(commit),
  );
  return posts.length === 0 ? undefined : onlyForm({ app: project, posts });
}

function postsOf(kind: Announceable['kind'], field: (name: string) => string, duration: unknown) {
  const [commit, version, deployId] = [field('commit'), field('version'), field('deploy_id')];
  const post = (state: 'pending' | 'success' | 'failure', text: string) => ({
    commit,
    state,
    deployId,
    /** Only update an existing deployment. */
    isCorrection: false,
    description: descriptionOf(text),
  });
  switch (kind) {
    case 'DeployStarted':
      return [post('pending', `deploying ${version}`)];
    case 'DeploySuccess': {
      const took = durationText(duration);
      return [post('success', `deployed ${version}${took && ` in ${took}`}`)];
    }
    case 'DeployFailure': {
      const stage = field('stage');
      const cause = firstLine(field('cause')) || firstLine(field('error'));
      return [post('failure', `${stage && `${stage}: `}${cause || 'the deploy failed'}`)];
    }
    case 'RollbackSuccess': {
      const left = field('from_commit');
      const back = post('success', `${version} is active again`);
      if (left === '' || left === commit) return [back];
      const text = `rolled back to ${version}: ${field('reason')}`;
      return [{ ...post('failure', text), commit: left, isCorrection: true }, back];
    }
    default:
      return [];
  }
}

/** GitHub refuses a status with a character of four bytes, as most emoji are. */
function descriptionOf(text: string): string {
  const plain = text.replace(/[^\0-\uffff]\ufe0f?/gu, '').replace(/\s+/g, ' ');
  return cutCodePoints(plain.trim(), DESCRIPTION_MAX);
}

function firstLine(text: string): string {
  const lines = cleanText(text).split('\n');
  return lines.map((line) => line.trim()).find((line) => line !== '') ?? '';
}

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
      const key = context.length > KEY_MAX ? hashOf(context).slice(0, KEY_MAX) : context;
      const about = { key, name: context, state: word, description };
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
