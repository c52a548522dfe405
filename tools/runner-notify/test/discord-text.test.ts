import { redactor } from '@runner/common/secret';
import { codePoints } from '@runner/common/text';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Message } from '../src/channels/channel.ts';
import { executionAddress } from '../src/channels/discord/discord.ts';
import { code, escapeValue, fence } from '../src/channels/discord/markup.ts';
import { discordMessages } from '../src/channels/discord/message.ts';
import { type Notice, noticeOf } from '../src/notice.ts';
import { hostileText, longHostileText } from './hostile.ts';

const options = { redact: redactor(), verboseErrors: true, random: () => new Uint8Array(4) };
const silent = () => {};

interface Embed {
  title: string;
  color: number;
  description?: string;
  fields?: { name: string; value: string; inline: boolean }[];
  footer: { text: string };
}
interface Payload {
  content: string;
  embeds: [Embed];
  allowed_mentions: unknown;
}

/** The payload, whose every limit is checked. */
function checked(message: Message): Payload {
  const payload = message.payload as unknown as Payload;
  const [{ title, description, fields = [], footer }] = payload.embeds;
  const size = (text: string) => codePoints(text.trim());
  assert.ok(size(payload.content) <= 2000 && size(payload.content) > 0);
  assert.ok(size(title) <= 256 && size(footer.text) <= 2048 && fields.length <= 25);
  if (description !== undefined) assert.ok(size(description) > 0 && size(description) <= 4096);
  for (const { name, value } of fields) {
    assert.ok(size(name) > 0 && size(name) <= 256);
    assert.ok(size(value) > 0 && size(value) <= 1024, `${size(value)} in ${name}`);
  }
  const texts = [
    title,
    description ?? '',
    footer.text,
    ...fields.flatMap(({ name, value }) => [name, value]),
  ];
  assert.ok(texts.reduce((sum, text) => sum + size(text), 0) <= 6000);
  assert.equal(payload.allowed_mentions, { parse: [] });
  assert.is(JSON.stringify(payload).isWellFormed(), true);
  return payload;
}

/** What stands in code, as Discord shows it; fails when the code would end before its end. */
function inCode(text: string): string {
  const double = /^``([\s\S]+)``$/.exec(text)?.[1];
  const inner = double ?? /^`([^`]+)`$/.exec(text)?.[1];
  assert.ok(inner !== undefined && !inner.includes('``'), `not one code span: ${text}`);
  assert.not.ok(double?.startsWith('`') || double?.endsWith('`'), `touches its fence: ${text}`);
  return (inner as string).replaceAll('\u200b', '');
}

const visible = (text: string) => text.replaceAll('\u200b', '');

test('a value is one code span, and shows as it is', () => {
  fc.assert(
    fc.property(
      hostileText.filter((text) => text !== ''),
      (text) => {
        assert.is(inCode(code(text)), visible(text));
      },
    ),
    { numRuns: 1000 },
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
    { numRuns: 1000 },
  );
});

const record = fc.record({
  kind: fc.constantFrom(
    'DeployStarted',
    'DeploySuccess',
    'DeployFailure',
    'RollbackSuccess' as const,
  ),
  project: hostileText,
  fields: fc.record(
    {
      instance: hostileText,
      version: hostileText,
      deploy_id: hostileText,
      previous_version: hostileText,
      from_version: hostileText,
      reason: hostileText,
      rolled_back: fc.boolean(),
      error: longHostileText,
    },
    { requiredKeys: [] },
  ),
});

test('whatever the record holds, every message is within the limits and carries the deploy_id', async () => {
  await fc.assert(
    fc.asyncProperty(record, async (given) => {
      const notice = await noticeOf(given as never, options);
      for (const message of discordMessages(notice, undefined, silent)) {
        const { embeds } = checked(message);
        const [{ fields = [], footer }] = embeds;
        assert.is(footer.text, `deploy ${notice.deployId}`);
        const deploy = fields.find(({ name }) => name === 'Deploy');
        assert.is(inCode(deploy?.value ?? ''), visible(notice.deployId));
        const project = fields.find(({ name }) => name === 'Project');
        assert.ok(
          visible(notice.project).startsWith(inCode(project?.value ?? '').replace(/…$/, '')),
        );
      }
    }),
    { numRuns: 300 },
  );
});

test('the longest values and logs of back-ticks keep within the limits', async () => {
  for (const character of ['x', '`', '😀', '漢', '`a']) {
    const long = character.repeat(5000);
    const fields = {
      version: long,
      instance: long,
      previous_version: long,
      reason: long,
      rolled_back: false,
      error: long,
    };
    for (const kind of [
      'DeployStarted',
      'DeploySuccess',
      'DeployFailure',
      'RollbackSuccess',
    ] as const) {
      const notice = await noticeOf({ kind, project: long, fields }, options);
      const messages = discordMessages(notice, undefined, silent);
      assert.is(messages.length, kind === 'DeployFailure' ? 2 : 1);
      for (const message of messages) checked(message);
    }
  }
});

const notice: Notice = {
  eventType: 'DeployFailure',
  kind: 'failure',
  project: 'shop',
  instance: 'default',
  version: 'v1_2_3',
  deployId: 'a1b2c3d4',
  timestamp: undefined,
  previousVersion: '',
  fromVersion: '',
  reason: '',
  domain: 'a.example/(x y)',
  duration: '',
  rollbackFailed: false,
  error: 'boom ``` `',
  log: undefined,
};

test('a template is the description, its values escaped by where they stand', () => {
  const template = '${VERSION} `${ERROR}` [x](https://${DOMAIN})\n```${ERROR}```';
  const [message] = discordMessages(notice, template, assert.unreachable as () => void) as [
    Message,
  ];
  const [{ description, fields, footer }] = checked(message).embeds;
  assert.is(
    description,
    'v1\\_2\\_3 `boom ˋˋˋ ˋ` [x](https://a.example/%28x%20y%29)\n```\nboom `\u200b`` `\u200b```',
  );
  assert.is(fields, undefined);
  assert.is(footer.text, 'deploy a1b2c3d4');
});

test('in the text of a template nothing in a value is markup', () => {
  assert.is(
    escapeValue('**a** _b_ ~~c~~ `d` ||e|| > f # g - h [i](j) <@1> \\', 'text'),
    '\\*\\*a\\*\\* \\_b\\_ \\~\\~c\\~\\~ \\`d\\` \\|\\|e\\|\\| \\> f \\# g \\- h \\[i\\]\\(j\\) \\<\\@1\\> \\\\',
  );
});

for (const [template, problem] of [
  [
    'Hi ${NAME}',
    'the template has the unknown variable ${NAME} (known: PROJECT, VERSION, INSTANCE, PREVIOUS_VERSION, DURATION, ERROR, DOMAIN)',
  ],
  ['x'.repeat(4096), 'the text is longer than 4048 characters'],
  ['  ', 'the text is empty'],
] as const) {
  test(`the template '${template.slice(0, 20)}' gives the built-in text and a warning`, () => {
    const warnings: string[] = [];
    const [message] = discordMessages(notice, template, (text) => warnings.push(text)) as [Message];
    assert.ok(checked(message).embeds[0].fields);
    assert.equal(warnings, [
      `notify.templates.failure.discord: ${problem}; the built-in text is sent`,
    ]);
  });
}

test('a refused length is answered with shorter and shorter messages, and then no more', () => {
  const sizes: number[] = [];
  const [first] = discordMessages({ ...notice, error: 'q'.repeat(800) }, undefined, silent) as [
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
