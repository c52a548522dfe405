import { spawnSync } from 'node:child_process';
import { command, type Tool } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { Failure } from '@runner/common/foundation/failure';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const KEY = `ghp_${'k'.repeat(36)}`;

/** What the tests below are about, played by this file when TEST_TOOL is set. */
const tool: Tool = {
  name: 'runner-sample',
  about: 'A sample',
  commands: [
    command({
      name: 'show',
      about: 'Show a value',
      positionals: { what: { about: 'What to show' } },
      options: {
        many: { placeholder: 'N', default: '0', about: 'How many records' },
      },
      run: async ({ args, options, print, note }) => {
        note('a \u001b[1mnote');
        for (let number = 0; number < Number(options.many); number += 1) {
          await print({ number, text: 'x'.repeat(1000) });
        }
        return { value: { what: args.what ?? null, odd: 'a\u001b\u202eb' } };
      },
      human: (value: { what?: string; number?: number }, style) =>
        value.what === undefined ? `${value.number}\n` : `${style.bold(String(value.what))}\n`,
    }),
    command({
      name: 'quiet',
      about: 'Say nothing',
      run: async () => ({ status: 4 }),
    }),
    command({
      name: 'refuse',
      about: 'Refuse',
      run: async () => {
        throw new Failure('locked', `line\none \u001b[1m of ${KEY}`, {
          held_by: 7,
          error: 'not this',
          odd: '\u202e',
        });
      },
    }),
    command({
      name: 'break',
      about: 'Break',
      positionals: { how: { about: 'How' } },
      run: async ({ args }) => {
        if (args.how === 'text') throw `a text with ${KEY}`;
        if (args.how === 'later') {
          setTimeout(() => {
            throw new Error('later');
          }, 1);
          await new Promise(() => setTimeout(() => {}, 50));
        }
        throw new TypeError(`\u001b[31mbroken by ${KEY}`);
      },
    }),
    command({
      name: 'where',
      about: 'Tell the root and the format',
      run: async ({ paths, format, title, style }) => ({
        value: { root: paths.root, format, title, coloured: style.bold('x') !== 'x' },
      }),
    }),
  ],
};

interface Options {
  readonly env?: Record<string, string>;
  readonly stdout?: number;
  readonly cwd?: string;
}

function sample(args: readonly string[], { env = {}, stdout, cwd }: Options = {}) {
  const { PATH } = process.env;
  const done = spawnSync(process.execPath, [__filename, ...args], {
    stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
    env: { PATH, TEST_TOOL: '1', ...env },
    encoding: 'utf8',
    cwd: cwd ?? '/',
    timeout: 180_000,
  });
  return { status: done.status, stdout: done.stdout, stderr: done.stderr };
}

const NAMES = '[subcommands: show, quiet, refuse, break, where]';

test('a command without a value prints nothing and can choose its status', () => {
  for (const format of [[], ['--json'], ['-o', 'yaml']]) {
    assert.equal(sample(['quiet', ...format]), { status: 4, stdout: '', stderr: '' });
  }
});

test('a refusal is one sentence on stderr with its code, and with --json or -o yaml one object on stdout', () => {
  const sentence = 'line\\none \\x1b[1m of [REDACTED]';
  const stderr = `runner sample refuse: ${sentence} (locked)\n`;
  assert.equal(sample(['refuse']), { status: 75, stdout: '', stderr });
  for (const format of [['-o', 'yaml'], ['-oyaml'], ['--output=yaml']]) {
    assert.equal(sample(['refuse', ...format]), {
      status: 75,
      stdout: `---\n"held_by": 7\n"error": "locked"\n"odd": "\\u202e"\n"message": "${sentence.replaceAll('\\', '\\\\')}"\n`,
      stderr,
    });
  }
  for (const format of [
    ['--json'],
    ['-o', 'json'],
    ['-ojson'],
    ['-o=json'],
    ['--output=json'],
    ['--output', 'json'],
  ]) {
    const { status, stdout, stderr: said } = sample(['refuse', ...format]);
    assert.equal([status, said], [75, stderr]);
    assert.not.match(stdout, /[^\x20-\x7e\n]/);
    assert.equal(JSON.parse(stdout), {
      held_by: 7,
      odd: '\u202e',
      error: 'locked',
      message: sentence,
    });
  }
});

test('wrong usage is reported in clap’s words with status 2, with --json as an object', () => {
  for (const [args, sentence] of [
    [[], `'runner sample' requires a subcommand but one was not provided ${NAMES}`],
    [['shwo'], "unrecognized subcommand 'shwo'; a similar subcommand exists: 'show'"],
    [['xyzzy'], `unrecognized subcommand 'xyzzy' ${NAMES}`],
    [[''], `unrecognized subcommand '' ${NAMES}`],
    [['--what'], `unexpected argument '--what' found before a subcommand ${NAMES}`],
    [['show', '--nope'], "unexpected argument '--nope' found"],
    [['show', 'a', 'b'], "unexpected argument 'b' found"],
    [['show', 'a', '\u001b[1m'], "unexpected argument '\\x1b[1m' found"],
    [['show', '--root'], "a value is required for '--root <DIR>' but none was supplied"],
  ] as const) {
    assert.equal(sample(args), { status: 2, stdout: '', stderr: `error: ${sentence}\n` });
  }
  const { status, stdout, stderr } = sample(['show', 'a', 'b', '--json']);
  assert.equal([status, stderr], [2, "error: unexpected argument 'b' found\n"]);
  assert.equal(JSON.parse(stdout), { error: 'usage', message: "unexpected argument 'b' found" });
  assert.is(sample(['show', 'a', 'b', '--', '--json']).stdout, '');
});

test('any other exception is a bug: its stack is printed, escaped and redacted', () => {
  const { status, stdout, stderr } = sample(['break']);
  assert.equal([status, stdout], [1, '']);
  assert.match(
    stderr,
    /^runner sample: this is a bug in runner-sample \d+\.\d+\.\d+\S*\nTypeError: \\x1b\[31mbroken by \[REDACTED\]\n +at /,
  );
  assert.match(sample(['break', 'text']).stderr, /\na text with \[REDACTED\]\n$/);
  const later = sample(['break', 'later']);
  assert.is(later.status, 1);
  assert.match(later.stderr, /\nError: later\n +at /);
});

test('root, format and colour are chosen by option, then environment', () => {
  const where = (args: string[], options?: Options) =>
    JSON.parse(sample(['where', '--json', ...args], options).stdout);
  assert.equal(where([]), {
    root: '/opt/runner',
    format: 'json',
    title: 'runner sample where',
    coloured: false,
  });
  assert.is(where([], { env: { RUNNER_ROOT: '/srv/r' } }).root, '/srv/r');
  assert.is(
    where(['--root', 'rel'], { env: { RUNNER_ROOT: '/srv/r' }, cwd: '/tmp' }).root,
    '/tmp/rel',
  );
  assert.is(where(['--color', 'always']).coloured, true);
  assert.is(where([], { env: { FORCE_COLOR: '1' } }).coloured, true);
  assert.is(where([], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } }).coloured, false);
  assert.is(where([], { env: { CI: 'true' } }).coloured, false);
});

if (process.env.TEST_TOOL === '1') main(tool);
else test.run();
