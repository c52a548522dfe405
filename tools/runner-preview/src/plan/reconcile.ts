/** What has to be done so that the previews of an app are those of its open pull requests. Without effects. */
import {
  KEPT_FOR,
  type PreviewMark,
  type PreviewSettings,
  removalOf,
  type SeenPreview,
  type WaitingPreview,
} from '@runner/common/apps/preview';
import type { Listing, PreviewCandidate } from '../host/pulls.ts';

/** The label that lets a commit of a fork in, where no other is set. */
export const labelOf = ({ label = 'preview' }: Pick<PreviewSettings, 'label'>) => label;

/** What is known after a listing; what is not open any more is forgotten. */
export function observe(
  { candidates, date }: Listing,
  settings: PreviewSettings,
  now: Date,
): Record<string, SeenPreview> {
  const at = now.toISOString();
  const seen = candidates.flatMap((each): [string, SeenPreview][] => {
    const before = settings.seen?.[each.key];
    const commit = each.commit || before?.commit;
    if (commit === undefined) return [];
    if (before?.commit === commit) {
      const { allowed_by: _, refused: __, looked: ___, ...rest } = before;
      return [[each.key, each.labels?.includes(labelOf(settings)) ? before : rest]];
    }
    const changed = Date.parse(each.changed);
    const first = before ? at : new Date(Math.min(changed, now.getTime())).toISOString();
    return [[each.key, { commit, at: first, ...(date !== undefined && { host_at: date }) }]];
  });
  return Object.fromEntries(seen);
}

/** One step towards what should be. */
export type PreviewAction =
  | { readonly do: 'deploy'; readonly candidate: PreviewCandidate; readonly seen: SeenPreview }
  | {
      readonly do: 'remove';
      readonly preview: PreviewMark;
      readonly why: string;
      readonly isGone: boolean;
    }
  | { readonly do: 'purge' | 'show'; readonly preview: PreviewMark };

/** What is and what should be. */
export interface PreviewFacts {
  /** undefined: the app has no previews any more. */
  readonly settings: PreviewSettings | undefined;
  /** undefined: the host did not answer, or not all. */
  readonly candidates: readonly PreviewCandidate[] | undefined;
  readonly existing: readonly PreviewMark[];
}

/** The newest pushes first. */
const pushedAt = ({ at, opened = '' }: SeenPreview) => (opened > at ? opened : at);

/** Decides what is to be done, in this order, and what waits. A host that does not answer removes nothing and makes nothing. */
export function reconcile({ settings, candidates, existing }: PreviewFacts, now: Date) {
  const { wanted, back, waiting } = chosen({ settings, candidates, existing }, now);
  const isKnown = candidates !== undefined || settings === undefined;
  const actions: PreviewAction[] = [];
  for (const preview of existing) {
    const { key, removed_at: removed } = preview;
    if (removed !== undefined && now.getTime() - Date.parse(removed) > KEPT_FOR) {
      if (isShown(preview) && !wanted.has(key)) actions.push({ do: 'purge', preview });
      else if (!isShown(preview)) actions.push({ do: 'show', preview });
    } else if (!wanted.has(key) && removed === undefined && isKnown && !back.has(key)) {
      const why = whyGone(key, settings, waiting);
      const isGone = settings !== undefined && !candidates?.some((each) => each.key === key);
      actions.push({ do: 'remove', preview, why, isGone });
    } else if (isKnown && !isShown(preview) && !isStale(preview, wanted.get(key), settings))
      actions.push({ do: 'show', preview });
  }
  for (const [key, { candidate, seen }] of wanted) {
    const preview = existing.find((each) => each.key === key);
    if (isStale(preview, { candidate, seen }, settings))
      actions.push({ do: 'deploy', candidate, seen });
  }
  return { actions, waiting };
}

interface Wanted {
  readonly candidate: PreviewCandidate;
  readonly seen: SeenPreview;
}

