import { join } from 'node:path';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { everywhere, type Stage } from './stage.ts';

const unknown = (name: string, end: string) => ({
  status: 127,
  signal: null,
  stdout: '',
  stderr: `runner: unknown command '${name}'; ${end}\n`,
});
const LISTS = "'runner help' lists them";
const NAMES = ['add', 'audit', 'debug', 'deploy', 'list', 'notify', 'status', 'tokens'];

function commands(stage: Stage): void {
  for (const name of NAMES) stage.command(stage.own, name);
}

everywhere('the nearest command is suggested', (stage) => {
  commands(stage);
  const cases = {
    tokns: 'tokens',
    tokens1: 'tokens',
    tikens: 'tokens',
    stauts: 'status',
    lsit: 'list',
    deplyo: 'deploy',
    deploi: 'deploy',
    notfy: 'notify',
    hlep: 'help',
    sttaus: 'status',
    audti: 'audit',
    tokn: 'tokens',
    ps: 'list',
    ls: 'list',
  };
  for (const [typed, meant] of Object.entries(cases)) {
    assert.equal(stage.run([typed]), unknown(typed, `did you mean '${meant}'?`));
  }
});

everywhere('help of an unknown command, and options in the wrong place, get a hint', (stage) => {
  commands(stage);
  assert.equal(stage.run(['help', 'tokn']), unknown('tokn', "did you mean 'tokens'?"));
  assert.equal(stage.run(['version']), unknown('version', "did you mean '--version'?"));
  const unexpected = (...args: string[]) => {
    const { status, stdout, stderr } = stage.run(args);
    assert.equal([status, stdout], [2, '']);
    return stderr;
  };
  for (const option of ['-v', '-V'])
    assert.is(
      unexpected(option),
      `error: unexpected argument '${option}' found; did you mean '--version'?\n`,
    );
  assert.is(
    unexpected('--json', 'list'),
    "error: unexpected argument '--json' found; options go after the command: runner list --json\n",
  );
  assert.is(unexpected('--json'), "error: unexpected argument '--json' found\n");
});

everywhere('with --json an unknown command is an object on stdout too', (stage) => {
  commands(stage);
  const message = "unknown command 'tokn'; did you mean 'tokens'?";
  for (const args of [['--json'], ['-o', 'json']]) {
    const { status, stdout, stderr } = stage.run(['tokn', ...args]);
    assert.equal([status, stderr], [127, `runner: ${message}\n`]);
    assert.equal(JSON.parse(stdout), { error: 'usage', message });
  }
  const odd = stage.run(['a"b\\', '--json']);
  assert.is(JSON.parse(odd.stdout).message, "unknown command 'a?b?'; 'runner help' lists them");
});

everywhere('a beginning is near', (stage) => {
  commands(stage);
  assert.equal(stage.run(['tok']), unknown('tok', "did you mean 'tokens'?"));
  assert.equal(stage.run(['n']), unknown('n', "did you mean 'notify'?"));
  assert.equal(stage.run(['a']), unknown('a', "did you mean 'add' or 'audit'?"));
  assert.equal(stage.run(['de']), unknown('de', "did you mean 'debug' or 'deploy'?"));
});

everywhere('commands that are equally near are all named', (stage) => {
  for (const name of ['cart', 'card', 'care']) stage.command(stage.own, name);
  stage.command(stage.outside, 'carp');
  assert.equal(
    stage.run(['carx']),
    unknown('carx', "did you mean 'card', 'care', 'carp' or 'cart'?"),
  );
});

everywhere('a foreign command is suggested too', (stage) => {
  commands(stage);
  stage.command(stage.outside, 'migrate');
  assert.equal(stage.run(['migrte']), unknown('migrte', "did you mean 'migrate'?"));
});

everywhere('nothing is suggested when nothing is near', (stage) => {
  commands(stage);
  for (const name of ['xyz', 'kubernetes', 'q', '1', '0-0', 'no-such-command-anywhere']) {
    assert.equal(stage.run([name]), unknown(name, LISTS));
  }
});

everywhere('what could be a token is not shown', (stage) => {
  for (const name of ['x'.repeat(5000), 'plainapptoken-1234']) {
    assert.equal(stage.run([name]), unknown('[REDACTED]', LISTS));
    assert.match(
      stage.run([`-${name}`]).stderr,
      /^error: unexpected argument '\[REDACTED\]' found/,
    );
  }
});

everywhere('what is not a name is unknown, and no file is looked at', (stage) => {
  stage.file(join(stage.root, 'runner-evil'), '#!/bin/sh\necho EVIL\n');
  stage.folder('own/runner-');
  for (const name of ['Tokens', 'under_score', 'dot.js', 'Bug']) stage.command(stage.own, name);
  stage.file(join(stage.own, 'runner-', 'x'), '#!/bin/sh\necho EVIL\n');
  for (const name of [
    '',
    '../../x',
    '/x',
    '../../runner-evil',
    'Tokens',
    'under_score',
    'dot.js',
    '*',
    'a b',
    '.',
  ]) {
    assert.equal(stage.run([name]), unknown(name, LISTS));
  }
});

everywhere('control characters in a name do not reach the terminal', (stage) => {
  assert.equal(stage.run(['\u001b[31mred\u0007']), unknown('?[31mred?', LISTS));
  assert.equal(stage.run(['two\nlines\r\n']), unknown('two?lines??', LISTS));
  assert.equal(stage.run(['\u009b\u202e']), unknown('?????', LISTS));
  assert.equal(stage.run(["a'b"]), unknown('a?b', LISTS));
});

everywhere('any text is either a suggestion or the hint, on one line', (stage) => {
  commands(stage);
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({ unit: fc.constantFrom(...'adeilnostuy-1'), minLength: 1, maxLength: 12 }),
  );
  const word = text.filter((name) => {
    return (
      !name.includes('\0') && !name.startsWith('-') && !NAMES.includes(name) && name !== 'help'
    );
  });
  const line =
    /^runner: unknown command '[ -&(-~]*'; ('runner help' lists them|did you mean '[^\n]*'\?)\n$/;
  const holds = (name: string) => {
    const end = stage.run([name]);
    assert.is(end.status, 127);
    assert.is(end.stdout, '');
    assert.match(end.stderr, line);
  };
  fc.assert(fc.property(word, holds), { numRuns: 60 });
});

everywhere('a command with one slip of the finger is always suggested', (stage) => {
  commands(stage);
  const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789');
  const slip = fc
    .tuple(
      fc.constantFrom(...NAMES),
      fc.nat(),
      letter,
      fc.constantFrom('more', 'less', 'other', 'swap'),
    )
    .map(([name, number, key, kind]) => {
      const at = number % name.length;
      const [before, rest] = [name.slice(0, at), name.slice(at)];
      if (kind === 'more') return { name, typed: before + key + rest };
      if (kind === 'less') return { name, typed: before + rest.slice(1) };
      if (kind === 'other') return { name, typed: before + key + rest.slice(1) };
      return { name, typed: before + rest.slice(1, 2) + rest.slice(0, 1) + rest.slice(2) };
    })
    .filter(({ typed }) => !NAMES.includes(typed) && typed !== 'help');
  const holds = ({ name, typed }: { name: string; typed: string }) => {
    const { status, stderr } = stage.run([typed]);
    assert.is(status, 127);
    assert.match(stderr, `unknown command '${typed}'; did you mean '`);
    assert.match(stderr, `'${name}'`);
  };
  fc.assert(fc.property(slip, holds), { numRuns: 60 });
});

test.run();
