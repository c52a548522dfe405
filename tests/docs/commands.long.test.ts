/** Every command of README.md and docs/ does what the page says. */
import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exchangesOf, masked, matches } from './console.ts';
import { NOT_RUN } from './not-run.ts';
import { type Fence, fencesOf, isAt, pages } from './pages.ts';
import { makeWorld, type World } from './world.ts';

const EMPTY_WORLDS = ['README.md', 'docs/quick-start.md'];
/** Pages whose blocks are about different things: each block has a world of its own. */
const WORLD_PER_BLOCK = ['docs/commands.md', 'docs/switching.md'];
/** Programs other than the runner's own that pages use; without one its pages are skipped. */
const PROGRAMS = ['jq'];

const isCommands = ({ language }: Fence) => language === 'sh' || language === 'console';
const linesOf = ({ text }: Fence) => text.split('\n').map((line) => line.trim());

/** A block without the lines that cannot be run; undefined when none of it can. */
function runnable(fence: Fence): Fence | undefined {
  const rules = NOT_RUN.filter(({ page }) => isAt(fence, page));
  const whole = rules.some(({ block, line }) =>
    block === undefined ? line === undefined : fence.text.includes(block),
  );
  if (whole || !isCommands(fence)) return undefined;
  const without = rules.map(({ line }) => line);
  const lines = fence.text.split('\n').filter((line) => !without.includes(line.trim()));
  return lines.length > 0 ? { ...fence, text: lines.join('\n') } : undefined;
}

/** What a command of a pipe says that fails without failing the pipe. */
const TROUBLE = /^(error: |jq: error|.*runner[\w-]*: not found).*$/m;

const uses = (fence: Fence, program: string) =>
  new RegExp(`(^|[|;&(]\\s*)${program}\\b`, 'm').test(fence.text.replace(/^\$ /gm, ''));
const isInstalled = (program: string) => spawnSync(program, ['--version']).error === undefined;

/** Runs a block of commands; throws with page and line when it does not end as the page shows. */
async function runScript(world: World, fence: Fence, stdin: string): Promise<void> {
  const { status, stdout, stderr } = await world.type(fence.text, stdin);
  const wanted = Number(fence.notes.get('status') ?? 0);
  const where = `${fence.page}:${fence.line}`;
  assert.is(status, wanted, `${where}: status ${status}\n${fence.text}\n---\n${stdout}${stderr}`);
  assert.is(TROUBLE.exec(stderr)?.[0], undefined, where);
}

/** Runs a session command by command, and compares what it prints. */
async function runSession(world: World, fence: Fence, stdin: string): Promise<void> {
  const statuses = (fence.notes.get('status') ?? '').split(',').filter(Boolean).map(Number);
  for (const [index, { command, shown }] of exchangesOf(fence.text).entries()) {
    const { status, stdout } = await world.type(`{ ${command}\n} 2>&1`, stdin);
    const where = `${fence.page}:${fence.line}: $ ${command}`;
    assert.is(status, statuses[index] ?? 0, `${where}: status ${status}\n${stdout}`);
    const lines = masked(world.inWordsOfPages(stdout));
    const wanted = masked(shown.join('\n'));
    if (!matches(lines, wanted)) assert.is(lines.join('\n'), wanted.join('\n'), where);
  }
}

/** Runs blocks one after the other on a server; registering apps needs one without them. */
async function inOneWorld(fences: readonly Fence[], empty: boolean): Promise<void> {
  const registers = fences[0]?.text.startsWith('runner add ') === true;
  const world = await makeWorld(empty || registers ? 'empty' : 'living');
  try {
    for (const fence of fences) {
      const stdin = fence.notes.get('stdin') === 'token' ? world.token : '';
      const runBlock = fence.language === 'sh' ? runScript : runSession;
      await runBlock(world, fence, stdin);
    }
  } finally {
    await world.close();
  }
}

for (const page of pages()) {
  const fences = fencesOf(page).flatMap((fence) => runnable(fence) ?? []);
  if (fences.length === 0) continue;
  const missing = PROGRAMS.filter(
    (program) => fences.some((fence) => uses(fence, program)) && !isInstalled(program),
  );
  const define = missing.length > 0 ? test.skip : test;
  define(`the commands of ${page} do what it says`, async () => {
    const groups = WORLD_PER_BLOCK.includes(page) ? fences.map((fence) => [fence]) : [fences];
    for (const group of groups) await inOneWorld(group, EMPTY_WORLDS.includes(page));
  });
}

test('each block that is not run exists once and has a reason', () => {
  for (const { page, block, line, reason } of NOT_RUN) {
    const fences = fencesOf(page).filter(isCommands);
    const found = fences.filter(
      (fence) =>
        (block === undefined || fence.text.includes(block)) &&
        (line === undefined || linesOf(fence).includes(line)),
    );
    if (block === undefined && line === undefined) assert.ok(found.length > 0, page);
    else assert.is(found.length, 1, `${page}: ${block ?? line}`);
    assert.ok(reason.length > 10);
  }
});

test('no block of commands is without its language', () => {
  const unnamed = pages()
    .flatMap(fencesOf)
    .filter(
      ({ language, text }) =>
        language === '' && /^(\$ )?(runner|npm)\b(?!.*\[OPTIONS\])/m.test(text),
    )
    .map(({ page, line }) => `${page}:${line}`);
  assert.equal(unnamed, []);
});

test.run();
