import { existsSync } from 'node:fs';
import { findSecret } from '@runner/testing/secret-search';
import { runOnTerminal, type ShownSession } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { contentOf, fingerprint, newRoot, register, SHOP, TOKEN } from './root.ts';

const QUESTION = 'Token for acme/shop (hidden): ';
const ADDED = `Added shop (acme/shop, branch main, token ${fingerprint(TOKEN)})`;
const NEXT = 'Next: runner deploy shop --check';

/** Types each of `keys` once the question stands there; what the terminal received, and the status. */
function type(
  root: string,
  keys: readonly string[],
  args: readonly string[] = SHOP,
): Promise<ShownSession> {
  const options = { root, env: { NO_COLOR: '1' } };
  return runOnTerminal('runner-add', args, options, { question: QUESTION, keys });
}

test('on a terminal the token is prompted for and never shown', async () => {
  const root = newRoot();
  const { status, text } = await type(root, [TOKEN, '\r']);
  assert.equal([status, text], [0, `${QUESTION}\r\n${ADDED}\r\n${NEXT}\r\n`]);
  assert.equal(findSecret(text, TOKEN), []);
});

test('a token that is pasted or typed key by key, and corrected, is the same', async () => {
  for (const keys of [
    [`${TOKEN}\n`],
    [...TOKEN, '\r'],
    [`${TOKEN}xy`, '\x7f', '\b', '\r'],
    ['nonsense', '\x15', TOKEN, '\r'],
  ]) {
    const { status, text } = await type(newRoot(), keys);
    assert.equal(
      [status, text],
      [0, `${QUESTION}\r\n${ADDED}\r\n${NEXT}\r\n`],
      JSON.stringify(keys),
    );
  }
});

test('Ctrl-C and Ctrl-D cancel: status 130 and 1, a sentence, nothing written', async () => {
  for (const [key, expected] of [
    ['\x03', 130],
    ['\x04', 1],
  ] as const) {
    const root = newRoot();
    const { status, text } = await type(root, [TOKEN.slice(0, 9), key]);
    assert.is(text, `${QUESTION}\r\nrunner add: cancelled, nothing was changed (interrupted)\r\n`);
    assert.is(status, expected);
    assert.not.ok(existsSync(root));
  }
});

test('an empty or invalid answer is refused and nothing is written', async () => {
  const root = newRoot();
  await register(root, 'blog');
  const before = contentOf(root);
  for (const [answer, sentence] of [
    ['', 'the token is empty (token_invalid)'],
    [
      'two words',
      'the token has characters that no code host issues: spaces, line breaks or non-ASCII (token_invalid)',
    ],
  ] as const) {
    const { status, text } = await type(root, [`${answer}\r`]);
    assert.equal([status, text], [1, `${QUESTION}\r\nrunner add: ${sentence}\r\n`]);
  }
  assert.equal(contentOf(root), before);
});

test('an app that already exists is reported before the prompt for a token', async () => {
  const root = newRoot();
  await register(root, 'shop');
  const { status, text } = await type(root, []);
  assert.is(text, "runner add: an app called 'shop' is registered already (app_exists)\r\n");
  assert.is(status, 1);
});

test('with --json the prompt still appears on the terminal', async () => {
  const { status, text } = await type(newRoot(), [`${TOKEN}\r`], [...SHOP, '--json']);
  assert.is(status, 0);
  assert.is(text.slice(0, QUESTION.length + 2), `${QUESTION}\r\n`);
  assert.is(JSON.parse(text.slice(QUESTION.length)).fingerprint, fingerprint(TOKEN));
});

test.run();
