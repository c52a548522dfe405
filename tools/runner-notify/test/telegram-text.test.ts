import { redactor } from '@runner/common/secret';
import { parseText } from '@runner/testing/telegram-parse';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import vectors from '../../../libs/testing/test/vectors/telegram-parse.json' with { type: 'json' };
import type { Message } from '../src/channels/channel.ts';
import { escapeValue, markdownV2 } from '../src/channels/telegram/markup.ts';
import { telegramMessages } from '../src/channels/telegram/message.ts';
import { type Notice, noticeOf } from '../src/notice.ts';
import { VARIABLES } from '../src/template.ts';
import { hostileText, longHostileText } from './hostile.ts';

const options = { redact: redactor(), verboseErrors: true, random: () => new Uint8Array(4) };
const silent = () => {};

/** What Telegram does to any text: controls become spaces, some marks go, white space at the ends too. */
function arrives(text: string): string {
  return text
    .replace(/[\r\u2028-\u202e]|\u0333|\u033f|\u030a/g, '')
    .replace(/[\0-\x09\x0b-\x1f]/g, ' ')
    .replace(/^[ \n]+|[ \n]+$/g, '');
}

/** What is shown of a message, which must be accepted within every limit. */
function shown({ payload }: Message): string {
  const text = payload.text as string;
  assert.is(payload.parse_mode, 'MarkdownV2');
  assert.ok(Buffer.byteLength(text) <= 32_768, 'too many bytes before parsing');
  const parsed = parseText(text, 'MarkdownV2');
  assert.ok(parsed.ok, `${JSON.stringify(parsed)} for ${JSON.stringify(text)}`);
  assert.ok(parsed.ok && parsed.codepoints <= 4096, 'too many characters after parsing');
  return parsed.ok ? parsed.text : '';
}

function plain(message: Message): string {
  const other = message.instead('markup');
  assert.ok(other && !('parse_mode' in other.payload));
  return other?.payload.text as string;
}

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

test('whatever the record holds, Telegram takes every message and alters nothing in it', async () => {
  await fc.assert(
    fc.asyncProperty(record, async (given) => {
      const notice = await noticeOf(given as never, options);
      for (const message of telegramMessages(notice, undefined, silent)) {
        assert.is(shown(message), arrives(plain(message)));
      }
    }),
    { numRuns: 500 },
  );
});

test('the values of a failure stand in its message as they are', async () => {
  await fc.assert(
    fc.asyncProperty(hostileText, hostileText, async (version, error) => {
      const given = { kind: 'DeployFailure', project: 'shop', fields: { version, error } } as const;
      const notice = await noticeOf(given, options);
      const [first] = telegramMessages(notice, undefined, silent) as [Message];
      const text = shown(first);
      assert.ok(text.includes(`Version: ${arrives(`.${notice.version}.`).slice(1, -1)}\n`));
      assert.ok(text.endsWith(arrives(`.${notice.error}`).slice(1)));
    }),
    { numRuns: 500 },
  );
});

test('the longest values and a log of back-ticks and backslashes keep within the limits', async () => {
  for (const character of ['x', '`', '\\', '😀', '漢', '.', '`\\']) {
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
      const messages = telegramMessages(notice, undefined, silent);
      assert.is(messages.length, kind === 'DeployFailure' ? 2 : 1);
      for (const message of messages) shown(message);
    }
  }
});

test('hostile text of 100 KB becomes two messages that Telegram takes', async () => {
  const error = fc.sample(longHostileText, { seed: 7, numRuns: 200 }).join('\n').slice(0, 100_000);
  assert.is(error.length, 100_000);
  const notice = await noticeOf(
    { kind: 'DeployFailure', project: 'shop', fields: { error } },
    options,
  );
  assert.is(telegramMessages(notice, undefined, silent).map(shown).length, 2);
});

