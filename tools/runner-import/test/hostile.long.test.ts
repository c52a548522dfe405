/** Any text ends in an answer or a sentence, soon, and never prints what controls a terminal. */
import { UNSAFE } from '@runner/common/text/harmless';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ImportAnswer } from '../src/answer/answer.ts';
import type { FormatName } from '../src/formats/all.ts';
import { CAPISTRANO } from './forms/capistrano.ts';
import { COMPOSE } from './forms/compose.ts';
import type { Form } from './forms/form.ts';
import { KAMAL } from './forms/kamal.ts';
import { CRONTABS, PROCFILE, UNITS } from './forms/lines.ts';
import { PM2 } from './forms/pm2.ts';
import { imported } from './hostile.ts';
import { REAL } from './real.ts';

const ALL: Readonly<Record<FormatName, readonly Form[]>> = {
  pm2: PM2,
  procfile: PROCFILE,
  kamal: KAMAL,
  capistrano: CAPISTRANO,
  compose: COMPOSE,
  unit: UNITS,
  crontab: CRONTABS,
  whenever: REAL.filter(({ format }) => format === 'whenever').map((each) => ({
    ...each,
    truth: {},
  })),
};

const FORMATS = Object.keys(ALL) as FormatName[];

/** Newline and tab are harmless in a text; elsewhere a value has one line. */
function checkPrinted({ deploy_file, files, commands, mapped, left }: ImportAnswer): void {
  const lines = [...commands, ...mapped.flatMap(Object.values), ...left.flatMap(Object.values)];
  for (const text of [deploy_file ?? '', ...files.map((each) => each.text), ...lines.map(String)])
    assert.is(text.search(UNSAFE), -1, JSON.stringify(text));
  for (const text of lines) assert.not.ok(String(text).includes('\n'), JSON.stringify(text));
}

for (const format of FORMATS) {
  test(`damaged and hostile files of ${format} are read or refused`, async () => {
    const junk = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(
        '\u001b[2J',
        '\u202e',
        '\u009b',
        '\0',
        '\r',
        "'",
        '"',
        '{',
        '[',
        '`${',
        '#{',
        '<<: *a\n',
        '&a ',
        '__proto__: ',
        'constructor: ',
      ),
    );
    const file = fc.constantFrom(...ALL[format]);
    const damaged = fc.tuple(
      file,
      fc.array(fc.tuple(fc.nat(2_000), fc.nat(12), junk), { maxLength: 5 }),
    );
    const check = async ([{ text, file: name }, changes]: [Form, [number, number, string][]]) => {
      let changed = text;
      for (const [at, length, more] of changes) {
        const place = at % (changed.length + 1);
        changed = changed.slice(0, place) + more + changed.slice(place + length);
      }
      const answer = await imported(format, changed, name);
      if (answer) checkPrinted(answer);
    };
    await fc.assert(fc.asyncProperty(damaged, check), { numRuns: 40 });
    const any = fc.string({ unit: 'binary', maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(any, async (text) => {
        const answer = await imported(format, text, '-');
        if (answer) checkPrinted(answer);
      }),
      { numRuns: 40 },
    );
  });
}

test('files that would hang a parser or exhaust its stack are refused or read soon', async () => {
  const deep = (text: string) => text.repeat(60_000 / text.length);
  const levels = Array.from(
    { length: 30 },
    (_, level) => `a${level + 1}: &a${level + 1} [*a${level}, *a${level}]`,
  );
  for (const [format, text] of [
    ...['[', '(', '!', '-', 'a?', 'a=>', '`${', '{a:', "''+", 'a.', 'f(', '/', '"', '{a,'].map(
      (each) => ['pm2', `module.exports = ${deep(each)}`] as const,
    ),
    ...['[', '{', '{a: ', '? ', '- ', '"', '&a '].map((each) => ['kamal', deep(each)] as const),
    ['compose', `a0: &a0 [x, x]\n${levels.join('\n')}`],
    ...[
      '[',
      '{a: ',
      "'",
      '"',
      '%w[',
      'fetch(:a, ',
      'ENV[1] || ',
      '(',
      ' do\n',
      '#{',
      'a + ',
      '.push(',
    ].map((each) => ['capistrano', `set :x, ${deep(each)}`] as const),
    ...['\\\n', 'a: ', 'a:\n', '"'].map((each) => ['procfile', deep(each)] as const),
    ...['\\\n', 'Environment=a\n', '"', ' '].map(
      (each) => ['unit', `[Service]\nEnvironment=${deep(each)}`] as const,
    ),
    ...['* ', '1,', '> ', '>&1 ', 'a=b\n', '1-', '.log', 'env '].map(
      (each) => ['crontab', `* * * * * ${deep(each)}x\n${deep(each)}`] as const,
    ),
    ['crontab', deep('0 0 31 2 * a\n')],
    ['crontab', deep('* * * * * a\n')],
    ...['[', '{a: ', "'", '"', '%w[', '(', ' do\n', '#{', '\\', '1.day, '].flatMap(
      (each) =>
        [
          ['whenever', `every ${deep(each)}`],
          ['whenever', `every :day do\nrake ${deep(each)}`],
        ] as const,
    ),
  ] as readonly (readonly [FormatName, string])[]) {
    const answer = await imported(format, text.slice(0, 65_536), '-');
    if (answer) checkPrinted(answer);
  }
});

test.run();
