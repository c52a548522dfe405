/** `kill -9` before each call that changes a file, and at each program: the next run puts everything right. */
import { isKilled, killAtEachCall } from '@runner/testing/killing';
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
    const killed = await isKilled(stand.command(...ARGS), { call }, stand.path('root'));
    const again = await stand.setup(...ARGS);
    assert.is(again.status, 0, again.stderr);
    assert.is(withoutStrays(inWords(stand)), after, `call ${call}`);
    return killed;
  });
  assert.ok(calls > 40, `${calls} calls`);
});

test('setup that is killed at any call is undone by --undo, byte for byte', async () => {
  const { before } = await whole();
  await killAtEachCall(async (call) => {
    const stand = makeStand();
    const killed = await isKilled(stand.command(...ARGS), { call }, stand.path('root'));
    const { status, stderr } = await stand.setup('--undo', '--yes');
    assert.is(status, 0, stderr);
    assert.is(withoutStrays(inWords(stand)), before, `call ${call}`);
    return killed;
  });
});

test('--undo that is killed at any call is finished by the next one', async () => {
  const { before } = await whole();
  await killAtEachCall(async (call) => {
    const stand = makeStand();
    assert.is((await stand.setup(...ARGS)).status, 0);
    const killed = await isKilled(stand.command('--undo', '--yes'), { call }, stand.path('root'));
    assert.is((await stand.setup('--undo', '--yes')).status, 0);
    assert.is(withoutStrays(inWords(stand)), before, `call ${call}`);
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
      assert.is(withoutStrays(inWords(stand)).replace(/^state\/kill.*\n?/gm, ''), wanted, program);
    }
});

test('a file of a person is whole at every moment of its replacement', async () => {
  const text = '[Service]\nUser=shop\nExecStart=/usr/bin/node old.js\n';
  const stand = makeStand();
  stand.write(FOREIGN, text);
  assert.is((await stand.setup(...ARGS)).status, 1);
  assert.is(stand.read(FOREIGN), text);
});

/** A temporary file of a killed writer is never read. */
const withoutStrays = (tree: string) =>
  tree.replace(
    /^\S*\/\.[^\n]*\.[0-9a-f]{12}\.tmp (?:.*\n?)(?:(?!etc\/|root\/|state\/).*\n?)*/gm,
    '',
  );

test.run();
