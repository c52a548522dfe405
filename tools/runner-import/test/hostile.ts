/** What the short and the long tests of hostile share. */
import { Failure } from '@runner/common/foundation/failure';
import { UNSAFE } from '@runner/common/text/harmless';
import * as assert from 'uvu/assert';
import { type ImportAnswer, importText } from '../src/answer/answer.ts';
import type { FormatName } from '../src/formats/all.ts';

/** Milliseconds; far above what an import takes on a busy machine. */
export const SOON = 10_000;

/** The answer; undefined of a text that is refused. */
export async function imported(
  format: FormatName,
  text: string,
  file: string,
): Promise<ImportAnswer | undefined> {
  const begun = Date.now();
  try {
    return await importText({ format, text, file, root: '/opt/runner' });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    assert.is(error.code, 'not_imported');
    assert.is(error.message.search(UNSAFE), -1, error.message);
    return undefined;
  } finally {
    assert.ok(Date.now() - begun < SOON, `${format}: ${text.slice(0, 80)}`);
  }
}
