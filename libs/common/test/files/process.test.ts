import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { startTimeOf } from '@runner/common/files/process';
import { freePort } from '@runner/testing/app';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const TRIES = 15;
const LISTEN = `require('node:net').createServer().listen(Number(process.argv[1]), '127.0.0.1', () => console.log('up'))`;

const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

async function listenOn(port: number): Promise<ChildProcess & { pid: number }> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, ['-e', LISTEN, String(port)], { stdio: [...stdio] });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child as ChildProcess & { pid: number };
}

test('a process has ended when its last thread has: its port is free then', async () => {
  const port = await freePort();
  for (let time = 0; time < TRIES; time += 1) {
    const child = await listenOn(port);
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    // Without a pause: the threads end within some milliseconds of each other.
    while (startTimeOf(child.pid) !== undefined);
    assert.is(await isOpen(port), false);
    await ended;
  }
});

test.run();
