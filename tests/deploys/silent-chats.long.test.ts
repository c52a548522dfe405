/** Chats that never answer, or are not configured: a deploy does not wait for long, and warns only if it matters. */
import { appendFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from './world.ts';

/** Milliseconds; a deploy here takes some, and 15 s are for the chats: the rest is for a slow machine. */
const LIMIT = 60_000;

interface SilentChat {
  readonly port: number;
  /** How many bytes have come. */
  received(): number;
  close(): void;
}

async function silentChat(): Promise<SilentChat> {
  const sockets = new Set<Socket>();
  let bytes = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received: () => bytes,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test('a deploy whose chats do not answer succeeds, reports it, and keeps the messages', async () => {
  const world = await makeWorld();
  const [bot, hook] = [await silentChat(), await silentChat()];
  appendFileSync(
    join(world.root, 'config.yml'),
    `notify:
  telegram_bot_token: "123456789:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbotte"
  telegram_chat_id: "-1001234567890"
  telegram_api_url: http://127.0.0.1:${bot.port}
  discord_webhook: http://127.0.0.1:${hook.port}/api/webhooks/123456789012345678/abcdef
`,
  );
  await world.push('v1', { deploy: 'notify: {}\n' });
  try {
    const { status, signal, stderr } = await run('runner-deploy', ['shop'], {
      root: world.root,
      timeout: LIMIT,
    });
    assert.equal([status, signal], [0, null], stderr);
    assert.ok(bot.received() > 0 && hook.received() > 0, stderr);
    // The first request of each times out shortly before the deploy stops waiting, or after.
    const late =
      /^runner deploy: the chat services did not accept the messages within 15 s; /m.test(stderr);
    for (const channel of ['telegram', 'discord'])
      assert.ok(late || stderr.includes(`${channel}: DeployStarted of shop was not`), stderr);
    assert.equal(world.kinds(), ['DeployStarted', 'DeploySuccess']);
    const listed = await run('runner-notify', ['queue', 'list', '--json'], { root: world.root });
    const { messages } = JSON.parse(listed.stdout) as {
      messages: { channel: string; event_type: string }[];
    };
    assert.equal(messages.map((each) => `${each.channel} ${each.event_type}`).sort(), [
      'discord DeployStarted',
      'discord DeploySuccess',
      'telegram DeployStarted',
      'telegram DeploySuccess',
    ]);
  } finally {
    bot.close();
    hook.close();
    await world.close();
  }
});

test('without a configured chat a deploy warns only an app whose .deploy.yml names a channel', async () => {
  const world = await makeWorld();
  try {
    for (const [notify, warns] of [
      ['{}', false],
      ['{ channel: telegram }', true],
    ] as const) {
      await world.push(`v${notify}`.replace(/\W/g, ''), { deploy: `notify: ${notify}\n` });
      const { status, stderr } = await world.deploy();
      assert.is(status, 0, stderr);
      assert.is(stderr.includes('no channel is active: run `runner notify setup`'), warns, stderr);
    }
  } finally {
    await world.close();
  }
});

test.run();
