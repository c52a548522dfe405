/** What the short and the long tests of prove share. */
import { readdirSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { init, laidOut, scratches, written } from './root.ts';
import type { FixtureFiles } from './vectors/repositories.ts';

export async function proofOf(files: FixtureFiles, env: Record<string, string> = {}) {
  const folder = laidOut(files);
  const ended = await init(folder, ['--yes'], { env });
  assert.equal(readdirSync(scratches), [], 'nothing is left');
  const [, line = ''] = /^# .*?\. ((?:Proven|Not proven).*)$/m.exec(written(folder)) ?? [];
  return { ...ended, line, file: written(folder) };
}
