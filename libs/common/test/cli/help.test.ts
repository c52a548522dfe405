import { command } from '@runner/common/cli/command';
import { commandHelp, toolHelp } from '@runner/common/cli/help';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const list = command({
  name: 'list',
  about: 'List what is waiting',
  run: async () => ({}),
});

const send = command({
  name: 'send',
  about: 'Send a letter',
  details: 'Reads the letter from standard input.\n\nWaits for the postman.\n',
  positionals: {
    to: { about: 'Whom to write to', required: true },
    copies: { about: 'Who else gets it', many: true },
  },
  options: {
    stamp: {
      short: 's',
      placeholder: 'KIND',
      choices: ['a', 'b'],
      about: 'Which stamp',
      default: 'b',
    },
    by: { placeholder: 'TIME', about: 'When at the latest [default: in a week]', default: '7d' },
    express: { about: 'In a hurry' },
    'a-very-long-option-name': {
      placeholder: 'LETTER',
      about: 'On a line of its own',
    },
  },
  exits: [[75, 'The postman is busy']],
  examples: ['runner post send you', 'runner post send you --express'],
  run: async () => ({}),
});

const post = { name: 'runner-post', about: 'Send letters', commands: [send, list] };

const COMMON = (
  indent: string,
  choices: string,
) => `      --json${indent}             Shortcut for --output json
  -o, --output <FORMAT>${indent}  How to print the answer [default: human]
                         ${indent}[human|json|yaml]
      --root <DIR>${indent}       Folder that holds everything
                         ${indent}[default: $RUNNER_ROOT, else /opt/runner]
      --color <WHEN>${indent}     When to use colours [default: auto]${choices}
  -h, --help${indent}             Print help
`;

test('the help of a command says what it does, its words, its options and its exit statuses', () => {
  assert.fixture(
    commandHelp(post, send),
    `Send a letter

Reads the letter from standard input.

Waits for the postman.

Usage: runner post send [OPTIONS] <TO> [COPIES]...

Arguments:
  <TO>         Whom to write to
  [COPIES]...  Who else gets it

Options:
  -s, --stamp <KIND>              Which stamp [default: b] [a|b]
      --by <TIME>                 When at the latest [default: in a week]
      --express                   In a hurry
      --a-very-long-option-name <LETTER>
                                  On a line of its own
${COMMON('         ', `\n${' '.repeat(34)}[auto|always|never]`)}
Exit status:
  0   Done
  1   Refused or failed; the reason is on stderr
  2   Wrong usage
  75  The postman is busy

Examples:
  runner post send you
  runner post send you --express
`,
  );
});

test('the help of a small command has no empty parts', () => {
  assert.fixture(
    commandHelp(post, list),
    `List what is waiting

Usage: runner post list [OPTIONS]

Options:
${COMMON('', ' [auto|always|never]')}
Exit status:
  0  Done
  1  Refused or failed; the reason is on stderr
  2  Wrong usage
`,
  );
});

test('the only command of a tool is called by the name of the tool', () => {
  const only = command({ name: '', about: 'Do it', run: async () => ({}) });
  const help = commandHelp({ name: 'runner-do', about: 'Do it', commands: [only] }, only);
  assert.match(help, /^Usage: runner do \[OPTIONS\]$/m);
});

test('the usage names the options that a command needs, on several lines if it must', () => {
  const only = command({
    about: 'Do it',
    options: {
      repo: { placeholder: 'OWNER/NAME', required: true, about: 'Where' },
      branch: { placeholder: 'BRANCH', about: 'One' },
      tags: { placeholder: 'PATTERN', about: 'Or the other' },
    },
    oneOf: ['branch', 'tags'],
    run: async () => ({}),
  });
  const help = commandHelp({ name: 'runner-do', about: 'Do it', commands: [only] }, only);
  const usage = /^Usage: .*\n( {7}.*\n)*/m.exec(help)?.[0] ?? '';
  const wanted =
    'Usage: runner do [OPTIONS] --repo <OWNER/NAME> <--branch <BRANCH>|--tags <PATTERN>> ';
  assert.is(usage.replace(/\s+/g, ' '), wanted);
  for (const line of usage.split('\n')) assert.ok(line.length <= 80, line);
});

test('the help of a tool lists its commands', () => {
  assert.fixture(
    toolHelp(post),
    `Send letters

Usage: runner post <COMMAND> [OPTIONS]

Commands:
  send  Send a letter
  list  List what is waiting

Options:
  -h, --help     Print help; after a command, the help of that command
      --version  Print the version
`,
  );
});

test('no line is longer than 80 columns: texts are filled, choices break after a bar, columns stay', () => {
  const columns = 'one      first\ntwo      second';
  const write = command({
    name: 'write',
    about: 'Write a letter',
    details: `${'word '.repeat(30)}word\nend.\n\n${columns}\n`,
    options: {
      ink: {
        placeholder: 'INK',
        choices: [
          'black',
          'blue',
          'green',
          'purple',
          'red',
          'yellow',
          'invisible',
          'washable',
          'gold',
        ],
        about: 'What to write with',
      },
    },
    run: async () => ({}),
  });
  const help = commandHelp(post, write);
  assert.equal(
    help.split('\n').filter((line) => line.length > 80),
    [],
  );
  assert.ok(
    help.includes(`\n${'word '.repeat(15)}word\n${'word '.repeat(15)}end.\n\n${columns}\n`),
    help,
  );
  assert.match(help, /\|\n +\S+\]\n/);
});

test.run();
