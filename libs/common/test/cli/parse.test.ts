import { command } from '@runner/common/cli/command';
import { parse } from '@runner/common/cli/parse';
import { Failure } from '@runner/common/foundation/failure';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refusal } from './refusal.ts';

const add = command({
  name: 'add',
  about: 'Register an app',
  positionals: { app: { about: 'Name of the app' } },
  options: {
    token: {
      placeholder: 'TOKEN',
      about: 'Token of the code host',
      secret: true,
      conflicts: ['token-from', 'public'],
    },
    'token-from': { placeholder: 'APP', about: 'Reuse its token' },
    public: { about: 'No token' },
    'no-notify': { about: 'Send no notifications' },
    'chat-id': { placeholder: 'ID', about: 'Where to' },
    channel: {
      short: 'c',
      placeholder: 'CHANNEL',
      choices: ['telegram', 'discord'],
      about: 'Which',
    },
    pin: {
      placeholder: 'PIN',
      choices: ['1111', '2222'],
      secret: true,
      about: 'Pin',
    },
    error: { placeholder: 'TEXT', emptyAllowed: true, about: 'What went wrong' },
    keep: { placeholder: 'N', default: '5', about: 'Releases' },
    verbose: { short: 'v', about: 'Say more' },
  },
  run: async () => ({}),
});

const send = command({
  name: 'send',
  about: 'Send',
  positionals: {
    to: { about: 'Whom', required: true },
    files: { about: 'What', many: true },
  },
  options: { from: { placeholder: 'WHO', required: true, about: 'Who' } },
  run: async () => ({}),
});

const copy = command({
  name: 'copy',
  about: 'Copy',
  positionals: { files: { about: 'What', many: true, required: true } },
  run: async () => ({}),
});

type Values = Record<string, unknown>;

/** What a command line gives, less the options that were not given. */
function given(argv: readonly string[], definition = add): { options: Values; args: Values } {
  const { options, args } = parse(definition, argv);
  const set = Object.entries(options).filter(([, value]) => value !== undefined && value !== false);
  const taken = Object.entries(args).filter(([, value]) => value !== undefined);
  return { options: Object.fromEntries(set), args: Object.fromEntries(taken) };
}

const READ: readonly (readonly [string[], Values, string?])[] = [
  [[], {}],
  [['007'], {}, '007'],
  [['-'], {}, '-'],
  [[''], {}, ''],
  [['--chat-id', '007'], { 'chat-id': '007' }],
  [['--chat-id', '12e4567'], { 'chat-id': '12e4567' }],
  [['--chat-id', '0x10'], { 'chat-id': '0x10' }],
  [['--chat-id', '1e5'], { 'chat-id': '1e5' }],
  [['--chat-id', '-1001234'], { 'chat-id': '-1001234' }],
  [['--chat-id', '-1001234', 'blog'], { 'chat-id': '-1001234' }, 'blog'],
  [['--chat-id=-1001234567890123456'], { 'chat-id': '-1001234567890123456' }],
  [['--chat-id', '-'], { 'chat-id': '-' }],
  [['--chat-id=-'], { 'chat-id': '-' }],
  [['--chat-id=--json'], { 'chat-id': '--json' }],
  [['--chat-id=a=b=c'], { 'chat-id': 'a=b=c' }],
  [['--chat-id', 'a=b=c'], { 'chat-id': 'a=b=c' }],
  [['--chat-id', 'one\ntwo\n'], { 'chat-id': 'one\ntwo\n' }],
  [['--chat-id', ' '], { 'chat-id': ' ' }],
  [['--chat-id', 'naïve 🐱 日本'], { 'chat-id': 'naïve 🐱 日本' }],
  [['--chat-id', 'x'.repeat(102_400)], { 'chat-id': 'x'.repeat(102_400) }],
  [['--chat-id', 'true'], { 'chat-id': 'true' }],
  [['--chat-id', '__proto__'], { 'chat-id': '__proto__' }],
  [['--token', 'no-such=thing'], { token: 'no-such=thing' }],
  [['--keep', '9'], { keep: '9' }],
  [['--error', ''], { error: '' }],
  [['--error='], { error: '' }],
  [['--error=', 'blog'], { error: '' }, 'blog'],
  [['--error', '', '--public'], { error: '', public: true }],
  [['--no-notify'], { 'no-notify': true }],
  [['blog', '--no-notify', '--public'], { 'no-notify': true, public: true }, 'blog'],
  [['--public', '--public'], { public: true }],
  [['-v', '-v', '--verbose'], { verbose: true }],
  [['--json', 'blog'], { json: true }, 'blog'],
  [['--json', '--output', 'json'], { json: true, output: 'json' }],
  [['-ojson', '--json'], { json: true, output: 'json' }],
  [['--', '--json'], {}, '--json'],
  [['--', '--'], {}, '--'],
  [['--'], {}],
  [['--public', '--', '-x'], { public: true }, '-x'],
  [['-o', 'json'], { output: 'json' }],
  [['-ojson'], { output: 'json' }],
  [['-o=json'], { output: 'json' }],
  [['-vojson'], { verbose: true, output: 'json' }],
  [['-vo', 'json', 'blog'], { verbose: true, output: 'json' }, 'blog'],
  [['-c', 'discord'], { channel: 'discord' }],
  [['-vcdiscord'], { verbose: true, channel: 'discord' }],
  [['-h'], { help: true }],
  [['-ho', 'json'], { help: true, output: 'json' }],
  [['--help', 'one', 'two', 'three'], { help: true }],
  [['--help', '--token', 'a', '--token-from', 'b'], { help: true, token: 'a', 'token-from': 'b' }],
  [['--root', '/srv/runner', '--color=never'], { root: '/srv/runner', color: 'never' }],
];

