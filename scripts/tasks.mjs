import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runBenches } from './bench.mjs';
import { placeBundles } from './bundle/place.mjs';
import { checkout, run, say } from './checkout.mjs';
import { setUp } from './setup.mjs';
import { withLock } from './task-lock.mjs';

const dist = join(checkout, 'dist');

/** Runs root tasks of turbo.json; quiet unless one fails, or `loud`. Resolves the exit status. */
async function turbo(tasks, { loud = false } = {}) {
  const args = [
    join(checkout, 'node_modules', 'turbo', 'bin', 'turbo'),
    'run',
    ...tasks,
    '--continue',
    '--output-logs=errors-only',
    '--no-update-notifier',
    '--log-prefix=none',
  ];
  const { status, output } = await run(process.execPath, args, { capture: !loud, toStderr: loud });
  if (status !== 0 && !loud) process.stderr.write(withoutFrame(output));
  return status;
}

/** What the tasks said, without what turbo and pnpm say about having run them. */
function withoutFrame(output) {
  const frame = [
    /^\s*(•|>|Tasks:|Cached:|Time:|Failed:|WARNING {2}|ERROR {2})/,
    /^cache (miss|hit|bypass)|^\/\/#\w+:|^turbo \d|ELIFECYCLE/,
  ];
  const lines = output.split('\n').filter((line) => !frame.some((part) => part.test(line)));
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => `${line}\n`)
    .join('');
}

async function build() {
  say('build: bundling the executables');
  return withLock('build', async () => {
    const status = await turbo(['bundle']);
    placeBundles(dist);
    await run(process.execPath, [join(dist, 'lib', 'precompile.cjs')]);
    return status;
  });
}

function script(name, args) {
  return run(process.execPath, [join(checkout, 'scripts', name), ...args]).then(
    (end) => end.status,
  );
}

async function test(args) {
  const built = await build();
  return Math.max(built, await script('test.mjs', args));
}

/** The tests that take longer than a minute: many kills, all files with all damages. */
async function longTest(args) {
  const built = await build();
  return Math.max(built, await script('test.mjs', ['--long', ...args]));
}

/** Part of the tests while others work on the rest: what they broke does not count. */
async function someTests(args) {
  await build();
  return script('test.mjs', args);
}

/** `npm run <name>` for the program scripts/<name>.ts. */
function program(name) {
  return async (args) => {
    if (!existsSync(join(checkout, 'scripts', `${name}.ts`))) {
      say(`${name}: scripts/${name}.ts is missing`);
      return 1;
    }
    const status = await build();
    if (status !== 0) return status;
    const bundle = join(dist, 'dev', `scripts.${name}.cjs`);
    return (await run(process.execPath, [bundle, ...args])).status;
  };
}

async function bench(args) {
  const status = await build();
  return status === 0 ? runBenches(dist, args) : status;
}

/** All checks and then the tests; `--no-tests` leaves the tests out. */
async function check(args) {
  say('check: types, lint, imports, unused code, lockfile, shell scripts');
  const built = await build();
  const checks = await turbo(['types', 'lint', 'imports', 'unused'], { loud: true });
  const lockfile = await script('lint/lockfile.mjs', []);
  const shell = await script('lint/shell.mjs', []);
  const worst = Math.max(built, checks, lockfile, shell);
  return args.includes('--no-tests') ? worst : Math.max(worst, await script('test.mjs', args));
}

/** Brings the pages that the build makes from the definitions of the commands to docs/. */
async function docs() {
  const status = await build();
  const made = join(dist, 'share', 'doc', 'runner');
  for (const page of readdirSync(made))
    copyFileSync(join(made, page), join(checkout, 'docs', page));
  return status;
}

/** The life of a server, in a booted container; the programs of the checkout are not on its PATH. */
async function systemTest(args) {
  const status = (await build()) || (await script('package.mjs', []));
  if (status !== 0) return status;
  return (await run(process.execPath, [join(dist, 'dev', 'scripts.system.cjs'), ...args])).status;
}

/** Formats and mends what biome can mend without changing what the code does. */
async function format(args) {
  const paths = args.length > 0 ? args : ['.'];
  return (await run('biome', ['check', '--write', ...paths])).status;
}

const tasks = new Map([
  ['build', build],
  ['test', test],
  ['test:long', longTest],
  ['t', someTests],
  ['demo', program('demo')],
  ['record', program('record')],
  ['bench', bench],
  ['check', check],
  ['docs', docs],
  ['format', format],
  ['package', async (args) => (await build()) || script('package.mjs', args)],
  ['test:system', systemTest],
  ['matrix', async (args) => (await build()) || script('matrix.mjs', args)],
]);

/** Runs one task of package.json from a bare checkout; resolves its exit status. */
export async function runTask(name, args) {
  const task = tasks.get(name);
  if (task === undefined) {
    say(`runner: no task '${name}'; there are ${[...tasks.keys()].join(', ')}`);
    return 2;
  }
  return (await setUp()) ? task(args) : 1;
}
