/** Whether someone with write access put the label on the very commit that is the head of a fork now. */
import type { SeenPreview } from '@runner/common/apps/preview';
import type { HostApi } from '@runner/common/hosts/api';
import { isObject, type JsonObject } from '@runner/common/text/json';
import { bodyOf, listAll, PAGES_MAX } from './pages.ts';
import { type PreviewCandidate, pullPath, repoPath } from './pulls.ts';

/** What the host's own clock says of a pull request. */
export interface LabelEvidence {
  /** The commit was the head then, and no push came later unless it was forced; undefined: the host does not say. */
  readonly pushed: string | undefined;
  /** Pushes that were forced, or all that are known. One forced away and pushed back leaves no other trace. */
  readonly forced: readonly string[];
  /** The label put on and taken off, the oldest first. */
  readonly labelled: readonly { at: string; by: string; isOn: boolean }[];
}

/** Who labelled the head, by the order of events alone; else why no one did. */
export function labellerOf({
  pushed,
  forced,
  labelled,
}: LabelEvidence): { by: string } | { why: string } {
  const last = labelled.at(-1);
  if (!last?.isOn || last.by === '') return { why: 'the host does not say who put the label on' };
  if (pushed === undefined) return { why: 'the host does not say when it was pushed' };
  // In the same second the order is unknown.
  const since = Date.parse(pushed);
  const isForced = forced.some((at) => !(Date.parse(at) < since));
  if (Date.parse(last.at) > since && !isForced) return { by: last.by };
  return {
    why: 'was labelled before its newest push was seen: take the label off, and put it on again',
  };
}

/** Asks the host. Throws as any question does. */
export async function approvalOf(
  api: HostApi,
  repo: string,
  candidate: PreviewCandidate,
  { seen, label }: { readonly seen: SeenPreview; readonly label: string },
): Promise<{ by: string } | { why: string }> {
  const { type } = api;
  const evidence = await EVIDENCE[type === 'gitlab' || type === 'gitea' ? type : 'github'](
    { api, repo, label },
    candidate,
    seen,
  );
  const found = labellerOf(evidence);
  if ('why' in found || (await mayWrite(api, repo, found.by))) return found;
  return { why: `${found.by}, who put the label on, may not write to the repository` };
}

type Evidence = (
  source: { readonly api: HostApi; readonly repo: string; readonly label: string },
  of: PreviewCandidate,
  seen: SeenPreview,
) => Promise<LabelEvidence>;

const inner = (value: unknown): JsonObject => (isObject(value) ? value : {});

const latest = (times: readonly unknown[]) =>
  times
    .map(String)
    .sort((a, b) => Date.parse(a) - Date.parse(b))
    .at(-1);

const EVIDENCE: Readonly<Record<'github' | 'gitlab' | 'gitea', Evidence>> = {
  /** It says when a head was forced, not when it was pushed: a push came before runner saw it. */
  async github({ api, repo, label }, { number }, { host_at: at }) {
    const path = `/repos/${repo}/issues/${number}/events?per_page=100`;
    const { entries } = await listAll(api, path);
    const forced = entries.filter(({ event }) => event === 'head_ref_force_pushed');
    const labelled = entries
      .filter(
        ({ event, label: own }) =>
          /^(?:un)?labeled$/.test(String(event)) && inner(own).name === label,
      )
      .map(({ event, created_at, actor }) => ({
        at: String(created_at),
        by: String(inner(actor).login ?? ''),
        isOn: event === 'labeled',
      }));
    return { pushed: at, forced: forced.map((each) => String(each.created_at)), labelled };
  },
  async gitlab({ api, repo, label }, { number, commit }) {
    const pull = pullPath(api, repo, number);
    const versions = (await listAll(api, `${pull}/versions?per_page=100`)).entries;
    const { entries } = await listAll(api, `${pull}/resource_label_events?per_page=100`);
    const newest = latest(versions.map((each) => each.created_at));
    const head = versions.find((each) => each.created_at === newest)?.head_commit_sha;
    const labelled = entries
      .filter((each) => inner(each.label).name === label)
      .map(({ action, created_at, user }) => ({
        at: String(created_at),
        by: String(inner(user).id ?? ''),
        isOn: action === 'add',
      }));
    return { pushed: head === commit ? newest : undefined, forced: [], labelled };
  },
  /** Its timeline leaves entries out, and does not say how many there are: the newest push may not be among them. */
  async gitea({ api, repo, label }, { number }, { host_at: at }) {
    const entries = await timelineOf(api, `/repos/${repo}/issues/${number}/timeline`);
    const forced = entries.filter(({ type }) => type === 'pull_push');
    const labelled = entries
      .filter((each) => each.type === 'label' && inner(each.label).name === label)
      .map(({ body, created_at, user }) => ({
        at: String(created_at),
        by: String(inner(user).login ?? ''),
        isOn: body === '1',
      }));
    return { pushed: at, forced: forced.map((each) => String(each.created_at)), labelled };
  },
};

/** Pages until one is empty: no header says whether there is another. */
async function timelineOf(api: HostApi, path: string): Promise<JsonObject[]> {
  const entries: JsonObject[] = [];
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const body = bodyOf(api, await api.get(`${path}?limit=50&page=${page}`), path);
    if (!Array.isArray(body) || body.length === 0) break;
    entries.push(...body.filter(isObject));
  }
  return entries;
}

async function mayWrite(api: HostApi, repo: string, who: string): Promise<boolean> {
  const isLab = api.type === 'gitlab';
  const place = isLab ? 'members/all' : 'collaborators';
  const rest = isLab ? '' : '/permission';
  const path = `${repoPath(api, repo)}/${place}/${encodeURIComponent(who)}${rest}`;
  const answer = await api.get(path);
  if (answer.status === 404) return false;
  const { permission, access_level: level, state } = inner(bodyOf(api, answer, path));
  if (isLab) return Number(level) >= 30 && state === 'active';
  return ['owner', 'admin', 'write'].includes(String(permission));
}
