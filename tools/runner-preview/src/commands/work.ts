/** What the commands that change previews share. */
import { requireOwnApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { interruptionOf } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';
import type { PreviewContext, PreviewedApp } from '../act/context.ts';

/** An app whose previews are enabled. Throws `app_not_found`, `name_invalid`, `not_configured`. */
export function requirePreviewed(paths: Paths, name: string): PreviewedApp {
  const state = requireOwnApp(paths, name);
  const { app, previews } = state;
  if (previews) return { ...state, previews };
  throw new Failure('not_configured', `'${app}' has no previews: run runner preview enable ${app}`);
}

/** Runs `work` with the progress of its deploys; a signal ends what is going on. */
export async function working<T>(
  context: Context,
  trigger: string,
  work: (context: PreviewContext) => Promise<T>,
): Promise<T> {
  const { io, paths, note } = context;
  const interruption = interruptionOf(io);
  const progress = progressFor({ ...context, options: { events: false }, format: 'human' }, false);
  const { signal, next } = interruption;
  const done = (line: string) => {
    progress.end();
    note(line);
  };
  try {
    return await work({ io, paths, reporter: progress.reporter, signal, next, trigger, done });
  } finally {
    progress.end();
    interruption.remove();
  }
}
