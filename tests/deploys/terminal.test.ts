import {
  CTRL_C,
  runOnTerminal,
  type ShownSession,
  startOnTerminal,
} from '@runner/testing/terminal';
import * as assert from 'uvu/assert';
import { deployFile, type World, worldSuite } from './world.ts';

const test = worldSuite('deploy on a terminal');

/** What an 80×24 terminal receives. */
function onTerminal({ root }: World, env: Record<string, string>): Promise<ShownSession> {
  return runOnTerminal('runner-deploy', ['shop'], { root, env });
}

/** The screen's lines, as a terminal that knows CR and erase-line leaves them. */
function screen(text: string): string[] {
  return text.split('\r\n').map((line) => line.split('\r').at(-1)?.replace('\x1b[K', '') ?? '');
}

test('steps are drawn with a mark and their time, and a step too long for the line is cut', async ({
  world,
}) => {
  const long = `echo ${'long '.repeat(30)}`.trim();
  await world.push('v1', { deploy: deployFile(world.port, `build: ["sleep 1.5", "${long}"]`) });
  const { status, text } = await onTerminal(world, { NO_COLOR: '1' });
  assert.is(status, 0);
  const lines = screen(text);
  assert.match(lines[0] ?? '', /^✔ fetch main of acme\/shop \d+\.\d s$/);
  assert.match(lines[2] ?? '', /^✔ build: sleep 1\.5 \d+\.\d s$/);
  assert.match(lines[3] ?? '', /^✔ build: echo long .*… \d+\.\d s$/);
  assert.ok(lines.every((line) => [...line].length < 80));
  // The spinner moved while the build slept.
  assert.ok(new Set(text.match(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] build: sleep/g)).size > 1);
  assert.not.ok(text.includes('\x1b[3'), 'no colours with NO_COLOR');
});

test('colours are used on a terminal, and a failed step is marked', async ({ world }) => {
  await world.push('v1', { deploy: deployFile(world.port, 'build: exit 3') });
  const { status, text } = await onTerminal(world, {});
  assert.is(status, 1);
  assert.ok(text.includes('\x1b[31m✘\x1b[39m build: exit 3'));
  assert.match(text, /Deploy FAILED for shop v1\./);
});

test('a terminal that cannot erase a line gets plain lines', async ({ world }) => {
  await world.push('v1', { deploy: 'build: sleep 0.5' });
  const env = { TERM: 'dumb' };
  const { status, text } = await onTerminal(world, env);
  assert.is(status, 0);
  assert.not.match(text, '\x1b');
  assert.match(text, /^ok {5}build: sleep 0\.5 \(\d+\.\d s\)\r$/m);
  const top = startOnTerminal('runner-top', ['--offline'], { root: world.root, env });
  await top.expect('shop');
  top.type(CTRL_C);
  await top.done;
  assert.not.match(top.raw(), '\x1b');
});

test.run();
