import { readFileSync } from 'node:fs';
import { type ConfigChange, editConfig } from '@runner/common/config/edit';
import { readConfig } from '@runner/common/config/file';
import { notifySettingsOf } from '@runner/common/config/settings';
import type { Paths } from '@runner/common/foundation/paths';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';
import { freshRoot, plant } from '../files/scratch.ts';

const io = { uid: 1, pid: 1, now: () => new Date(0) };
const BOT = '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';

const edit = (paths: Paths, ...changes: ConfigChange[]) =>
  editConfig({ io, paths, command: 'test' }, changes);
const set = (key: string, value: ConfigChange['value']): ConfigChange => ({
  path: ['notify', key],
  value,
});

/** The file's text after changes. */
function edited(text: string, ...changes: ConfigChange[]): string {
  const paths = freshRoot();
  plant(paths.config, text);
  edit(paths, ...changes);
  return readFileSync(paths.config, 'utf8');
}

test('comments, order, unknown keys, big numbers and indentation stay', () => {
  const before = `# ours
other: [a, 'b'] # kept
id: 12345678901234567890123

notify: # said here
    verbose_errors: false # no logs
    # the old group
    telegram_chat_id: -1001234567890
    strange: 0x10
last: 1
`;
  assert.is(
    edited(before, set('telegram_chat_id', '-1009'), set('channel', 'telegram')),
    before
      // A comment behind a section's name goes to a line of its own.
      .replace('notify: # said here', 'notify:\n    # said here')
      .replace('-1001234567890', '"-1009"')
      .replace('    strange: 0x10\n', '    strange: 0x10\n    channel: telegram\n'),
  );
});

test('a file of comments alone keeps them', () => {
  assert.is(
    edited('# nothing yet\n', set('channel', 'both')),
    '# nothing yet\n\nnotify:\n  channel: both\n',
  );
});

test('a section without content gets one', () => {
  assert.is(edited('a: 1\nnotify:\n', set('channel', 'both')), 'a: 1\nnotify:\n  channel: both\n');
});

test('credentials are changed in place, in the old layout and the new', () => {
  assert.is(
    edited(
      'telegram_chat_id: 1 # here\n',
      set('telegram_chat_id', '-5'),
      set('telegram_bot_token', BOT),
    ),
    `telegram_chat_id: "-5" # here\ntelegram_bot_token: ${BOT}\n`,
  );
  assert.is(
    edited('telegram_chat_id: 1\n', set('channel', 'telegram')),
    'telegram_chat_id: 1\nnotify:\n  channel: telegram\n',
  );
});

test('a credential is removed from both layouts', () => {
  assert.is(
    edited(
      'telegram_chat_id: 1\nnotify:\n  telegram_chat_id: 2\n  channel: both\n',
      set('telegram_chat_id', undefined),
    ),
    'notify:\n  channel: both\n',
  );
});

test('nothing is written if nothing changes, whatever the spacing', () => {
  const text = 'notify:   {channel:   both}\r\n';
  assert.is(edited(text, set('channel', 'both'), set('absent', undefined)), text);
});

test('an illegal value or file is refused, and the file is untouched', () => {
  for (const [text, change, words] of [
    ['a: 1\n', set('channel', 'pigeon'), 'notify.channel: must be one of'],
    ['notify: 7\n', set('channel', 'both'), 'notify: must be a section'],
    ['- a\n', set('channel', 'both'), 'must be a section'],
    ['notify: [\n', set('channel', 'both'), 'wrong indentation'],
    ['a: &x 1\nb: *x\n', set('channel', 'both'), 'uses an alias'],
  ] as const) {
    const paths = freshRoot();
    plant(paths.config, text);
    assert.match(
      told(() => edit(paths, change)),
      words,
    );
    assert.is(readFileSync(paths.config, 'utf8'), text);
  }
});

test('any template is read back as written, beside any existing content', () => {
  const paths = freshRoot();
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (template) => {
      fc.pre(!/[\x00-\x1f\x7f]/.test(template));
      plant(paths.config, '# c\nnotify:\n  channel: both # d\n');
      edit(paths, { path: ['notify', 'templates', 'started', 'discord'], value: template });
      assert.is(notifySettingsOf(readConfig(paths), {}).template('started', 'discord'), template);
      assert.match(readFileSync(paths.config, 'utf8'), /^# c\nnotify:\n {2}channel: both # d\n/);
    }),
    { numRuns: 60 },
  );
});

test.run();
