import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FAILURE_CODES, Failure } from '@runner/common/foundation/failure';
import { shell } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allCommands, type CommandName, commandNames, commandsIn, toolNames } from './commands.ts';
import { runLoading } from './loaded.ts';

/** A file of the checkout. */
function source(path: string): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'pnpm-workspace.yaml'))) folder = dirname(folder);
  return readFileSync(join(folder, path), 'utf8');
}

test("the shim's table of commands holds the first line of each one's own help", async () => {
  const { tools } = await allCommands();
  const { stdout } = await shell('runner help');
  const rows = [...stdout.matchAll(/^ {2}([a-z][a-z-]*) {2,}(\S.*)$/gm)];
  const listed = Object.fromEntries(rows.map(([, name, about]) => [`runner-${name}`, about]));
  const own = Object.fromEntries(tools.map(({ tool, help }) => [tool, help.split('\n')[0]]));
  assert.equal(listed, own);
});

test('the built docs/commands.md has a section for each command', async () => {
  const { commands } = await allCommands();
  const lines = (all: readonly CommandName[]) =>
    all.map(({ tool, words }) => [tool, ...words].join(' ')).sort();
  assert.equal(lines(commandNames()), lines(commands));
});

// A slower start is found without a clock.
test('no help loads anything beside its executable', async () => {
  const { tools, commands } = await allCommands();
  for (const { tool, words, loaded } of [...tools, ...commands])
    assert.equal(loaded, [], `${tool} ${words}`);
});

test('every command of a tool is described there as in its own help', async () => {
  const { tools, commands } = await allCommands();
  for (const { tool, words, help } of commands) {
    const [name] = words;
    if (name === undefined) continue;
    const whole = tools.find((each) => each.tool === tool)?.help ?? '';
    const row = new RegExp(`^  ${name} +(.*(?:\\n {6,}.*)*)$`, 'm').exec(whole)?.[1] ?? '';
    assert.is(row.replace(/\n +/g, ' '), help.split('\n')[0], `${tool} ${name}`);
  }
});

test('no line of any help is longer than 80 columns, except examples, or ends with a space', async () => {
  const { tools, commands } = await allCommands();
  for (const { tool, words, help } of [...tools, ...commands]) {
    const examples = help.split('\nExamples:\n')[1]?.split('\n') ?? [];
    for (const line of help.split('\n')) {
      if (!examples.includes(line))
        assert.ok([...line].length <= 80, `${tool} ${words.join(' ')}: ${line}`);
      assert.is(line, line.trimEnd(), `${tool} ${words.join(' ')}`);
    }
  }
});

test('every help has a usage as it is typed, the common options and the exit statuses', async () => {
  const { tools, commands } = await allCommands();
  for (const { tool, words, help } of commands) {
    const typed = [tool.replace('-', ' '), ...words].join(' ');
    assert.ok(help.includes(`\nUsage: ${typed} [OPTIONS]`), typed);
    for (const option of ['--json', '-o, --output', '--root', '--color', '-h, --help']) {
      assert.ok(help.includes(`  ${option} `), `${typed}: ${option}`);
    }
    assert.match(help, /\nExit status:\n {2}0 +Done/, typed);
  }
  for (const { tool, help } of tools) {
    if (commandsIn(help).length > 0)
      assert.match(help, /\n {6}--version +Print the version\n/, tool);
  }
});

test('every tool prints its version, and loads nothing for it', async () => {
  const { version } = JSON.parse(source('package.json'));
  for (const tool of toolNames()) {
    const { status, stdout, stderr, loaded } = await runLoading(tool, ['--version']);
    assert.equal([status, stdout, stderr, loaded], [0, `${tool} ${version}\n`, '', []]);
  }
});

test('docs/errors.md lists every code with its status, and no other', () => {
  const rows = [...source('docs/errors.md').matchAll(/^\| `(\w+)` *\| *(\d+) *\| *(\S.*) \|$/gm)];
  const documented = Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]));
  const real = Object.fromEntries(
    FAILURE_CODES.map((code) => [code, new Failure(code, '').status]),
  );
  assert.equal(documented, real);
  assert.is(rows.length, FAILURE_CODES.length, 'a code stands twice');
});

test('docs/errors.md lists every exit status that a help names', async () => {
  const documented = new Set(
    [...source('docs/errors.md').matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, cell]) =>
      (cell ?? '').split(', ').map(Number),
    ),
  );
  const { commands } = await allCommands();
  for (const { tool, help } of commands) {
    const section = /\nExit status:\n((?: {2,}.*\n)+)/.exec(help)?.[1] ?? '';
    for (const [, status] of section.matchAll(/^ {2}(\d+) /gm)) {
      assert.ok(documented.has(Number(status)), `${tool}: ${status}`);
    }
  }
});

test.run();
