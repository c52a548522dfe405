/** The files in `test/real/`: crontabs and schedule.rb files in the forms that people publish. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutFolder } from '@runner/testing/run';

const FOLDER = join(checkoutFolder(), 'tools/runner-import/test/real');
const KINDS = ['crontab', 'whenever'] as const;

export const REAL = KINDS.flatMap((format) =>
  readdirSync(join(FOLDER, format)).map((file) => ({
    format,
    file,
    text: readFileSync(join(FOLDER, format, file), 'utf8'),
  })),
);
