/** Programs that only record how they were called, in place of a supervisor's client. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';

/** Programs on PATH, and what they were called with. */
export interface Recording {
  readonly env: Record<string, string>;
  readonly calls: () => string[];
}

/** Puts programs on PATH that record their calls; `script` is what else they do. */
export function recording(names: readonly string[], script: string): Recording {
  const folder = temporaryFolder('bin');
  const record = join(folder, 'calls');
  for (const name of names) {
    const text = `#!/bin/sh\necho "${name} $*" >> '${record}'\n${script}\n`;
    writeFileSync(join(folder, name), text, { mode: 0o755 });
  }
  return {
    env: { PATH: `${folder}:${process.env.PATH}` },
    calls: () => (existsSync(record) ? readFileSync(record, 'utf8').trimEnd().split('\n') : []),
  };
}
