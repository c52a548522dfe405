/** What the short and the long tests of refusals share. */
import { word } from '@runner/common/text/shell';
import { refusal, refusalBy } from '@runner/testing/refusal';
import * as assert from 'uvu/assert';
import { newRoot, register } from './root.ts';

/** Runs on a root with an app `shop`; the refusal must leave everything as it was. */
export async function refused(
  args: readonly string[],
  status: number,
  sentence: string,
  { stdin = '', change }: { stdin?: string; change?(root: string): void } = {},
): Promise<void> {
  const root = newRoot();
  await register(root, 'shop');
  change?.(root);
  const said = sentence
    .replace(/(?<=run chmod 600 )ROOT\S+/, (path) => word(path.replace('ROOT', root)))
    .replaceAll('ROOT', root);
  const wanted = refusal(status, said);
  assert.equal(await refusalBy('runner-add', args, { root, stdin }), wanted);
}

export const BLOG = ['--repo', 'acme/blog', '--branch', 'main'];
