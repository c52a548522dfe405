/** Records changes in the state of apps, and announces them like the events of a deploy. */
import { followedWords } from '@runner/common/apps/following';
import type { AppState } from '@runner/common/apps/state';
import { completeEvent } from '@runner/common/audit/complete';
import { type DeployEvent, newDeployId } from '@runner/common/audit/events';
import type { Io } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import { announce } from '../journal/events.ts';
import { silent, startNotifier } from '../report/notifier.ts';
import type { Reporter } from '../report/reporter.ts';
import type { AlertEvent } from './changes.ts';

/** A change of an app. */
export interface AppChange {
  readonly app: AppState;
  readonly change: AlertEvent;
}

/** What announcing needs. */
export interface Announcing extends Server {
  readonly reporter: Pick<Reporter, 'note' | 'recorded'>;
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
    announce({ paths, reporter, notifier }, eventsOf(io, app, change));
  for (const line of await notifier.finish()) reporter.note(line);
}

/**
 * A failed check is a DeployFailure: with a deploy_id, and a record for each instance. The other
 * changes belong to no deploy.
 */
function eventsOf(io: Io, app: AppState, change: AlertEvent): DeployEvent[] {
  const { app: project, branch, tags } = app;
  const common = { project, version: followedWords({ branch, tags }) };
  const names = Object.keys(app.instances);
  const [first = 'default'] = names;
  if (change.event_type !== 'DeployFailure')
    return [completeEvent({ ...common, instance: first, deploy_id: null, ...change }, io)];
  const instances = names.length > 0 ? names : [first];
  const shared = {
    timestamp: io.now().toISOString(),
    deploy_id: newDeployId(io.random),
    instances,
    trigger: 'fetch',
  };
  return instances.map((instance) => {
    const active = app.instances[instance]?.current?.version;
    const previous = active === undefined ? {} : { previous_version: active };
    return completeEvent({ ...common, ...shared, instance, ...previous, ...change }, io);
  });
}
