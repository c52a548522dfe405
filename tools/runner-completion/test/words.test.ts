/** The program that all three completions ask, as it stands in the completion of bash. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CASES, env, namesOf, offered, source } from './words.ts';

test('each place of a command line is offered what fits', async () => {
  for (const [typed, current, wanted] of CASES)
    assert.equal(
      namesOf(await offered([...typed.split(' '), current])),
      wanted,
      `${typed} ${current}`,
    );
});

test('completion never starts Node', async () => {
  const folder = temporaryFolder('no-node');
  const marker = join(folder, 'started');
  writeFileSync(join(folder, 'node'), `#!/bin/sh\n: >'${marker}'\n`, { mode: 0o755 });
  const path = `${folder}:${env.PATH}`;
  for (const [typed, current] of CASES) {
    const args = ['-s', '--', ...typed.split(' '), current];
    spawnSync('sh', args, { input: await source(), env: { ...env, PATH: path } });
  }
  assert.not.ok(existsSync(marker));
  spawnSync('runner', ['list'], { env: { ...env, PATH: path } });
  assert.ok(existsSync(marker), 'a command of ours does start it');
});

test.run();
