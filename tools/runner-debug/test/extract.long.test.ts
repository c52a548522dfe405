import { generateKeyPairSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { extract, FAILING } from './extract.ts';
import { rootWith } from './log.ts';

test('of a private key nothing is shown, in one piece or line by line, behind speakers too', async () => {
  const key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
  const lines = String(key.export({ type: 'sec1', format: 'pem' }))
    .trim()
    .split('\n');
  for (const speaker of ['', 'web-1  | ', '[api] ']) {
    const log = ['error: invalid key', ...lines, 'error: bad key'].map((line) => speaker + line);
    const { status, stdout, stderr } = await extract(`${log.join('\n')}\n`);
    assert.equal([status, stderr], [0, '']);
    assert.match(stdout, /invalid key/);
    for (const line of lines) assert.not.ok(stdout.includes(line.slice(0, 20)), stdout);
  }
});

test('the tokens of all apps under the root are known, and the credentials of its chats', async () => {
  const root = join(temporaryFolder('extract'), 'root');
  const tokens = ['the-0ne-token-of-blog', 'an0ther-token-of-shop'];
  for (const [index, app] of ['blog', 'shop'].entries()) {
    const args = ['--repo', `acme/${app}`, '--branch', 'main', '--token', '-'];
    const { status } = await run('runner-add', args, { root, stdin: tokens[index] ?? '' });
    assert.is(status, 0);
  }
  writeFileSync(join(root, 'config.yml'), 'telegram_bot_token: 4711:of-our-own\n', { mode: 0o600 });
  const log = `error: ${tokens.join(' and ')} are wrong, so is of-our-own\n`;
  const shown = 'error: [REDACTED] and [REDACTED] are wrong, so is [REDACTED]\n';
  for (const args of [[], ['--app', 'blog']]) {
    const { status, stdout, stderr } = await extract(log, args, root);
    assert.equal([status, stdout, stderr], [0, shown, '']);
  }
  // Without the keys no token can be known; everything else is still redacted.
  rmSync(join(root, 'mkey'));
  const without = await extract(log, [], root);
  assert.equal([without.status, without.stderr], [0, '']);
});

test('an app without a good deploy leaves nothing out', async () => {
  const { status, stdout, stderr } = await extract(FAILING, ['--app', 'shop'], rootWith('shop'));
  assert.equal([status, stderr], [0, '']);
  assert.match(stdout, /^ERROR: deprecated call/m);
});

test('a silent log is described by its step, command and exit status', async () => {
  const told = async (log: string, ...args: string[]) => (await extract(log, args)).stdout;
  assert.is(
    await told('', '--step', 'build', '--command', 'make all', '--status', '3'),
    'step build (make all) ended with exit status 3\n',
  );
  assert.is(
    await told('packing\n', '--status', '137'),
    'the command was killed by SIGKILL, perhaps for lack of memory\npacking\n',
  );
  assert.is(
    await told('', '--status', '124'),
    'the command ran into a time limit (exit status 124)\n',
  );
  assert.is(
    await told('', '--status', '127'),
    'the command: command not found (exit status 127)\n',
  );
  assert.is(await told('', '--status', '0'), '');
  assert.is(await told('all is well\n', '--status', '0'), 'all is well\n');
});

test('a log that names no error shows its likely lines, not only the last ones', async () => {
  const steps = Array.from({ length: 400 }, (_, index) => `INFO step ${index + 1}\n`);
  const found = async (log: string) => {
    const { text, lines } = JSON.parse((await extract(log, ['--json'])).stdout);
    return [text, lines];
  };
  const last = ['397', '398', '399', '400'];
  assert.equal(await found(steps.join('')), [
    last.map((number) => `step ${number}`).join('\n'),
    last.map(Number),
  ]);
  const rare = [
    'the depot is in Ulm\n',
    ...steps,
    'lorry 7 is at the store\n',
    'the store hung up on us\n',
  ];
  // Which of them leads, and whether two are one message, is for the weights to say.
  const [text, lines] = await found(rare.join(''));
  const shown = ['the depot is in Ulm', 'lorry 7 is at the store', 'the store hung up on us'];
  assert.equal([text.split('\n').sort(), lines], [shown.sort(), [1, 402, 403]]);
});

test('one character after the label is an error as well as a word is', async () => {
  for (const word of ['x', '7', 'boom', '{']) {
    const { stdout } = await extract(`error: ${word}\n`, ['--json']);
    const { text, class: kind, rule } = JSON.parse(stdout);
    assert.equal([text, kind, rule], [`error: ${word}`, 'error', 'labelled']);
  }
});

test('any bytes are read', async () => {
  for (const bytes of [[], [10], [0], [0xff, 0xfe, 10], [13, 13, 10], [0xc3]]) {
    const { status, stderr } = await extract(Uint8Array.from(bytes));
    assert.equal([status, stderr], [0, '']);
  }
});

test('--max is kept, to the code point', async () => {
  const log = `Error: cannot find 🚀🚀🚀 ${'x'.repeat(900)}\n`;
  for (const max of [1, 20, 300]) {
    const { stdout } = await extract(log, ['--max', String(max)]);
    assert.ok([...stdout.trimEnd()].length <= max);
    assert.match(stdout, /…x*\n$/);
  }
});

test.run();
