/** A few kills -9 of deploys, with the drivers process and command, one and two instances. */
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

killTests(test, () => git, [2, 1, 2, 1]);

test.run();
