/** Wrong input, and outputs that take nothing, over all tools: one sentence, the right status. */
import { openSync } from 'node:fs';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ANSWERING, each, refuses, sentenceOf, WRONG } from './bad-input.ts';
import { commandNames, toolNames } from './commands.ts';

test('every command refuses a wrong option', async () => {
  for (const [turn, { tool, words }] of commandNames().entries())
    await refuses(tool, words, WRONG.slice(turn % WRONG.length).slice(0, 1));
});

/** Every command line whose output is tried: the answers and every help. */
function printing(): (readonly string[])[] {
  return [
    ...ANSWERING,
    ['runner-list'],
    ['runner-list', '--json'],
    ['runner-list', '-o', 'yaml'],
    ...toolNames().map((tool) => [tool, '--help']),
  ];
}

/** Apps without a token are no failure. */
function withoutNotes(stderr: string): string {
  return stderr.replace(/^runner tokens list: without a token: .*\n/, '');
}

test('output that does not fit on a full disk is a failure with a clear error', async () => {
  const full = openSync('/dev/full', 'w');
  for (const [what, ended] of await each(printing(), { fds: { 1: full } })) {
    const told = sentenceOf({ ...ended, stderr: withoutNotes(ended.stderr) }, 1, what);
    assert.match(
      told,
      /^runner [a-z -]+: cannot write to standard output: no space left on the disk \(output_failed\)$/,
      what,
    );
  }
});

test('a tool of several commands names them when none or an unknown one is given', async () => {
  for (const tool of toolNames()) {
    const names = commandNames().flatMap((each) => (each.tool === tool ? each.words : []));
    const [first] = names;
    // These answer a call where no command is named.
    if (first === undefined || ['runner-bell', 'runner-jobs', 'runner-preview'].includes(tool))
      continue;
    const list = `[subcommands: ${names.join(', ')}]`;
    for (const [args, sentence] of [
      [[], `'${tool.replace('-', ' ')}' requires a subcommand but one was not provided ${list}`],
      [['nonsense-word'], `unrecognized subcommand 'nonsense-word' ${list}`],
      [['--json'], `unexpected argument '--json' found before a subcommand ${list}`],
      [['__proto__'], `unrecognized subcommand '__proto__' ${list}`],
      [
        [`${first}x`],
        `unrecognized subcommand '${first}x'; a similar subcommand exists: '${first}'`,
      ],
    ] as const) {
      const what = [tool, ...args].join(' ');
      assert.is(sentenceOf(await run(tool, args), 2, what), `error: ${sentence}`, what);
    }
  }
});

test.run();
