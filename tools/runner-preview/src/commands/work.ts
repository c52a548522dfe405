/** What the commands that change previews share. */
import type { Context } from '@runner/common/cli/command';
import { interruptionOf } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';
import type { PreviewContext } from '../act/context.ts';

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
