/** The ways out of the sandbox: each is open without it, and closed in it. */
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isAvailable } from './available.ts';

interface Report {
  readonly holds: boolean;
  readonly escaped: number;
  readonly attempts: readonly {
    readonly attempt: string;
    readonly without: string;
    readonly build: string;
  }[];
}

const escapes = suite('escapes');
const test = isAvailable ? escapes : escapes.skip;

test('nothing that succeeds without the sandbox succeeds in it', async () => {
  const { status, stdout } = await run('runner-doctor', ['--sandbox', '--json']);
  const { holds, escaped, attempts } = JSON.parse(stdout) as Report;
  assert.equal([status, holds, escaped], [0, true, 0]);
  const tried = attempts.filter(({ without }) => without !== 'absent');
  assert.ok(tried.length >= 40, `${tried.length} attempts`);
  // Otherwise the attempt itself would be broken.
  assert.equal(
    tried.filter(({ without }) => without !== 'reached'),
    [],
  );
  assert.equal(
    tried.filter(({ build }) => build !== 'stopped'),
    [],
  );
});

escapes.run();
