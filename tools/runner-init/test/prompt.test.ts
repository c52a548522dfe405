import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { laidOut, scratches } from './root.ts';

const onTerminal = (folder: string, question: string, key: string, args: readonly string[] = []) =>
  runOnTerminal(
    'runner-init',
    [folder, ...args],
    { root: join(folder, '../no-root'), columns: 200, env: { NO_COLOR: '1', TMPDIR: scratches } },
    { question, keys: [key] },
  );

for (const [key, isWritten] of [
  ['\r', true],
  ['n\r', false],
] as const) {
  test(`the file is shown, and ${JSON.stringify(key)} ${isWritten ? 'writes it' : 'leaves it'}`, async () => {
    const folder = laidOut({ 'index.html': '<h1>Hi</h1>' });
    const { status, text } = await onTerminal(folder, '.deploy.yml? [Y/n] ', key);
    assert.equal([status, existsSync(join(folder, '.deploy.yml'))], [0, isWritten]);
    assert.is(
      text.match(/type: none # a web server shows it: add a domain, then sudo runner setup /g)
        ?.length,
      1,
    );
    assert.is(text.includes('Wrote '), isWritten);
  });
}

test.run();
