/** What the short and the long tests of chain share. */
import { createHash } from 'node:crypto';
import { run } from '@runner/testing/run';

export const audit = (root: string, ...args: string[]) => run('runner-audit', args, { root });

export const emit = (root: string, ...lines: string[]) =>
  run('runner-audit', ['emit'], { root, stdin: lines.join('') });

export const sha = (text: string) => createHash('sha256').update(text).digest('hex');

/** What `verify` prints, its status first. */
export async function verified(root: string, ...args: string[]): Promise<unknown[]> {
  const { status, stdout } = await audit(root, 'verify', ...args);
  return [status, ...stdout.trimEnd().split('\n')];
}
