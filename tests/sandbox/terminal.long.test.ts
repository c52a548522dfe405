/** `runner exec` on a terminal: job control as at home, and nothing typed into the operator's shell. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { cleanEnvironment, executable, run } from '@runner/testing/run';
import { CTRL_C, startOnTerminal } from '@runner/testing/terminal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from '../deploys/world.ts';
import { isAvailable } from './available.ts';

const suites = suite('exec on a terminal');
const test = isAvailable ? suites : suites.skip;

const CTRL_Z = '\x1a';
const SANDBOX = { RUNNER_SANDBOX: 'required' };

/** Puts a line into the input of the terminal that it runs on, as TIOCSTI does. */
const TYPING = `perl -e 'open(T, "<", "/dev/tty") or exit 4; ioctl(T, 0x5412, $_) or exit 3 for split //, "typed\\n"'`;

test('a shell in the sandbox has job control, the size, and a terminal of its own', async () => {
  const world = await makeWorld();
  const { root } = world;
  await world.launch('v1');
  const args = ['shop', '--', 'sh', '-c', 'PS1="at> " exec sh -i'];
  const session = startOnTerminal('runner-exec', args, {
    root,
    env: SANDBOX,
    columns: 91,
    rows: 33,
  });
  await session.answer('at> ', 'stty size; echo $RUNNER_VERSION');
  await session.expect(/33 91\r\nv1\r\n/);
  session.resize(77, 20);
  session.enter('sleep 0.3; stty size');
  await session.answer('20 77', 'sleep 300; echo status $?');
  await session.expect('sleep 300');
  await new Promise((resolve) => setTimeout(resolve, 300));
  session.type(CTRL_C);
  await session.answer(/\^C[\s\S]*at> /, 'sleep 301');
  await session.expect('sleep 301');
  await new Promise((resolve) => setTimeout(resolve, 300));
  session.type(CTRL_Z);
  await session.answer(/\^Z[\s\S]*Stopped/, 'jobs; kill -9 %1; sleep 0.3');
  await session.expect(/sleep 301/);
  await session.answer(/at> /, 'exit 7');
  assert.is((await session.done).status, 7);
  await world.close();
});

test('input typed into its terminal does not reach that of the operator', async () => {
  const world = await makeWorld();
  const { root } = world;
  await world.launch('v1');
  const file = join(root, 'typing.sh');
  writeFileSync(
    file,
    `${process.execPath} ${executable('runner-exec')} shop -- sh -c '${TYPING.replaceAll("'", "'\\''")}; exit 5'
echo "status $?"; stty -icanon -echo min 0 time 5; printf 'left: '; dd bs=100 count=1 2>/dev/null; echo .\n`,
  );
  const outer = spawn('script', ['--quiet', '--command', `sh ${file}`, '/dev/null'], {
    env: { ...cleanEnvironment({ root }), ...SANDBOX },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const shown = await text(outer.stdout);
  assert.match(shown, /status 5\r\nleft: \.\r\n$/);
  // Standard input from a pipe has no terminal at all.
  const piped = await run('runner-exec', ['shop', '--', 'sh', '-c', 'cat; tty'], {
    root,
    env: SANDBOX,
    stdin: 'through a pipe\n',
  });
  assert.is(piped.stdout, 'through a pipe\nnot a tty\n');
  await world.close();
});

suites.run();
