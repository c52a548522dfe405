/** While what runs is not the head: since when, and once a day a reminder of why, and of what to type. */
import type { AppState } from '@runner/common/apps/state';
import { DAY } from './ending.ts';
import type { AlertChanges, HeadFound, Observed } from './observed.ts';

/** The results of `fetch` that mean that the head runs. */
const CURRENT = ['up_to_date', 'not_running', 'deployed'];
/** Those that end without anyone: a window opens, packages get older, a command ends. */
const ENDS_ALONE = ['closed', 'young', 'skipped'];

/** Since when the head does not run; null: it does. */
export function behindSince(
  { behind_since: before = null }: AppState,
  { result, commit, returns }: HeadFound,
  now: Date,
): string | null {
  if (commit === null || returns) return before;
  if (CURRENT.includes(result)) return null;
  const at = now.toISOString();
  // A clock that was set back begins again.
  return before !== null && before < at ? before : at;
}

/** A reminder, if the last one, or the beginning, is a day ago. */
export function behindChanges(
  app: AppState,
  { head, deploys, summary, now }: Observed,
): AlertChanges {
  const since = head && behindSince(app, head, now);
  if (head && since === null) return { changes: [], reported: { behind: undefined } };
  const last = Date.parse(app.reported?.behind ?? since ?? '');
  if (last > now.getTime()) return { changes: [], reported: { behind: now.toISOString() } };
  const isDue = !(now.getTime() - last < DAY);
  if (!head || !since || !deploys || !isDue || ENDS_ALONE.includes(head.result))
    return { changes: [], reported: {} };
  const commit = head.commit ?? app.head;
  const what = head.version ?? app.head_version?.version ?? 'the newest commit';
  const reason = `${what} is not deployed since ${since}: ${head.text}; ${summary.next}`;
  return {
    changes: [{ event_type: 'HeadBehind', reason, ...(commit !== undefined && { commit }) }],
    reported: { behind: now.toISOString() },
  };
}
