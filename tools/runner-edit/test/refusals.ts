/** What the short and the long tests of refusals share. */
import { refusal, refusalBy } from '@runner/testing/refusal';
import * as assert from 'uvu/assert';
import { newRoot } from './root.ts';

/** Told with and without --json; the refusal must leave everything as it was. */
export async function refused(
  args: readonly string[],
  status: number,
  sentence: string,
  { stdin = '', change }: { stdin?: string; change?(root: string): void } = {},
): Promise<void> {
  const root = await newRoot();
  change?.(root);
  const wanted = refusal(status, sentence.replaceAll('ROOT', root));
  assert.equal(await refusalBy('runner-edit', args, { root, stdin }), wanted);
}