/** What should be there: `wanted` as the host has it, `back` as an operator brought it back. */
function chosen({ settings, candidates = [], existing }: PreviewFacts, now: Date) {
  const waiting: WaitingPreview[] = [];
  const fit: Wanted[] = [];
  for (const candidate of settings ? candidates : []) {
    const { key } = candidate;
    const seen = settings?.seen?.[key];
    const why = whyNot(settings as PreviewSettings, candidate, seen, now);
    if (why !== undefined || !seen) waiting.push({ key, why: why ?? 'has no commit' });
    else if (fit.some((each) => each.candidate.key === key))
      waiting.push({ key, why: `has the same short name as another branch: ${candidate.branch}` });
    else fit.push({ candidate, seen });
  }
  const wanted = new Map(fit.map((each) => [each.candidate.key, each]));
  const back = new Map(
    existing
      .filter((each) => isBack(each, settings, now) && !wanted.has(each.key))
      .map(({ key, undone_at: at = '' }) => [key, at]),
  );
  const at = (key: string) => back.get(key) ?? pushedAt((wanted.get(key) as Wanted).seen);
  const keys = [...wanted.keys(), ...back.keys()].sort((a, b) => (at(a) < at(b) ? 1 : -1));
  const max = settings?.max ?? 0;
  for (const key of keys.slice(max)) {
    wanted.delete(key);
    back.delete(key);
    waiting.push({ key, why: `${max} newer are there` });
  }
  // What an operator brought back waits for nothing.
  const others = waiting.filter(({ key }) => !back.has(key));
  return { wanted, back: new Set(back.keys()), waiting: others };
}

function whyNot(
  settings: PreviewSettings,
  { isFork, labels }: PreviewCandidate,
  seen: SeenPreview | undefined,
  now: Date,
): string | undefined {
  const label = labelOf(settings);
  if (isFork && !labels) return 'is of a fork, which no label can let in at this code host';
  if ((isFork || settings.label !== undefined) && !labels?.includes(label))
    return `has not the label ${label}`;
  if (isFork && seen?.allowed_by === undefined)
    return seen?.refused ?? 'is of a fork, and not yet let in';
  if (seen?.dropped) return 'was removed by an operator: waits for a push';
  if (seen && now.getTime() - Date.parse(pushedAt(seen)) > settings.ttl)
    return 'had no push for too long';
  return undefined;
}

function whyGone(
  key: string,
  settings: PreviewSettings | undefined,
  waiting: readonly WaitingPreview[],
): string {
  if (!settings) return 'previews were disabled';
  const why = waiting.find((each) => each.key === key)?.why;
  if (why !== undefined) return why;
  const [isBranch, isWanted] = [key.startsWith('br-'), settings.branches !== undefined];
  if (isBranch !== isWanted)
    return `previews are of ${isWanted ? 'branches' : 'pull requests'} now`;
  return isBranch ? 'is deleted, or does not match any more' : 'is closed';
}

/** An operator brought it back, and was not killed meanwhile: it stays as long as after a push. */
function isBack(
  { undone_at: at, outcome }: PreviewMark,
  settings: PreviewSettings | undefined,
  now: Date,
): boolean {
  return (
    at !== undefined && !!outcome && !!settings && now.getTime() - Date.parse(at) <= settings.ttl
  );
}

/** Whether a preview is not, or not yet, what is wanted. */
function isStale(
  preview: PreviewMark | undefined,
  wanted: Wanted | undefined,
  settings: PreviewSettings | undefined,
): boolean {
  if (!wanted || !settings) return false;
  if (!preview || preview.removed_why !== undefined || preview.outcome === undefined) return true;
  // Failed, and the commit is not to blame.
  if (preview.outcome === 'failed' && preview.tries > 0) return true;
  const isSame = preview.domain === domainFor(settings, preview.key);
  return preview.commit !== wanted.seen.commit || !isSame || preview.notify !== settings.notify;
}

export function domainFor({ domain }: Pick<PreviewSettings, 'domain'>, key: string): string {
  return domain.replace('{n}', key.slice(3));
}

/** What the host should show; undefined: nothing yet, or there is no pull request. */
export function dueOf(preview: PreviewMark): string | undefined {
  const { number, commit, outcome, domain } = preview;
  const state = removalOf({ preview }) ? 'removed' : outcome;
  return number === undefined || !state ? undefined : `${state} ${commit.slice(0, 12)} ${domain}`;
}

const isShown = (preview: PreviewMark) => (dueOf(preview) ?? preview.shown) === preview.shown;
