/** A terminal inside the sandbox: what runs there has job control, and cannot type into the operator's. */
import { spawnSync } from 'node:child_process';
import type { Io } from '@runner/common/foundation/io';
import { word } from '@runner/common/text/shell';
import type { Program } from '../sandbox/sandbox.ts';

const SCRIPT = '/usr/bin/script';

/** Whether there is a terminal to pass on, and script(1), which makes one. */
export function hasTerminal({ stdin, stdout, stderr }: Io): boolean {
  if (!stdin.isTTY || !stdout.isTTY || !stderr.isTTY) return false;
  const { stdout: version } = spawnSync(SCRIPT, ['--version'], { env: {}, encoding: 'utf8' });
  return version?.includes('util-linux') ?? false;
}

/** The program on a terminal of its own, and the variable that script(1) needs for it. */
export function onOwnTerminal(
  { file, args }: Program,
  { SHELL: shell }: Readonly<Record<string, string>>,
): Program & { readonly env: Readonly<Record<string, string>> } {
  // It starts $SHELL, which may be one that refuses.
  const own = shell === undefined ? 'unset SHELL' : `SHELL=${word(shell)}`;
  const line = `${own}; exec ${[file, ...args].map(word).join(' ')}`;
  return {
    file: SCRIPT,
    args: ['--quiet', '--return', '--command', line, '/dev/null'],
    env: { SHELL: '/bin/sh' },
  };
}
