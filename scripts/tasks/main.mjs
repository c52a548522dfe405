import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runBenches } from './bench.mjs';
import { build, dist, turbo } from './build.mjs';
import { checkout, run, say } from './checkout.mjs';
import { setUp } from './setup.mjs';

function script(name, args) {
  return run(process.execPath, [join(checkout, 'scripts', name), ...args]).then(
    (end) => end.status,
  );
}

/** Builds first, so that a build that fails counts even where no test needs it. */
async function test(args) {
  const built = await build();
  return Math.max(built, await script('test/main.mjs', args));
}

/** `npm run <name>` for a program in TypeScript. */
function program(source) {
  return async (args) => (await build()) || script('bundle/run.mjs', [source, ...args]);
}

async function bench(args) {
  const status = await build();
  return status === 0 ? runBenches(args) : status;
}

/** All checks and then the tests; `--no-tests` leaves the tests out. */
async function check(args) {
  say('check: types, lint, imports, unused code, lockfile, shell scripts, words, names');
  const built = await build();
  const checks = await turbo(['types', 'lint', 'imports', 'unused'], { loud: true });
  const lockfile = await script('lint/lockfile.mjs', []);
  const shell = await script('lint/shell.mjs', []);
  const words = await script('lint/words.mjs', []);
  const names = await script('lint/names.mjs', []);
  const worst = Math.max(built, checks, lockfile, shell, words, names);
  return args.includes('--no-tests') ? worst : Math.max(worst, await script('test/main.mjs', args));
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
  const own = process.arch === 'x64' ? 'amd64' : process.arch;
  const options = ['--arch', `all,${own}`, '--quick'];
  const status = (await build()) || (await script('package/main.mjs', options));
  if (status !== 0) return status;
  return script('bundle/run.mjs', ['tests/system/main.ts', ...args]);
}

/** Formats, and applies the fixes of biome that keep the behaviour. */
async function format(args) {
  const paths = args.length > 0 ? args : ['.'];
  return (await run('biome', ['check', '--write', ...paths])).status;
}

const tasks = new Map([
  ['build', build],
  ['test', test],
  ['test:long', (args) => test(['--long', ...args])],
  ['t', (args) => script('test/main.mjs', args)],
  ['demo', program('scripts/demo/main.ts')],
  ['record', program('scripts/record/main.ts')],
  ['weights', program('scripts/weights/main.ts')],
  ['bench', bench],
  ['check', check],
  ['docs', docs],
  ['format', format],
  ['package', async (args) => (await build()) || script('package/main.mjs', args)],
  ['test:system', systemTest],
  ['matrix', async (args) => (await build()) || script('test/matrix.mjs', args)],
]);

/** Runs one task of package.json from a bare checkout; resolves its exit status. */
export async function runTask(name, args) {
  // Tests run the executables as other users, too, and look at modes of files.
  process.umask(0o022);
  const task = tasks.get(name);
  if (task === undefined) {
    say(`runner: no task '${name}'; there are ${[...tasks.keys()].join(', ')}`);
    return 2;
  }
  return (await setUp()) ? task(args) : 1;
}
