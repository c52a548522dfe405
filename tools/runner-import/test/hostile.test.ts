/** Any text ends in an answer or a sentence, soon, and never prints what controls a terminal. */
import { Failure } from '@runner/common/foundation/failure';
import { UNSAFE } from '@runner/common/text/harmless';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ImportAnswer, importText } from '../src/answer/answer.ts';
import type { FormatName } from '../src/formats/all.ts';
import { CAPISTRANO } from './forms/capistrano.ts';
import { COMPOSE } from './forms/compose.ts';
import { type Form, SECRET } from './forms/form.ts';
import { KAMAL } from './forms/kamal.ts';
import { CRONTABS, PROCFILE, UNITS } from './forms/lines.ts';
import { PM2 } from './forms/pm2.ts';
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
/** Milliseconds; far above what an import takes on a busy machine. */
const SOON = 10_000;

/** The answer; undefined of a text that is refused. */
async function imported(
  format: FormatName,
  text: string,
  file: string,
): Promise<ImportAnswer | undefined> {
  const begun = Date.now();
  try {
    return await importText({ format, text, file, root: '/opt/runner' });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    assert.is(error.code, 'not_imported');
    assert.is(error.message.search(UNSAFE), -1, error.message);
    return undefined;
  } finally {
    assert.ok(Date.now() - begun < SOON, `${format}: ${text.slice(0, 80)}`);
  }
}

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

test('a secret in any place of a value is not printed', async () => {
  const holders: readonly [FormatName, string, string][] = [
    [
      'procfile',
      'Procfile',
      `web: node x --token ${SECRET}\nworker: A_KEY=${SECRET} x\nrelease: curl https://u:${SECRET}@h/\n`,
    ],
    [
      'pm2',
      'e.js',
      `module.exports = { apps: [{ name: 'x', args: '-p${SECRET} --api-key=${SECRET}', env_production: { A_TOKEN: '${SECRET}' } }], deploy: { production: { repo: 'https://${SECRET}@github.com/a/b', 'post-deploy': 'PASSWORD=${SECRET} npm ci', env: { DB_PASS: '${SECRET}' } } } }`,
    ],
    [
      'kamal',
      'd.yml',
      `service: x\nregistry:\n  password: ${SECRET}\nenv:\n  A_SECRET: ${SECRET}\naccessories:\n  db:\n    image: x\n    cmd: x --password=${SECRET}\n    env:\n      PGPASSWORD: ${SECRET}\n`,
    ],
    [
      'capistrano',
      'd.rb',
      `set :application, 'x'\nset :default_env, { 'API_TOKEN' => '${SECRET}' }\nset :repo_url, 'https://x:${SECRET}@h.org/a.git'\nset :git_http_password, '${SECRET}'\n`,
    ],
    [
      'compose',
      'c.yml',
      `services:\n  web:\n    image: x\n    environment: [A_KEY=${SECRET}]\n    command: x --secret=${SECRET}\n`,
    ],
    [
      'unit',
      'x.service',
      `[Service]\nWorkingDirectory=/srv/x\nExecStart=/srv/x/a --api-key=${SECRET}\nEnvironment=A_KEY=${SECRET}\n`,
    ],
    [
      'crontab',
      'cron',
      `TOKEN=${SECRET}\n* * * * * curl -H "Authorization: Bearer ${SECRET}" x\n@daily mysqldump -u root -p${SECRET} shop\n@daily x --password ${SECRET}\n@daily A_KEY=${SECRET} x\n@daily x\n`,
    ],
    [
      'whenever',
      'schedule.rb',
      `env :A_TOKEN, '${SECRET}'\njob_type :x, 'PASSWORD=${SECRET} :task'\nset :y, '${SECRET}'\nevery :day, at: '${SECRET}' do\n  command "x --password ${SECRET}"\n  x "y"\n  rake "y", key: '${SECRET}'\nend\nevery :hour do\n  x "y"\n  command "curl -u me:${SECRET} h"\nend\n`,
    ],
  ];
  for (const [format, file, text] of holders) {
    const answer = await imported(format, text, file);
    assert.ok(answer, format);
    assert.not.ok(JSON.stringify(answer).includes(SECRET), JSON.stringify(answer, null, 1));
  }
});

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
