import { parseText } from '@runner/testing/telegram-parse';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { telegram } from '../src/channels/telegram/telegram.ts';
import type { Notice } from '../src/message/notice.ts';
import { VARIABLES } from '../src/message/template.ts';
import type { Message } from '../src/service/contract.ts';
import { hostileText } from './hostile.ts';
import { NOTICE } from './notices.ts';
import { arrives, plain, shown } from './telegram-shown.ts';

const silent = () => {};

test('in a template a value arrives as it is, wherever it stands', () => {
  const places = fc.array(
    fc.tuple(
      fc.constantFrom(...VARIABLES),
      fc.constantFrom('V', '*V*', '`V`', '```V```', '```\nV\n```', '`a\\`V`', '||V||'),
    ),
    { minLength: 1, maxLength: 6 },
  );
  fc.assert(
    fc.property(places, hostileText, (parts, value) => {
      const text = arrives(`.${value}.`).slice(1, -1).replaceAll('\n', ' ');
      const given: Notice = {
        ...NOTICE,
        project: text,
        version: text,
        instance: text,
        previousVersion: text,
        duration: text,
        error: text,
        domain: text,
        changes: {
          count: 1,
          subjects: [text],
          authors: [text],
          url: undefined,
          hosts: [],
          scripts: [],
        },
      };
      const template = parts
        .map(([name, place]) => `x ${place.replace('V', () => `\${${name}}`)} y`)
        .join('\n');
      const [message] = telegram.messages(given, template, (problem) =>
        assert.unreachable(problem),
      ) as [Message];
      const wanted = parts.map(([, place]) => {
        const inner = place === '`a\\`V`' ? `a\`${text || '–'}` : text || '–';
        return place === '```\nV\n```' ? `x ${inner}\n y` : `x ${inner} y`;
      });
      assert.is(shown(message), [...wanted, 'Deploy: a1b2c3d4'].join('\n'));
    }),
    { numRuns: 300 },
  );
});

test('a template with a wrong variable gives the built-in text and a warning', () => {
  const warnings: string[] = [];
  const [message] = telegram.messages(NOTICE, 'Hi ${NAME}', (text) => warnings.push(text)) as [
    Message,
  ];
  assert.match(shown(message), /^❌ Deploy failed\nProject: shop\n/);
  assert.equal(warnings, [
    'notify.templates.failure.telegram: the template has the unknown variable ${NAME} (known: PROJECT, VERSION, INSTANCE, PREVIOUS_VERSION, DURATION, ERROR, DOMAIN, CHANGES, AUTHOR); the built-in text is sent',
  ]);
});

test('a template that leaves no room shows less of the error, and without any room the built-in text', () => {
  const warnings: string[] = [];
  const warn = (text: string) => warnings.push(text);
  const long = { ...NOTICE, error: 'word '.repeat(160).trim() };
  const [tight] = telegram.messages(long, `${'x'.repeat(3700)} \${ERROR}`, warn) as [Message];
  assert.match(shown(tight), /^x+ word[\s\S]*omitted[\s\S]*word\nDeploy: a1b2c3d4$/);
  assert.equal(warnings, []);
  const [full] = telegram.messages(long, 'x'.repeat(4096), warn) as [Message];
  assert.match(shown(full), /^❌ Deploy failed\n/);
  assert.equal(warnings, [
    'notify.templates.failure.telegram: the text is longer than 4096 characters; the built-in text is sent',
  ]);
});

test('a template is sent as plain text without its backslashes when its markup is refused', () => {
  const [message] = telegram.messages(
    { ...NOTICE, version: 'v1.0' },
    'v\\. ${VERSION}! *',
    silent,
  ) as [Message];
  assert.not(parseText(message.payload.text as string, 'MarkdownV2').ok);
  assert.is(plain(message), 'v. v1.0! *\nDeploy: a1b2c3d4');
});

test.run();
