/** A few random sequences of commands agree with the model; a thousand are in the long test. */
import { startGitServer } from '@runner/testing/git-server';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runSequences, seedFrom } from './sequences.ts';
import { TOKEN } from './subject.ts';

const test = suite('sequences');

test('after each of a few random steps everything agrees with the rules', async () => {
  const git = await startGitServer({ token: TOKEN });
  const seed = seedFrom(process.env, 1);
  const { problems } = await runSequences(git, { count: 5, length: 8, jobs: 3, seed });
  await git.close();
  assert.is(problems.join('\n\n'), '', `MODEL_SEED=${seed}`);
});

test.run();
