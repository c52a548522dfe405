/** What the host shows of a preview: one comment that is edited, and a deployment. */
import type { PreviewMark } from '@runner/common/apps/preview';
import { Failure } from '@runner/common/foundation/failure';
import { type HostApi, refuseOthers } from '@runner/common/hosts/api';
import type { HttpAnswer } from '@runner/common/http/request';
import { isObject, jsonObject } from '@runner/common/text/json';
import { cleanText, cutCodePoints } from '@runner/common/text/plain';
import { listAll } from './pages.ts';
import { pullPath, repoPath } from './pulls.ts';

export interface ShownPreview {
  readonly app: string;
  readonly preview: PreviewMark;
  /** Its address; null: it serves nothing. */
  readonly url: string | null;
  readonly state: 'ready' | 'failed' | 'removed';
}

/** Where it is shown. */
interface ShowPlace {
  readonly api: HostApi;
  readonly repo: string;
}

const ERROR_MAX = 600;
/** Comments of others that may begin like ours. */
const TRIED = 5;

/**
 * Shows it. Resolves the id of the comment, and what the token may not do. Throws what a later attempt may
 * get over: `network_error`, `rate_limited`, `code_host_error`, `token_invalid`.
 */
export async function showPreview(
  place: ShowPlace,
  shown: ShownPreview,
): Promise<{ comment: string | undefined; refused: string[] }> {
  const refused: string[] = [];
  const comment = await commentOn(place, shown, refused);
  if (place.api.type === 'github') await deploymentAt(place, shown, refused);
  if (place.api.type === 'gitlab') await environmentAt(place, shown, refused);
  return { comment, refused };
}

/** By which it is found again, on a server whose previews have this domain. */
const headOf = ({ domain }: PreviewMark) => `**Preview** ${domain}`;

