/** Removing a preview: all of it but its files, which stay a while. */
import { changeApp } from '@runner/common/apps/change';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { Failure } from '@runner/common/foundation/failure';
import { initiatorOf } from '@runner/common/foundation/user';
import { dropPreviewDatabase } from '@runner/deploy/database/preview';
import { endHold } from '@runner/deploy/hold/traffic';
import { stopInstances } from '@runner/deploy/instances/stop';
import { secretsAnyway } from '@runner/deploy/journal/secrets';
import { operate } from '@runner/deploy/operation/operate';
import { removeApp } from '@runner/deploy/remove/remove';
import { endHooks } from '@runner/deploy/run/processes';
import { failureOf } from '@runner/deploy/run/step';
import { changePreview, type PreviewContext, recordPreview, show } from './context.ts';

/** Stops it and drops its database. What a killed deploy left is undone first. Throws `stop_failed`, `locked`. */
export async function removePreview(
  context: PreviewContext,
  app: string,
  why: string,
): Promise<void> {
  const { io, paths, reporter, signal, trigger } = context;
  const reason = why.slice(0, 200);
  const { traffic_hold: hold } = requireApp(paths, app);
  if (hold) endHold({ io, paths, app }, hold, 'the preview was removed');
  changePreview(context, app, ({ undone_at: _, ...now }) => ({ ...now, removed_why: reason }));
  const open = (state: AppState) => secretsAnyway(context, state);
  const request = { io, paths, app, reporter, signal, trigger, notify: false };
  const problems = await operate(request, 'stop', { open }, async (op) => {
    const stopped = await stopInstances({ io, paths }, op.app);
    endHooks(paths.app(app).dir);
    const dropped = await failureOf('migrate', () => dropPreviewDatabase(op));
    return [
      ...stopped,
      ...(dropped ? [`its database was not dropped: ${op.redact(dropped.message)}`] : []),
    ];
  });
  if (problems.length > 0) {
    const left = problems.join('; ').slice(0, 500);
    changePreview(context, app, (now) => ({ ...now, left }));
    // It answers no more, whatever is left of it here.
    await show(context, app);
    throw new Failure('stop_failed', `${app} is not wholly removed: ${left}`);
  }
  const { preview, instances } = requireApp(paths, app);
  if (!preview) return;
  recordPreview(context, 'PreviewRemoved', { preview, reason });
  const removed_at = io.now().toISOString();
  const { outcome: _, error: __, left: ___, ...rest } = preview;
  const names = Object.keys(instances);
  const stopped = { since: removed_at, by: initiatorOf(io, trigger), reason, instances: names };
  // A later commit that fails must not bring this one back: it may have lost its label.
  changeApp({ io, paths, app, command: 'preview' }, (now) => {
    return { ...now, preview: { ...rest, removed_at }, ...(names.length > 0 && { stopped }) };
  });
  context.done(`${app}: removed: ${reason}`);
  await show(context, app);
}

export async function purgePreview({ io, paths, reporter }: PreviewContext, app: string) {
  const note = (text: string) => reporter.note(text);
  await removeApp({ io, paths, app, purge: true, force: true, note });
}
