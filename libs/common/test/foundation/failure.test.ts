import { Failure, systemCode, systemFailure } from '@runner/common/foundation/failure';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** As Node reports an errno that its library has no name for. */
const unnamed = (errno: number) => Object.assign(new Error(), { code: 'UNKNOWN', errno });

test('a used up quota is a full disk, and is not called UNKNOWN', () => {
  const failure = systemFailure(unnamed(-122), 'write /r/state');
  assert.ok(failure instanceof Failure);
  const { code, message } = failure;
  assert.is(code, 'disk_full');
  assert.is(message, 'cannot write /r/state: the disk quota is used up');
  assert.is(systemCode(unnamed(-116)), 'ESTALE');
  assert.is(systemCode(unnamed(-999)), 'UNKNOWN');
});

test.run();
