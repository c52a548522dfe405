import { runOnTerminal, type ShownSession } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { contentOf, newRoot, remove } from './server.ts';

const QUESTION = "Remove 'shop', its token and its releases? [y/N] ";

/** Types `keys` when the question stands there. */
function onTerminal(root: string, keys: string): Promise<ShownSession> {
  const options = { root, columns: 200, env: { NO_COLOR: '1' } };
  return runOnTerminal('runner-remove', ['shop'], options, { question: QUESTION, keys: [keys] });
}

for (const yes of ['y', 'Y', 'yes', ' y ']) {
  test(`${JSON.stringify(yes)} is a yes`, async () => {
    const root = await newRoot();
    const { status, text } = await onTerminal(root, `${yes}\r`);
    assert.equal([status, text], [0, `${QUESTION}${yes}\r\nRemoved shop\r\n`]);
    assert.not.ok('state/shop.json' in contentOf(root));
    assert.ok('state/blog.json' in contentOf(root));
  });
}

for (const no of ['n', '', 'yep', 'shop', '\x04']) {
  test(`${JSON.stringify(no)} is a no, and nothing changes`, async () => {
    const root = await newRoot();
    const before = contentOf(root);
    const { status, text } = await onTerminal(root, `${no}\r`);
    assert.is(status, 1);
    assert.ok(
      text.endsWith('runner remove: not confirmed, nothing was changed (interrupted)\r\n'),
      text,
    );
    assert.equal(contentOf(root), before);
  });
}

test('Ctrl-D alone is a no, told on a line of its own', async () => {
  const { status, text } = await onTerminal(await newRoot(), '\x04');
  const told = 'runner remove: not confirmed, nothing was changed (interrupted)\r\n';
  assert.equal([status, text], [1, `${QUESTION}\r\n${told}`]);
});

test('Ctrl-C ends it as a signal does, and nothing changes', async () => {
  const root = await newRoot();
  const before = contentOf(root);
  const { signal } = await onTerminal(root, '\x03');
  assert.is(signal, 2);
  assert.equal(contentOf(root), before);
  assert.is((await remove(root, ['shop', '--yes'])).status, 0);
});

test.run();
