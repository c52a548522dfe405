/** Starting one of our executables in the background: it outlives this command, and Ctrl-C does not end it. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { passed } from '@runner/common/foundation/apart';
import type { Server } from '@runner/common/foundation/paths';

/** Starts `tool` on the same root. Returns whether it is installed. */
export function startInBackground(
  { io, paths }: Server,
  tool: string,
  args: readonly string[],
): boolean {
  const program = join(dirname(io.program), tool);
  if (!existsSync(program)) return false;
  const child = spawn(process.execPath, [program, ...args, '--root', paths.root], {
    env: passed(io.env),
    detached: true,
    stdio: 'ignore',
  });
  child.once('error', () => {});
  child.unref();
  return true;
}
