/** A command that ends an outage ends it for the record and the chats too, before the next `fetch` looks. */
import { findApp, writeApp } from '@runner/common/apps/store';
import { summaryOf } from '@runner/common/apps/summary';
import { onFailure } from '@runner/common/foundation/attempt';
import { whatRuns } from '../instances/running.ts';
import { type Announcing, announcingChange } from './announce.ts';
import { changesOf } from './changes.ts';

/** A summary shows failures, an announcement does not. */
const UNUSED = { max: 3, waits: [] };

/**
 * Announces what is over of what was announced of an app. A trouble with it is only noted: the command
 * has done its work.
 */
export async function announceOver(
  request: Announcing & { readonly app: string },
  command: string,
): Promise<void> {
  const { io, paths, reporter, notify, app: name } = request;
  const announced = async () => {
    const before = findApp(paths, name);
    if (!before?.reported?.down?.length && !before?.reported?.check?.length) return;
    const view = { retries: UNUSED, now: io.now(), ...(await whatRuns(request, [before])) };
    await announcingChange(request, command, (announce) => {
      const app = findApp(paths, name);
      if (!app) return;
      const summary = summaryOf(paths, app, view);
      const { waits, tag } = app.reported ?? {};
      const check = app.check_failed ?? null;
      const seen = { notify, deploys: false, check, summary, waits, tag, now: io.now() };
      const found = changesOf(app, seen);
      for (const change of found.changes) announce({ app, change });
      writeApp(paths, { ...app, reported: found.reported });
    });
  };
  const noted = onFailure(({ message, code }) =>
    reporter.note(`${message}; the next fetch announces what is over (${code})`),
  );
  await announced().catch(noted);
}
