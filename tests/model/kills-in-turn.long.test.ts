/** A kill -9 of a deploy with each of the drivers process and command; the long test has three hundred. */
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { suite } from 'uvu';
import { killTests } from './kills.ts';
import { TOKEN } from './subject.ts';

const test = suite('kills');
let git: GitServer;

test.before(async () => {
  git = await startGitServer({ token: TOKEN });
});
test.after(() => git.close());

killTests(test, () => git, [0, 1, 0, 1]);

test.run();