for (const [argv, options, app] of READ) {
  test(`\`${argv.join(' ').slice(0, 60).replaceAll('\n', '⏎')}\` is read`, () => {
    const wanted = { keep: '5', ...options };
    const { help } = wanted as Values;
    assert.equal(given(argv), {
      options: wanted,
      args: app === undefined || help ? {} : { app },
    });
  });
}

const ID = "'--chat-id <ID>'";
const REFUSED: readonly (readonly [string[], string])[] = [
  [['--chat-id'], `a value is required for ${ID} but none was supplied`],
  [['--chat-id', ''], `a value is required for ${ID} but none was supplied`],
  [['--chat-id='], `a value is required for ${ID} but none was supplied`],
  [['--chat-id', '--json'], `a value is required for ${ID} but none was supplied`],
  [['--chat-id', '-x'], `a value is required for ${ID} but none was supplied`],
  [['--chat-id', '--', 'x'], `a value is required for ${ID} but none was supplied`],
  [
    ['--token', '--token-from', 'x'],
    "a value is required for '--token <TOKEN>' but none was supplied",
  ],
  [['--error'], "a value is required for '--error <TEXT>' but none was supplied"],
  [['-o'], "a value is required for '--output <FORMAT>' but none was supplied"],
  [['-o='], "a value is required for '--output <FORMAT>' but none was supplied"],
  [['-vo'], "a value is required for '--output <FORMAT>' but none was supplied"],
  [['--json=foo'], "unexpected value for '--json' found; no more were expected"],
  [['--public='], "unexpected value for '--public' found; no more were expected"],
  [['--chat-id', '1', '--chat-id', '2'], `the argument ${ID} cannot be used multiple times`],
  [['--chat-id=1', '--chat-id=1'], `the argument ${ID} cannot be used multiple times`],
  [
    ['-o', 'json', '--output', 'json'],
    "the argument '--output <FORMAT>' cannot be used multiple times",
  ],
  [
    ['--no-public'],
    "unexpected argument '--no-public' found; a similar argument exists: '--public'",
  ],
  [['--no-json'], "unexpected argument '--no-json' found"],
  [
    ['--no-notfiy'],
    "unexpected argument '--no-notfiy' found; a similar argument exists: '--no-notify'",
  ],
  [['--__proto__'], "unexpected argument '--__proto__' found"],
  [['--__proto__=x'], "unexpected argument '--__proto__' found"],
  [['--constructor', 'x'], "unexpected argument '--constructor' found"],
  [['--tokne', 'x'], "unexpected argument '--tokne' found; a similar argument exists: '--token'"],
  [['--tok=x'], "unexpected argument '--tok' found; a similar argument exists: '--token'"],
  [
    ['--token_from', 'x'],
    "unexpected argument '--token_from' found; a similar argument exists: '--token-from'",
  ],
  [['--zzz'], "unexpected argument '--zzz' found"],
  [['--=x'], "unexpected argument '--' found"],
  [['---json'], "unexpected argument '---json' found; a similar argument exists: '--json'"],
  [['--Json'], "unexpected argument '--Json' found; a similar argument exists: '--json'"],
  [['-x'], "unexpected argument '-x' found"],
  [['-vx'], "unexpected argument '-x' found"],
  [['-1'], "unexpected argument '-1' found"],
  [['-=x'], "unexpected argument '-=' found"],
  [['-🐱'], "unexpected argument '-🐱' found"],
  [['one', 'two'], "unexpected argument 'two' found"],
  [['one', ''], "unexpected argument '' found"],
  [['one', '--', '--two'], "unexpected argument '--two' found"],
  [
    ['--token', 'a', '--token-from', 'b'],
    "the argument '--token <TOKEN>' cannot be used with '--token-from <APP>'",
  ],
  [
    ['--token-from', 'b', '--token', 'a'],
    "the argument '--token <TOKEN>' cannot be used with '--token-from <APP>'",
  ],
  [['--public', '--token=a'], "the argument '--token <TOKEN>' cannot be used with '--public'"],
  [['--json', '-oyaml'], "the argument '--json' cannot be used with '--output <FORMAT>'"],
  [['-o', 'human', '--json'], "the argument '--json' cannot be used with '--output <FORMAT>'"],
  [
    ['--channel', 'fax'],
    "invalid value 'fax' for '--channel <CHANNEL>' [possible values: telegram, discord]",
  ],
  [['-oJSON'], "invalid value 'JSON' for '--output <FORMAT>' [possible values: human, json, yaml]"],
  [['-oh'], "invalid value 'h' for '--output <FORMAT>' [possible values: human, json, yaml]"],
  [['--pin', '3333'], "invalid value for '--pin <PIN>' [possible values: 1111, 2222]"],
];

