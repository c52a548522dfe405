/** `kill -9` after each file that is written or removed, and at each program: the next run puts everything right. */
import { killAtEachCall, killedAfter } from '@runner/testing/killing';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeStand, type Stand } from './stand.ts';

const ARGS = ['--run', 'node server.js', '--yes'];
const FOREIGN = 'etc/systemd/system/shop@.service';

/** Copies are named by the path of the test's folder. */
const inWords = (stand: Stand) =>
  stand
    .tree()
    .replaceAll(stand.folder, '/stand')
    .replace(/\b[0-9a-f]{64}\b|runner\/\w{8}\/shop/g, 'hash')
    .replace(/^root\/apps.*\n?/gm, '');

/** Runs setup and kills it after the n-th file that it writes or removes; false if it ended before. */
async function isKilledAt(stand: Stand, call: number, ...args: string[]): Promise<boolean> {
  const moment = `['renameSync', 'unlinkSync', 'rmdirSync', 'mkdirSync'].includes(name) && ++count === ${call}`;
  const command = stand.command(...args);
  const env = { ...command.env, ...killedAfter(moment) };
  const { signal, status, stderr } = await run(command.tool, command.args, {
    root: stand.path('root'),
    env,
  });
  assert.ok(signal === 'SIGKILL' || status === 0, stderr);
  return signal === 'SIGKILL';
}

async function whole(): Promise<{ before: string; after: string }> {
  const stand = makeStand();
  const before = inWords(stand);
  assert.is((await stand.setup(...ARGS)).status, 0);
  return { before, after: inWords(stand) };
}

test('setup that is killed at any call is finished by the next one', async () => {
  const { after } = await whole();
  const calls = await killAtEachCall(async (call) => {
    const stand = makeStand();
    const killed = await isKilledAt(stand, call, ...ARGS);
    const again = await stand.setup(...ARGS);
    assert.is(again.status, 0, again.stderr);
    assert.is(inWords(stand), after, `call ${call}`);
    return killed;
  });
  assert.ok(calls > 40, `${calls} calls`);
});

test('setup that is killed at any call is undone by --undo, byte for byte', async () => {
  const { before } = await whole();
  await killAtEachCall(async (call) => {
    const stand = makeStand();
    const killed = await isKilledAt(stand, call, ...ARGS);
    const { status, stderr } = await stand.setup('--undo', '--yes');
    assert.is(status, 0, stderr);
    assert.is(inWords(stand), before, `call ${call}`);
    return killed;
  });
});

test('--undo that is killed at any call is finished by the next one', async () => {
  const { before } = await whole();
  await killAtEachCall(async (call) => {
    const stand = makeStand();
    assert.is((await stand.setup(...ARGS)).status, 0);
    const killed = await isKilledAt(stand, call, '--undo', '--yes');
    assert.is((await stand.setup('--undo', '--yes')).status, 0);
    assert.is(inWords(stand), before, `call ${call}`);
    return killed;
  });
});

test('setup that is killed by the program it runs is finished or undone', async () => {
  const { before, after } = await whole();
  for (const program of ['useradd', 'setfacl', 'systemctl', 'nginx'])
    for (const [args, wanted] of [
      [ARGS, after],
      [['--undo', '--yes'], before],
    ] as const) {
      const stand = makeStand();
      stand.write('state/kill', program);
      assert.is((await stand.setup(...ARGS)).signal, 'SIGKILL');
      stand.write('state/kill', '');
      const { status, stderr } = await stand.setup(...args);
      assert.is(status, 0, stderr);
      assert.is(inWords(stand).replace(/^state\/kill.*\n?/gm, ''), wanted, program);
    }
});

test('a file of a person is whole at every moment of its replacement', async () => {
  const text = '[Service]\nUser=shop\nExecStart=/usr/bin/node old.js\n';
  const stand = makeStand();
  stand.write(FOREIGN, text);
  assert.is((await stand.setup(...ARGS)).status, 1);
  assert.is(stand.read(FOREIGN), text);
});

test.run();