function textOf({ preview, url, state }: ShownPreview): string {
  const { commit, error = '', removed_why: why = '' } = preview;
  const of = ` of \`${commit.slice(0, 12)}\``;
  // In a fence, which it cannot leave, nothing is a mention, a link or markup.
  const fenced = cutCodePoints(cleanText(error).replace(/[`~]/g, "'"), ERROR_MAX);
  const words = {
    ready: `${of} is ${url === null ? 'built; it serves nothing' : `ready: ${url}`}`,
    failed: `${of} failed:\n\n~~~\n${fenced}\n~~~`,
    removed: ` was removed: ${cleanText(why).replace(/[^\w .:,'-]/g, '')}`,
  };
  return `${headOf(preview)}${words[state]}`;
}

/** Whether it was done; false: it may not be. Throws what may be different later. */
function isDone(api: HostApi, answer: HttpAnswer, what: string, refused: string[]): boolean {
  if (answer.status >= 200 && answer.status < 300) return true;
  if (answer.status === 401) throw new Failure('token_invalid', 'the code host refuses the token');
  if (![404, 410, 422].includes(answer.status)) refuseOthers(api, answer);
  refused.push(`the token may not write a ${what} (${answer.status}): see docs/code-hosts.md`);
  return false;
}

const idIn = (answer: HttpAnswer) => String(jsonObject(answer.body)?.id ?? '');

async function commentOn(
  { api, repo }: ShowPlace,
  shown: ShownPreview,
  refused: string[],
): Promise<string | undefined> {
  const { number, comment } = shown.preview;
  const isHub = api.type === 'github' || api.type === 'gitea';
  const word = api.type === 'gitlab' ? 'notes' : 'comments';
  const all = isHub
    ? `/repos/${repo}/issues/${number}/comments`
    : `${pullPath(api, repo, number)}/${word}`;
  const one = (id: string) => (isHub ? `/repos/${repo}/issues/comments/${id}` : `${all}/${id}`);
  const text = textOf(shown);
  const body = api.type === 'bitbucket' ? { content: { raw: text } } : { body: text };
  const known = comment === undefined ? await foundIn(api, all, headOf(shown.preview)) : [comment];
  for (const id of known) {
    const answer = await api.change(one(id), body);
    if (![403, 404, 410].includes(answer.status)) {
      isDone(api, answer, 'comment', refused);
      return id;
    }
  }
  if (shown.state === 'removed') return comment;
  const made = await api.post(all, body);
  return isDone(api, made, 'comment', refused) ? idIn(made) : comment;
}

/** Comments that begin as ours: one may have been made before a kill. */
async function foundIn(api: HostApi, path: string, head: string): Promise<string[]> {
  const { entries } = await listAll(
    api,
    `${path}?${api.type === 'bitbucket' ? 'pagelen' : 'per_page'}=100`,
  );
  const ours = entries.filter(({ body, content }) => {
    const text = isObject(content) ? content.raw : body;
    return (
      typeof text === 'string' &&
      `${text}\n`.startsWith(head) &&
      !/[\w.-]/.test(text[head.length] ?? '')
    );
  });
  return ours.slice(0, TRIED).map(({ id }) => String(id));
}

/** Every other deployment of the preview is inactive. */
async function deploymentAt({ api, repo }: ShowPlace, shown: ShownPreview, refused: string[]) {
  const { app: environment, state, url: address } = shown;
  const { commit } = shown.preview;
  const path = `/repos/${repo}/deployments`;
  const listed = await api.get(`${path}?environment=${environment}&per_page=100`);
  if (!isDone(api, listed, 'deployment', refused)) return;
  const { list } = jsonObject(`{"list":${listed.body}}`) ?? {};
  const all = (Array.isArray(list) ? list : []).filter(isObject);
  let own = all.find(({ sha, ref }) => sha === commit || ref === commit)?.id;
  if (own === undefined && state !== 'removed') {
    const about = { environment, auto_merge: false, required_contexts: [] };
    const made = await api.post(path, { ref: commit, ...about, transient_environment: true });
    if (!isDone(api, made, 'deployment', refused)) return;
    own = idIn(made);
  }
  const word = { ready: 'success', failed: 'failure', removed: 'inactive' }[state];
  const url = state === 'ready' && address !== null ? { environment_url: address } : {};
  for (const id of new Set([own, ...all.map((each) => each.id)])) {
    const isOwn = String(id) === String(own);
    const statuses = `${path}/${id}/statuses`;
    // GitHub limits what is written to 80 a minute, and each push makes one more.
    if (id === undefined || (!isOwn && (await isInactive(api, statuses)))) continue;
    const about = { state: isOwn ? word : 'inactive', ...(isOwn && url) };
    const body = { ...about, environment, auto_inactive: false };
    isDone(api, await api.post(statuses, body), 'deployment', refused);
  }
}

async function isInactive(api: HostApi, statuses: string): Promise<boolean> {
  const { body } = await api.get(`${statuses}?per_page=1`);
  const { list } = jsonObject(`{"list":${body}}`) ?? {};
  const [newest] = Array.isArray(list) ? list : [];
  return isObject(newest) && newest.state === 'inactive';
}

async function environmentAt({ api, repo }: ShowPlace, shown: ShownPreview, refused: string[]) {
  const { app: name, state, preview, url } = shown;
  const path = repoPath(api, repo);
  const { entries } = await listAll(api, `${path}/environments?name=${name}`);
  const id = entries.find((each) => each.name === name)?.id;
  if (state === 'removed') {
    if (id !== undefined)
      isDone(api, await api.post(`${path}/environments/${id}/stop`, {}), 'deployment', refused);
    return;
  }
  const about = { name, ...(url !== null && { external_url: url }) };
  if (id === undefined) {
    const made = await api.post(`${path}/environments`, about);
    if (!isDone(api, made, 'deployment', refused)) return;
  } else await api.change(`${path}/environments/${id}`, about);
  const { commit: sha, branch: ref } = preview;
  const status = state === 'ready' ? 'success' : 'failed';
  const deployment = { environment: name, sha, ref, tag: false, status };
  isDone(api, await api.post(`${path}/deployments`, deployment), 'deployment', refused);
}
