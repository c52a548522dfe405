import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { webhookOf } from '../src/channels/discord/webhook.ts';
import { CHANNELS } from '../src/channels/index.ts';

const PATH = '/api/webhooks/123456789012345678/a-B_c';

for (const [given, address] of [
  [`https://discord.com${PATH}`, `https://discord.com${PATH}`],
  [`  https://discordapp.com${PATH}/  `, `https://discordapp.com${PATH}`],
  [`https://ptb.discord.com${PATH}/slack`, `https://ptb.discord.com${PATH}`],
  [`https://canary.discord.com${PATH}/github/`, `https://canary.discord.com${PATH}`],
  [
    'https://discord.com/api/v10/webhooks/1/x?wait=true&thread_id=5#top',
    'https://discord.com/api/v10/webhooks/1/x?thread_id=5',
  ],
  [`http://127.0.0.1:8080${PATH}`, `http://127.0.0.1:8080${PATH}`],
  ['http://127.0.0.1:8080/hook', 'http://127.0.0.1:8080/hook'],
] as const) {
  test(`${given.trim()} is taken as ${address}`, () => {
    const webhook = webhookOf(given, 'here');
    assert.equal([webhook?.address, webhook?.foreignHost], [address, undefined]);
  });
}

test('another host is taken and named', () => {
  assert.is(
    webhookOf(`https://relay.example.org${PATH}`, 'here')?.foreignHost,
    'relay.example.org',
  );
  assert.is(
    webhookOf(`https://discord.com.example.org${PATH}`, 'x')?.foreignHost,
    'discord.com.example.org',
  );
});

test('what is no webhook is not taken', () => {
  for (const text of [
    'https://discord.com/channels/1/2',
    'https://relay.example.org/hook',
    'https://discord.com/api/webhooks/1',
    'https://discord.com/api/webhooks/x/y',
    'https://discord.com/api/webhooks/1/x/messages',
  ])
    assert.is(webhookOf(text, 'here'), undefined);
  for (const text of [`http://discord.com${PATH}`, `ftp://discord.com${PATH}`, 'hush', ''])
    assert.throws(
      () => webhookOf(text, 'here'),
      (error: Error) => /^here /.test(error.message) && !error.message.includes('hush'),
    );
});

test('of a secret only what is public shows, and four characters of a long one', () => {
  assert.is(CHANNELS.telegram.mask('123456:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbwxyz'), '123456:…wxyz');
  assert.is(CHANNELS.telegram.mask('123456:short'), '123456:…');
  assert.is(CHANNELS.discord.mask(`https://discord.com${PATH}`), 'webhook 123456789012345678');
  assert.is(CHANNELS.discord.mask('https://relay.example.org/secret'), 'webhook …');
});

test.run();
