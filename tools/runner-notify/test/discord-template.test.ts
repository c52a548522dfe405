import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { discord } from '../src/channels/discord/discord.ts';
import { escapeValue } from '../src/channels/discord/message.ts';
import type { Message } from '../src/service/contract.ts';
import { checked } from './discord-shown.ts';
import { NOTICE } from './notices.ts';

const notice = {
  ...NOTICE,
  version: 'v1_2_3',
  domain: 'a.example/(x y)',
  error: 'boom ``` `',
};

test('a template is the description, its values escaped by where they stand', () => {
  const template = '${VERSION} `${ERROR}` [x](https://${DOMAIN})\n```${ERROR}```';
  const [message] = discord.messages(notice, template, assert.unreachable as () => void) as [
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
    'the template has the unknown variable ${NAME} (known: PROJECT, VERSION, INSTANCE, PREVIOUS_VERSION, DURATION, ERROR, DOMAIN, CHANGES, AUTHOR)',
  ],
  ['x'.repeat(4096), 'the text is longer than 4048 characters'],
  ['  ', 'the text is empty'],
] as const) {
  test(`the template '${template.slice(0, 20)}' gives the built-in text and a warning`, () => {
    const warnings: string[] = [];
    const [message] = discord.messages(notice, template, (text) => warnings.push(text)) as [
      Message,
    ];
    assert.match(checked(message).embeds[0].description ?? '', /^```\n/);
    assert.equal(warnings, [
      `notify.templates.failure.discord: ${problem}; the built-in text is sent`,
    ]);
  });
}

test.run();
