/** Random sequences of commands agree with the model of the rules: a thousand, or a few. */
import { IS_WHOLE } from '@runner/testing/extent';
import { startGitServer } from '@runner/testing/git-server';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runSequences, seedFrom } from './sequences.ts';
import { TOKEN } from './subject.ts';

const test = suite('sequences');

test('random sequences agree with the rules after each step', async () => {
  const git = await startGitServer({ token: TOKEN });
  const seed = IS_WHOLE ? seedFrom(process.env) : seedFrom(process.env, 1);
  const count = Number(process.env.MODEL_COUNT ?? (IS_WHOLE ? 1_000 : 5));
  const done = await runSequences(git, {
    count,
    length: IS_WHOLE ? 12 : 8,
    jobs: IS_WHOLE ? 4 : 3,
    seed,
  });
  await git.close();
  process.stdout.write(`(${done.sequences} sequences of ${done.steps} steps, seed ${seed})\n`);
  assert.is(done.problems.join('\n\n'), '', `MODEL_SEED=${seed}`);
});

test.run();
