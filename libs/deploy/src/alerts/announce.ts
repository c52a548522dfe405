/** Records changes in the state of apps, and announces them like the events of a deploy. */
import { followedWords } from '@runner/common/apps/following';
import type { AppState } from '@runner/common/apps/state';
import { completeEvent } from '@runner/common/audit/complete';
import { type DeployEvent, newDeployId } from '@runner/common/audit/events';
import type { Io } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import { announce } from '../journal/events.ts';
import { type Notifier, silent, startNotifier } from '../report/notifier.ts';
import type { Reporter } from '../report/reporter.ts';
import type { AlertEvent } from './observed.ts';

export interface AppChange {
  readonly app: AppState;
  readonly change: AlertEvent;
}

/** What announcing needs. */
export interface Announcing extends Server {
  readonly reporter: Pick<Reporter, 'note' | 'recorded'>;
  readonly notify: boolean;
}

/** Announces changes one after the other. */
interface ChangeAnnouncer {
  /** Appends it to the audit log, and sends it to the chats of its app. */
  announce(change: AppChange): void;
  /** Waits for the chats. */
  finish(): Promise<void>;
}

/** Starts a notifier for the first change. */
export function announcerOf({ io, paths, reporter, notify }: Announcing): ChangeAnnouncer {
  let notifier: Notifier | undefined;
  return {
    announce({ app, change }) {
      notifier ??= notify ? startNotifier(io, paths.root, 'own') : silent;
      announce({ paths, reporter, notifier }, eventsOf(io, app, change));
    },
    async finish() {
      for (const line of (await notifier?.finish()) ?? []) reporter.note(line);
    },
  };
}

/** Appends the changes to the audit log and sends them to the chats of their apps. */
export async function announceChanges(
  announcing: Announcing,
  changes: readonly AppChange[],
): Promise<void> {
  const announcer = announcerOf(announcing);
  for (const change of changes) announcer.announce(change);
  await announcer.finish();
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
