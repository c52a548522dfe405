/** Random operations on three kinds of app leave what is served, shown and recorded the same: a thousand sequences, or a few. */
import { IS_WHOLE } from '@runner/testing/extent';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { suite } from 'uvu';
import { makeOperations } from './operations.ts';
import { playAll } from './sequences.ts';
import { TOKEN } from './subject.ts';
import { attemptAll } from './whole-view.ts';

const test = suite('operations');
let git: GitServer;

test.before(async () => {
  git = await startGitServer({ token: TOKEN });
});
test.after(() => git.close());

test('every operation on three kinds of app leaves what is served, shown and recorded the same', () =>
  playAll(
    {
      make: (seed) => makeOperations(seed, IS_WHOLE ? 30 : 20),
      attempt: (steps) => attemptAll(git, steps),
    },
    4,
  ));

test.run();
