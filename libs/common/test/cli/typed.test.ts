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

test('the server of an address is shown as it is to be copied, its path and a login are not', () => {
  const server = 'http://localhost:3000';
  const message = `git_url: ${server} } for ${server}/hello`;
  const shown = (typed: string) => withoutTokens(message, ['add', typed], undefined);
  assert.is(shown(`${server}/hello`), `git_url: ${server} } for [REDACTED]`);
  assert.is(
    withoutTokens('no http://ada:12345', ['http://ada:12345@git.example'], undefined),
    'no [REDACTED]',
  );
});

test('the path of a repository on this machine is shown', () => {
  const path = 'file:///srv/git/hello.git';
  assert.is(withoutTokens(`no ${path}`, ['add', path], undefined), `no ${path}`);
});

test.run();