test("every text of Telegram's own vectors survives escaping in text, code, fence and link", () => {
  for (const { text } of vectors.vectors) {
    const line = arrives(`a${text.replaceAll('\n', ' ')}a`);
    const given = `a${text.replaceAll('\n', ' ')}a`;
    for (const markup of [
      markdownV2.words(given),
      markdownV2.bold(given),
      markdownV2.code(given),
      markdownV2.pre(given),
    ]) {
      const parsed = parseText(markup, 'MarkdownV2');
      assert.is(parsed.ok && parsed.text, line);
    }
    assert.ok(parseText(`[a](${escapeValue(given, 'link')})`, 'MarkdownV2').ok);
  }
});

const notice: Notice = {
  eventType: 'DeployFailure',
  kind: 'failure',
  project: 'shop',
  instance: 'default',
  version: 'v1',
  deployId: 'a1b2c3d4',
  timestamp: undefined,
  previousVersion: '',
  fromVersion: '',
  reason: '',
  domain: '',
  duration: '',
  rollbackFailed: false,
  error: 'boom',
  log: undefined,
};

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
        ...notice,
        project: text,
        version: text,
        instance: text,
        previousVersion: text,
        duration: text,
        error: text,
        domain: text,
      };
      const template = parts
        .map(([name, place]) => `x ${place.replace('V', () => `\${${name}}`)} y`)
        .join('\n');
      const [message] = telegramMessages(given, template, (problem) =>
        assert.unreachable(problem),
      ) as [Message];
      const wanted = parts.map(([, place]) => {
        const inner = place === '`a\\`V`' ? `a\`${text || '–'}` : text || '–';
        return place === '```\nV\n```' ? `x ${inner}\n y` : `x ${inner} y`;
      });
      assert.is(shown(message), [...wanted, 'Deploy: a1b2c3d4'].join('\n'));
    }),
    { numRuns: 500 },
  );
});

test('a template with a wrong variable gives the built-in text and a warning', () => {
  const warnings: string[] = [];
  const [message] = telegramMessages(notice, 'Hi ${NAME}', (text) => warnings.push(text)) as [
    Message,
  ];
  assert.match(shown(message), /^❌ Deploy failed\nProject: shop\n/);
  assert.equal(warnings, [
    'notify.templates.failure.telegram: the template has the unknown variable ${NAME} (known: PROJECT, VERSION, INSTANCE, PREVIOUS_VERSION, DURATION, ERROR, DOMAIN); the built-in text is sent',
  ]);
});

test('a template that leaves no room shows less of the error, and without any room the built-in text', () => {
  const warnings: string[] = [];
  const warn = (text: string) => warnings.push(text);
  const long = { ...notice, error: 'word '.repeat(160).trim() };
  const [tight] = telegramMessages(long, `${'x'.repeat(3700)} \${ERROR}`, warn) as [Message];
  assert.match(shown(tight), /^x+ word[\s\S]*omitted[\s\S]*word\nDeploy: a1b2c3d4$/);
  assert.equal(warnings, []);
  const [full] = telegramMessages(long, 'x'.repeat(4096), warn) as [Message];
  assert.match(shown(full), /^❌ Deploy failed\n/);
  assert.equal(warnings, [
    'notify.templates.failure.telegram: the text is longer than 4096 characters; the built-in text is sent',
  ]);
});

test('a template is sent as plain text without its backslashes when its markup is refused', () => {
  const [message] = telegramMessages(
    { ...notice, version: 'v1.0' },
    'v\\. ${VERSION}! *',
    silent,
  ) as [Message];
  assert.not(parseText(message.payload.text as string, 'MarkdownV2').ok);
  assert.is(plain(message), 'v. v1.0! *\nDeploy: a1b2c3d4');
});

test('a refused length shows half of the error, a quarter, and then none of it', () => {
  const lengths: number[] = [];
  const [first] = telegramMessages({ ...notice, error: 'q'.repeat(800) }, undefined, silent) as [
    Message,
  ];
  for (let message: Message | undefined = first; message; message = message.instead('length')) {
    lengths.push((shown(message).match(/q/g) ?? []).length);
  }
  assert.is(lengths.length, 4);
  assert.is(lengths[0], 800);
  assert.ok((lengths[1] as number) < 400 && (lengths[2] as number) < 200);
  assert.is(lengths[3], 0);
});

test.run();
