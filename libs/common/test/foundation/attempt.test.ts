import { readFileSync } from 'node:fs';
import { orElse, orFail, unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const MISSING = '/none/such';

function fails(error: unknown): () => never {
  return () => {
    throw error;
  };
}

test('orElse returns the result, or the fallback after any error', () => {
  assert.is(
    orElse(() => 1, 2),
    1,
  );
  assert.is(orElse(fails(new TypeError('a bug')), 2), 2);
});

test('unlessFailure gives the other value after a Failure, and passes a bug on', () => {
  assert.is(
    unlessFailure(() => 1, 2),
    1,
  );
  assert.is(unlessFailure(fails(new Failure('locked', 'busy')), 2), 2);
  assert.throws(() => unlessFailure(fails(new TypeError('a bug')), 2), 'a bug');
});

test('orFail describes system errors and rethrows bugs', () => {
  assert.throws(
    () => orFail(() => readFileSync(MISSING), `write ${MISSING}`),
    (error: unknown) =>
      error instanceof Failure &&
      error.code === 'not_writable' &&
      error.message === `cannot write ${MISSING}: it does not exist`,
  );
  assert.throws(() => orFail(fails(new TypeError('a bug')), 'write it'), 'a bug');
});

test.run();
