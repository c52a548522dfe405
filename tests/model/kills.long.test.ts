/** Kills -9 of deploys, with the drivers process and command, one and two instances: 300, or two. */
import { IS_WHOLE } from '@runner/testing/extent';
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

killTests(test, () => git, IS_WHOLE ? [75, 75, 75, 75] : [0, 1, 0, 1]);

test.run();
