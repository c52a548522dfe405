/** Records changes in the state of apps, and announces them like the events of a deploy. */
import { changeRegistry } from '@runner/common/apps/change';
import { followedWords } from '@runner/common/apps/following';
import type { AppState } from '@runner/common/apps/state';
import { completeEvent } from '@runner/common/audit/complete';
import { type DeployEvent, newDeployId } from '@runner/common/audit/events';
import type { LogRecord } from '@runner/common/audit/record';
import { recordsSince } from '@runner/common/audit/scan';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Io } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import { announce, recordAnyway } from '../journal/events.ts';
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

/** Announces changes one after the other. Starts a notifier for the first one. */
export function announcerOf({ io, paths, reporter, notify }: Announcing) {
  let notifier: Notifier | undefined;
  const shared = {};
  const started = () => {
    notifier ??= notify ? startNotifier(io, paths.root, 'own') : silent;
    return notifier;
  };
  return {
    /** Appends it to the audit log, and sends it to the chats of its app. */
    announce({ app, change }: AppChange) {
      announce({ paths, reporter, notifier: started() }, eventsOf(io, app, change));
    },
    /**
     * The same for what the state is to remember, before that is written: after a kill between, the next command
     * announces it again, but records it once. Throws a Failure if it can be neither recorded nor kept.
     */
    announceAhead({ app, change }: AppChange) {
      const events = eventsOf(io, app, change);
      const isSame = (record: LogRecord) =>
        events.some((event) => contentOf(event) === contentOf(record));
      const since = app.last_checked ?? io.now().toISOString();
      const known = unlessFailure(() => [...recordsSince(paths, since)].filter(isSame), []);
      const recorder = { paths, reporter, shared, mustKeep: true } as const;
      const recorded = known.length > 0 ? known : recordAnyway(recorder, events);
      for (const event of recorded) started().send(event as DeployEvent);
    },
    async finish() {
      for (const line of (await notifier?.finish()) ?? []) reporter.note(line);
    },
  };
}

/** What an event says, whenever it was recorded. */
function contentOf(event: LogRecord): string {
  const own = { timestamp: '', deploy_id: '', seq: undefined, prev: undefined, late: undefined };
  return JSON.stringify({ ...event, ...own });
}

/** Changes states under the registry's lock; `change` announces what is new before it writes that it did. */
export async function announcingChange<T>(
  announcing: Announcing,
  command: string,
  change: (announce: (change: AppChange) => void) => T,
): Promise<T> {
  const { io, paths } = announcing;
  const announcer = announcerOf(announcing);
  try {
    return changeRegistry({ io, paths, command }, () => change(announcer.announceAhead));
  } finally {
    await announcer.finish();
  }
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
