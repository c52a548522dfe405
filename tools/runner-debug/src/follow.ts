/** The log of a running deploy, line by line as it grows. */

import { runningDeploy as runningDeployOf } from '@runner/common/apps/state-word';
import { requireApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { readRange } from '@runner/common/files/read';
import type { Paths } from '@runner/common/foundation/paths';
import { poll } from '@runner/common/foundation/poll';
import type { Redact } from '@runner/common/redaction/known-secrets';
import { createLineReader } from '@runner/extract/extract';
import type { KeptLog } from './kept-log.ts';
import type { LogLine } from './marked-log.ts';

const BLOCK = 65_536;

/** ID of the deploy of an app that runs now. Throws `app_not_found`. */
export function runningDeploy(paths: Paths, name: string): string | undefined {
  return runningDeployOf(requireApp(paths, name))?.deploy_id;
}

/** Prints lines until the deploy ends, a signal arrives or the pipe is closed. Returns the exit status. */
export async function follow(
  { io, paths }: Pick<Context, 'io' | 'paths'>,
  { app, deployId, fd }: KeptLog,
  redact: Redact,
  show: (lines: LogLine[]) => Promise<void>,
): Promise<number> {
  let lines: LogLine[] = [];
  const reader = createLineReader((text, line, overwritten, cut) => {
    if (!overwritten) lines.push({ line, text: redact(text), marked: false, ...(cut && { cut }) });
  });
  let running = true;
  let position = 0;
  return poll(io, async () => {
    const bytes = readRange(fd, position, BLOCK);
    position += bytes.length;
    if (bytes.length > 0) reader.push(bytes);
    else if (!running) reader.end();
    await show(lines);
    lines = [];
    if (bytes.length > 0) return 'more';
    if (!running) return 'end';
    // Read once more: lines may have been written before the deploy ended.
    running = runningDeploy(paths, app) === deployId;
    return running ? 'wait' : 'more';
  });
}
