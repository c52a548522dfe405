/** Announcing that a plan waits for approvals. */
import { approveWords, problemWords, type StoredPlan, waitsWords } from '@runner/common/apps/plans';
import { requireApp } from '@runner/common/apps/store';
import { counted } from '@runner/common/text/words';
import { type Announcing, type AppChange, announcingChange } from '../alerts/announce.ts';

/** The record that a plan waits; it shows the chats what to type: a chat is not an authority. */
export function wantedChange(announcing: Announcing, stored: StoredPlan): AppChange {
  const { id, app, verb, version, by, summary } = stored.plan;
  const { count = null, authors = [] } = summary.changes ?? {};
  const brings = !count ? '' : `, ${counted(count, 'commit')} by ${authors.join(', ')}`;
  const next = problemWords(stored) ? '' : `: ${approveWords(stored)}`;
  const reason = `${verb}${brings}, ${waitsWords(stored)}${next}`;
  const change = { event_type: 'ApprovalWanted' as const, version, plan: id, user: by, reason };
  return { app: requireApp(announcing.paths, app), change };
}

export async function announceWanted(announcing: Announcing, stored: StoredPlan): Promise<void> {
  const change = wantedChange(announcing, stored);
  await announcingChange(announcing, 'plan', (announce) => announce(change));
}
