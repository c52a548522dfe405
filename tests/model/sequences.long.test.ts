/** Random sequences of commands agree with the model of the rules: a thousand, or a few. */
import { freePort } from '@runner/testing/app';
import { IS_WHOLE } from '@runner/testing/extent';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { suite } from 'uvu';
import { attempt } from './attempt.ts';
import type { Ports } from './sample-app.ts';
import { playAll } from './sequences.ts';
import { makeSteps } from './steps.ts';
import { TOKEN } from './subject.ts';

const NAMES = ['default', 'api', 'web'];
const test = suite('sequences');
let git: GitServer;

test.before(async () => {
  git = await startGitServer({ token: TOKEN });
});
test.after(() => git.close());

test('random sequences agree with the rules after each step', async () => {
  // The ports of each worker, used by one sequence after the other.
  const ports: Ports[] = [];
  for (let worker = 0; worker < 4; worker += 1) {
    const each = NAMES.map(async (name) => [name, await freePort()] as const);
    ports.push(Object.fromEntries(await Promise.all(each)));
  }
  const length = IS_WHOLE ? 12 : 8;
  await playAll(
    {
      make: (seed) => makeSteps(seed, length),
      attempt: (steps, worker) => attempt(git, ports[worker] as Ports, steps),
    },
    5,
  );
});

test.run();