for (const [argv, sentence] of REFUSED) {
  test(`\`${argv.join(' ')}\` is refused`, () => {
    const failure = refusal(() => parse(add, argv));
    assert.equal([failure.code, failure.status, failure.message], ['usage', 2, sentence]);
  });
}

test('the last positional can take all remaining arguments', () => {
  assert.equal(given(['--from', 'me', 'you', 'a', '-', '--', '-b'], send).args, {
    to: 'you',
    files: ['a', '-', '-b'],
  });
  assert.equal(given(['--from', 'me', 'you'], send).args, { to: 'you', files: [] });
  assert.equal(given(['a'], copy).args, { files: ['a'] });
});

test('all missing required arguments are named together', () => {
  const said = (argv: string[], definition: typeof add) =>
    refusal(() => parse(definition, argv)).message;
  const words = 'the following required arguments were not provided:';
  assert.is(said([], send), `${words} --from <WHO>, <TO>`);
  assert.is(said(['you'], send), `${words} --from <WHO>`);
  assert.is(said(['--from=me'], send), `${words} <TO>`);
  assert.is(said([], copy), `${words} <FILES>...`);
});

test('a flag that was not given is false, an option that was not given is undefined', () => {
  const { options, args } = parse(add, []);
  assert.is(options.public, false);
  assert.is(options.token, undefined);
  assert.ok(Object.hasOwn(options, 'token'));
  assert.is(options.keep, '5');
  assert.is(args.app, undefined);
});

const WORDS = [
  ...['--token', '--token=', '--token-from', '--public', '--no-notify', '--chat-id', '--error=x'],
  ...[
    '-v',
    '-o',
    '-ojson',
    '-c',
    '--',
    '-',
    '--json',
    '--help',
    '--__proto__',
    '--pin',
    '--no-',
    '',
  ],
];
const argument = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('-', '=', 'o', 'v', 'n', '1', ' ', '\n', 'é'), maxLength: 8 }),
);

test('any argument vector is parsed or refused as wrong usage', () => {
  fc.assert(
    fc.property(fc.array(argument, { maxLength: 8 }), (argv) => {
      for (const definition of [add, send, copy]) {
        try {
          parse(definition, argv);
        } catch (error) {
          if (!(error instanceof Failure) || error.code !== 'usage') throw error;
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('every parsed value is part of what was typed', () => {
  fc.assert(
    fc.property(fc.array(argument, { maxLength: 6 }), (argv) => {
      let parsed: ReturnType<typeof parse>;
      try {
        parsed = parse(add, argv);
      } catch {
        return;
      }
      for (const [name, value] of Object.entries({ ...parsed.options, ...parsed.args })) {
        if (typeof value !== 'string' || (name === 'keep' && value === '5')) continue;
        assert.ok(
          argv.some((arg) => arg.endsWith(value)),
          `${name}: ${value}`,
        );
      }
    }),
    { numRuns: 300 },
  );
});

test('no message repeats the value of a secret option', () => {
  const secret = fc.stringMatching(/^[!-~]{8,40}$/).map((text) => `Zq${text}`);
  const around = fc.array(
    fc.constantFrom(
      ...WORDS.filter((word) => word !== '--' && !/^(--token|--pin|-c|-o|--chat-id)/.test(word)),
    ),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(
      secret,
      around,
      around,
      fc.constantFrom('--token', '--pin'),
      (value, before, after, name) => {
        for (const pieces of [
          [name, value],
          [`${name}=${value}`],
          [name, value, `${name}=${value}`],
        ]) {
          try {
            parse(add, [...before, ...pieces, ...after]);
          } catch (error) {
            assert.not.ok(`${(error as Error).message}`.includes(value));
          }
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('an option of other programs is answered with what to type here', () => {
  const definition = command({
    about: 'x',
    positionals: { id: { required: true, about: 'x', listedBy: 'runner x list' } },
    options: { check: { about: 'x' }, repo: { placeholder: 'NAME', required: true, about: 'x' } },
    surplus: 'one id alone',
    instead: { '--dry-run': '--check' },
    otherwise: 'put -- first',
    run: () => Promise.resolve({}),
  });
  const said = (...argv: string[]) => refusal(() => parse(definition, argv)).message;
  assert.is(said('--dry-run'), "unexpected argument '--dry-run' found; use --check");
  assert.is(said('--dry-runs'), "unexpected argument '--dry-runs' found; put -- first");
  assert.is(
    said('--chek'),
    "unexpected argument '--chek' found; a similar argument exists: '--check'",
  );
  assert.match(said(), /not provided: --repo <NAME>, <ID> \(see runner x list\)/);
  assert.is(said('one', 'two'), 'one id alone');
});

test.run();
