/** How two texts differ, as diff(1) shows it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { passed } from '../foundation/apart.ts';
import { orFail } from '../foundation/attempt.ts';
import type { Env } from '../foundation/io.ts';

const OUTPUT_MAX = 4_194_304;

/** The unified diff of two texts with a label each; empty if they are equal. Throws `disk_full`, `not_writable`. */
export function difference(
  env: Env,
  [old, now]: readonly [before: string, after: string],
  before: string | Buffer,
  after: string | Buffer,
): string {
  const doing = `write a file in ${tmpdir()}`;
  const folder = orFail(() => mkdtempSync(join(tmpdir(), 'runner-diff-')), doing);
  try {
    orFail(() => writeFileSync(join(folder, 'before'), before), doing);
    const labels = ['-L', old, '-L', now];
    const { stdout } = spawnSync('diff', ['-u', ...labels, join(folder, 'before'), '-'], {
      env: { ...passed(env), LC_ALL: 'C' },
      input: after,
      maxBuffer: OUTPUT_MAX,
    });
    return stdout?.toString('utf8') ?? '';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
