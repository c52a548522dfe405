import { withoutTokens } from '@runner/common/cli/typed';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('a commit that a command compares is shown, any other word like a token is not', () => {
  const commits = ['6102c12504a3', '6102c12504a3536c'.padEnd(40, '0')];
  const argv = ['shop', ...commits];
  const message = `nothing is known of ${commits.join(' and ')}`;
  assert.is(withoutTokens(message, argv, { app: {}, from: {}, to: {} } as never), message);
  assert.is(
    withoutTokens(message, argv, undefined),
    'nothing is known of [REDACTED] and [REDACTED]',
  );
});

test.run();
