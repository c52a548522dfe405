/** A thousand random sequences of commands agree with the model of the rules. */
import { startGitServer } from '@runner/testing/git-server';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runSequences, seedFrom } from './sequences.ts';
import { TOKEN } from './subject.ts';

const test = suite('sequences');

test('a thousand random sequences agree with the rules after each step', async () => {
  const git = await startGitServer({ token: TOKEN });
  const seed = seedFrom(process.env);
  const count = Number(process.env.MODEL_COUNT ?? 1_000);
  const done = await runSequences(git, { count, length: 12, jobs: 4, seed });
  await git.close();
  process.stdout.write(`(${done.sequences} sequences of ${done.steps} steps, seed ${seed})\n`);
  assert.is(done.problems.join('\n\n'), '');
});

test.run();
