/** Code host, chats and git that answer with anything: a sentence in bounded time, and no secret anywhere else. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IS_WHOLE } from '@runner/testing/extent';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ANSWERS, ASKING, type Asking, ENDLESS, isSound, meetAll } from './hostile-hosts.ts';
import { type Answer, bytes, startRawHost } from './raw-host.ts';
import { selfSigned } from './self-signed.ts';
import { startServer } from './server.ts';

const started = startServer();

const askings = Object.keys(ASKING) as Asking[];
for (const [turn, asking] of askings.entries()) {
  test(`${asking}: any answer of the host gets one sentence in bounded time`, async () => {
    const all = Object.keys(ANSWERS);
    if (IS_WHOLE) return meetAll(await started, asking, all);
    const own = all.filter((_, index) => index % askings.length === turn);
    const names = asking === 'deploy' ? own.filter((name) => !ENDLESS.includes(name)) : own;
    await meetAll(await started, asking, names);
  });
}

/** Sends as fast as it is taken. */
const flood =
  (head: string): Answer =>
  (socket) => {
    const piece = Buffer.alloc(1 << 20, 'x');
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', more);
    socket.write(head);
    more();
  };

test('deploy: a list of branches without an end does not fill the memory', async () => {
  const server = await started;
  const host = await startRawHost(flood('HTTP/1.1 200 OK\r\n\r\n'));
  const root = server.copy();
  const { line, config } = ASKING.deploy;
  writeFileSync(join(root, 'config.yml'), config(`http://127.0.0.1:${host.port}`));
  const [tool, ...args] = line;
  const ended = await run(tool, args, { root, timeout: 100_000 });
  isSound('deploy', ended, [1]);
  assert.match(
    ended.stderr,
    'the code host sends a list that does not fit into 512 MiB (code_host_error)\n',
  );
  await host.close();
});

test('every command refuses a self-signed certificate and sends no secret', async () => {
  const server = await started;
  const tls = selfSigned();
  for (const [asking, { line, config }] of Object.entries(ASKING)) {
    const host = await startRawHost(bytes('HTTP/1.1 200 OK\r\n\r\n{}'), tls);
    const root = server.copy();
    writeFileSync(join(root, 'config.yml'), config(`https://127.0.0.1:${host.port}`));
    const [tool, ...words] = line;
    // A message that waits for its turn does not mention the host.
    const args = words[0] === 'send' ? ['test'] : words;
    const ended = await run(tool, args, { root });
    isSound(asking, ended, [1]);
    assert.match(ended.stdout + ended.stderr, /certificate/, `${asking}: ${ended.stderr}`);
    assert.is(host.received(), '', asking);
    await host.close();
  }
});

test.after(async () => (await started).close());
test.run();
