/** Random sequences of commands agree with the model of the rules, or with themselves: a thousand, or a few. */
import { freePort } from '@runner/testing/app';
import { IS_WHOLE } from '@runner/testing/extent';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { attempt } from './attempt.ts';
import { makeOperations } from './operations.ts';
import type { Ports } from './sample-app.ts';
import { type Play, runSequences, seedFrom } from './sequences.ts';
import { makeSteps } from './steps.ts';
import { TOKEN } from './subject.ts';
import { attemptAll } from './whole-view.ts';

const NAMES = ['default', 'api', 'web'];
const test = suite('sequences');
let git: GitServer;

test.before(async () => {
  git = await startGitServer({ token: TOKEN });
});
test.after(() => git.close());

async function run(play: Play, part: number): Promise<void> {
  const seed = IS_WHOLE ? seedFrom(process.env) : seedFrom(process.env, 1);
  const jobs = IS_WHOLE ? 4 : 3;
  const done = await runSequences(play, { count: IS_WHOLE ? 1_000 : part, jobs, seed });
  process.stdout.write(`(${done.sequences} sequences of ${done.steps} steps, seed ${seed})\n`);
  assert.is(done.problems.join('\n\n'), '', `MODEL_SEED=${seed}`);
}

test('random sequences agree with the rules after each step', async () => {
  // The ports of each worker, used by one sequence after the other.
  const ports: Ports[] = [];
  for (let worker = 0; worker < 4; worker += 1) {
    const each = NAMES.map(async (name) => [name, await freePort()] as const);
    ports.push(Object.fromEntries(await Promise.all(each)));
  }
  const length = IS_WHOLE ? 12 : 8;
  await run(
    {
      make: (seed) => makeSteps(seed, length),
      attempt: (steps, worker) => attempt(git, ports[worker] as Ports, steps),
    },
    5,
  );
});

test('every operation on three kinds of app leaves what is served, shown and recorded the same', () =>
  run(
    {
      make: (seed) => makeOperations(seed, IS_WHOLE ? 30 : 20),
      attempt: (steps) => attemptAll(git, steps),
    },
    4,
  ));

test.run();
