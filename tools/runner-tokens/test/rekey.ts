/** What the short and the long tests of rekey share. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { contentOf, rekey } from './rekey-root.ts';

export const stateText = (root: string, app: string) =>
  readFileSync(join(root, 'state', `${app}.json`), 'utf8');

/** Refused in the same words with and without --dry-run; nothing has changed. */
export async function refused(
  root: string,
  sentence: string,
  env: Record<string, string> = {},
): Promise<void> {
  for (const args of [[], ['--dry-run']]) {
    const before = contentOf(root);
    const { status, stdout, stderr } = await rekey(root, args, { env });
    assert.equal([status, stdout, stderr], [1, '', `runner tokens rekey: ${sentence}\n`]);
    assert.equal(contentOf(root), before);
  }
}
