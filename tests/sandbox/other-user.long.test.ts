/** The sandbox of a user on a server where other users run runner, too. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnvironment, distFolder } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isAvailable } from './available.ts';

const OTHER = 61_001;
/** The package makes it, for the user runner. */
const FOLDER = '/run/runner';

const as = [`--reuid=${OTHER}`, `--regid=${OTHER}`, '--clear-groups'];
/** A checkout may be in a folder that others cannot enter. */
const isReachable = () =>
  spawnSync('setpriv', [...as, 'test', '-x', join(distFolder(), 'bin/runner-doctor')]).status === 0;

const user = suite('the sandbox of another user');
const test = isAvailable && process.geteuid?.() === 0 && isReachable() ? user : user.skip;

test('a secrets folder of another user blocks no command', () => {
  const isMade = !existsSync(FOLDER);
  if (isMade) mkdirSync(FOLDER, { mode: 0o710 });
  try {
    const home = temporaryFolder('user', '/tmp');
    const root = join(home, 'root');
    mkdirSync(root);
    for (const folder of [home, root]) chownSync(folder, OTHER, OTHER);
    chmodSync(home, 0o700);
    const done = spawnSync(
      'setpriv',
      [...as, ...[join(distFolder(), 'bin/runner-doctor'), '--sandbox', '--root', root]],
      {
        env: { ...cleanEnvironment(), HOME: home, TMPDIR: home, RUNNER_SANDBOX: 'auto' },
        encoding: 'utf8',
        cwd: '/',
      },
    );
    assert.is(done.status, 0, done.stdout + done.stderr);
    // Every attempt fails when bubblewrap itself does: this one has to succeed.
    assert.match(done.stdout, /a file in \/tmp +reached +stopped +allowed +allowed/);
  } finally {
    if (isMade) rmSync(FOLDER, { recursive: true });
  }
});

user.run();
