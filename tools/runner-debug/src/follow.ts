/** The log of a running deploy, line by line as it grows. */
import { requireApp } from '@runner/common/apps/store';
import { runningDeploy as runningDeployOf } from '@runner/common/apps/summary';
import type { Context } from '@runner/common/cli/command';
import { readRange } from '@runner/common/files/read';
import { signalStatus } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import type { Redact } from '@runner/common/redaction/known-secrets';
import { createLineReader } from '@runner/extract/extract';
import type { KeptLog } from './kept-log.ts';
import type { LogLine } from './marked-log.ts';

/** How often the log is read, in milliseconds. */
const POLL = 200;
const BLOCK = 65_536;

/** ID of the deploy of an app that runs now. Throws `app_not_found`. */
export function runningDeploy(paths: Paths, name: string): string | undefined {
  return runningDeployOf(requireApp(paths, name))?.deploy_id;
}

/** Shows lines until the deploy has ended, a signal comes or the reader leaves; the exit status. */
export async function follow(
  { io, paths }: Pick<Context, 'io' | 'paths'>,
  { app, deployId, fd }: KeptLog,
  redact: Redact,
  show: (lines: LogLine[]) => Promise<void>,
): Promise<number> {
  let stoppedBy: NodeJS.Signals | undefined;
  let wake = () => {};
  const remove = io.onSignal((signal) => {
    stoppedBy = signal;
    wake();
  });
  let lines: LogLine[] = [];
  const reader = createLineReader((text, line, overwritten, cut) => {
    if (!overwritten) lines.push({ line, text: redact(text), marked: false, ...(cut && { cut }) });
  });
  let running = true;
  for (let position = 0; !stoppedBy && !io.stdout.closed; ) {
    const bytes = readRange(fd, position, BLOCK);
    position += bytes.length;
    if (bytes.length > 0) reader.push(bytes);
    else if (!running) reader.end();
    await show(lines);
    lines = [];
    if (bytes.length > 0) continue;
    if (!running) break;
    // What was written before the deploy ended is read in one more round.
    running = runningDeploy(paths, app) === deployId;
    if (running)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
  }
  remove();
  return stoppedBy ? signalStatus(stoppedBy) : 0;
}
