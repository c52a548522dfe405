/** Records changes in the state of apps, and announces them like the events of a deploy. */
import { followedWords } from '@runner/common/apps/following';
import type { AppState } from '@runner/common/apps/state';
import { completeEvent } from '@runner/common/audit/complete';
import type { DeployEvent } from '@runner/common/audit/events';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { announce } from '../record/events.ts';
import { silent, startNotifier } from '../report/notifier.ts';
import type { Reporter } from '../report/reporter.ts';
import type { Change } from './changes.ts';

/** A change of an app. */
export interface AppChange {
  readonly app: AppState;
  readonly change: Change;
}

/** What announcing needs. */
export interface Announcing {
  readonly io: Io;
  readonly paths: Paths;
  readonly reporter: Pick<Reporter, 'note'>;
  readonly notify: boolean;
}

/** Appends the changes to the audit log and sends them to the chats of their apps. */
export async function announceChanges(
  { io, paths, reporter, notify }: Announcing,
  changes: readonly AppChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const notifier = notify ? startNotifier(io, paths.root, 'own') : silent;
  for (const { app, change } of changes)
    announce({ paths, reporter, notifier }, [eventOf(io, app, change)]);
  for (const line of await notifier.finish()) reporter.note(line);
}

/** A failed check has a deploy_id, as every DeployFailure; the other changes belong to no deploy. */
function eventOf(io: Io, { app, branch, tags, instances }: AppState, change: Change): DeployEvent {
  const [first = 'default'] = Object.keys(instances);
  const active = instances[first]?.current?.version;
  const isFailure = change.event_type === 'DeployFailure';
  const common = { project: app, instance: first, version: followedWords({ branch, tags }) };
  return completeEvent(
    {
      ...common,
      ...(isFailure ? { trigger: 'fetch' } : { deploy_id: null }),
      ...(isFailure && active !== undefined && { previous_version: active }),
      ...change,
    },
    io,
  );
}
