import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('a warning of Node, as of what Node 20 calls experimental, is not printed', async () => {
  const root = temporaryFolder('root');
  const warns = join(temporaryFolder('warns'), 'warns.cjs');
  writeFileSync(warns, "process.emitWarning('odd', 'ExperimentalWarning');\n");
  const { status, stderr } = await run('runner-notify', ['queue', 'list'], {
    root,
    env: { NODE_OPTIONS: `--require ${warns}` },
  });
  assert.equal([status, stderr.replace(/^no messages are waiting\n$/, '')], [0, '']);
});

test.run();
