/** Announcing that a plan waits for approvals. */
import { problemWords, type StoredPlan, waitsWords } from '@runner/common/apps/plans';
import { requireApp } from '@runner/common/apps/store';
import { type Announcing, announcingChange } from '../alerts/announce.ts';

/** Records it, and shows the chats what to type: a chat is not an authority. */
export async function announceWanted(announcing: Announcing, stored: StoredPlan): Promise<void> {
  const { id, app, verb, version, by, summary } = stored.plan;
  const { count = null, authors = [] } = summary.changes ?? {};
  const brings = count === null ? '' : `, ${count} commits by ${authors.join(', ')}`;
  const next = problemWords(stored) ? '' : `: runner approve ${id}`;
  const reason = `${verb}${brings}, ${waitsWords(stored)}${next}`;
  const change = { event_type: 'ApprovalWanted' as const, version, plan: id, user: by, reason };
  const of = requireApp(announcing.paths, app);
  await announcingChange(announcing, 'plan', (announce) => announce({ app: of, change }));
}
