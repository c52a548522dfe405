import { runOnTerminal, type ShownSession } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { contentOf, fingerprint, NEW, newRoot, TOKEN, tokenOf } from './root.ts';

const QUESTION = 'New token (hidden): ';

/** Types `keys` when the question stands there; what the terminal showed, and the status. */
function onTerminal(root: string, args: readonly string[], keys: string): Promise<ShownSession> {
  const options = { root, columns: 200, env: { NO_COLOR: '1' } };
  return runOnTerminal('runner-edit', args, options, { question: QUESTION, keys: [keys] });
}

test('the token is prompted for and not shown', async () => {
  const root = await newRoot();
  const { status, text } = await onTerminal(root, ['shop', '--token', '-'], `${NEW}\r`);
  const done = `Changed shop (acme/shop, branch main, token ${fingerprint(NEW)})`;
  assert.equal([status, text], [0, `${QUESTION}\r\n${done}\r\n`]);
  assert.is(tokenOf(root, 'shop'), NEW);
});

test('a slip can be corrected', async () => {
  const root = await newRoot();
  const { status } = await onTerminal(
    root,
    ['shop', '--token', '-'],
    `wrong\x15${NEW}xy\x7f\x7f\r`,
  );
  assert.is(status, 0);
  assert.is(tokenOf(root, 'shop'), NEW);
});

for (const [key, name, expected] of [
  ['\x03', 'Ctrl-C', 130],
  ['\x04', 'Ctrl-D', 1],
] as const) {
  test(`${name} changes nothing, status ${expected}`, async () => {
    const root = await newRoot();
    const before = contentOf(root);
    const { status, text } = await onTerminal(
      root,
      ['shop', '--branch', 'next', '--token', '-'],
      `half-of-${key}`,
    );
    const sentence = 'runner edit: cancelled, nothing was changed (interrupted)';
    assert.equal([status, text], [expected, `${QUESTION}\r\n${sentence}\r\n`]);
    assert.equal(contentOf(root), before);
  });
}

test('an empty answer is not a token', async () => {
  const root = await newRoot();
  const { status, text } = await onTerminal(root, ['shop', '--token', '-'], '\r');
  const sentence = 'runner edit: the token is empty (token_invalid)';
  assert.equal([status, text], [1, `${QUESTION}\r\n${sentence}\r\n`]);
  assert.is(tokenOf(root, 'shop'), TOKEN);
});

test('nothing is asked for when only the branch changes', async () => {
  const root = await newRoot();
  const { status, text } = await onTerminal(root, ['shop', '--branch', 'next'], '');
  assert.equal([status, text], [0, 'Changed shop (acme/shop, branch next)\r\n']);
});

test.run();
