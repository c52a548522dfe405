import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { discord } from '../src/channels/discord/discord.ts';
import { code, fence } from '../src/channels/discord/message.ts';
import { executionAddress } from '../src/channels/discord/webhook.ts';
import type { Message } from '../src/service/contract.ts';
import { checked, inCode, visible } from './discord-shown.ts';
import { hostileText } from './hostile.ts';
import { NOTICE } from './notices.ts';

const silent = () => {};

test('a value is one code span, and shows as it is', () => {
  fc.assert(
    fc.property(
      hostileText.filter((text) => text !== ''),
      (text) => {
        assert.is(inCode(code(text)), visible(text));
      },
    ),
    { numRuns: 300 },
  );
});

test('a block is one fence, and shows as it is', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const fenced = fence(text);
      const inner = fenced.slice(4, -4);
      assert.is(fenced, `\`\`\`\n${inner}\n\`\`\``);
      assert.not.ok(inner.includes('```'));
      assert.is(visible(inner), visible(text));
    }),
    { numRuns: 300 },
  );
});

test('a refused length is answered with shorter and shorter messages, and then no more', () => {
  const sizes: number[] = [];
  const [first] = discord.messages({ ...NOTICE, error: 'q'.repeat(800) }, undefined, silent) as [
    Message,
  ];
  for (let message: Message | undefined = first; message; message = message.instead('length')) {
    sizes.push(checked(message).embeds[0].description?.length ?? 0);
  }
  assert.equal(
    sizes.map((size, index) => size <= 8 + 800 / 2 ** index),
    [true, true, true, true],
  );
  assert.is(first.instead('markup'), undefined);
});

const ADDRESSES: readonly (readonly [webhook: string, address: string])[] = [
  ['https://discord.com/api/webhooks/1/t', 'https://discord.com/api/webhooks/1/t?wait=true'],
  ['https://discord.com/api/webhooks/1/t/', 'https://discord.com/api/webhooks/1/t?wait=true'],
  [
    'https://discordapp.com/api/v10/webhooks/1/t/slack',
    'https://discordapp.com/api/v10/webhooks/1/t?wait=true',
  ],
  [
    'https://ptb.discord.com/api/webhooks/1/t/github',
    'https://ptb.discord.com/api/webhooks/1/t?wait=true',
  ],
  [
    'https://discord.com/api/webhooks/1/slack-t',
    'https://discord.com/api/webhooks/1/slack-t?wait=true',
  ],
  [
    'https://discord.com/api/webhooks/1/t?thread_id=5',
    'https://discord.com/api/webhooks/1/t?thread_id=5&wait=true',
  ],
  [
    'https://discord.com/api/webhooks/1/t?wait=false#x',
    'https://discord.com/api/webhooks/1/t?wait=true',
  ],
];

for (const [webhook, address] of ADDRESSES) {
  test(`the webhook ${webhook} is called at ${address}`, () => {
    assert.is(executionAddress(webhook), address);
  });
}

test.run();
