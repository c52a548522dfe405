/** What a text would change in a file, as diff(1) shows it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Env } from '../foundation/io.ts';

const OUTPUT_MAX = 4_194_304;

/** The unified diff from what `path` holds to what the command `by` would write; empty if they are equal. */
export function difference(
  env: Env,
  { path, by }: { readonly path: string; readonly by: string },
  before: string | Buffer,
  after: string,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'runner-diff-'));
  try {
    writeFileSync(join(folder, 'before'), before);
    const labels = ['-L', `${path} (now)`, '-L', `${path} (${by})`];
    const { stdout } = spawnSync('diff', ['-u', ...labels, join(folder, 'before'), '-'], {
      env: { ...env, LC_ALL: 'C' },
      encoding: 'utf8',
      input: after,
      maxBuffer: OUTPUT_MAX,
    });
    return stdout ?? '';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
