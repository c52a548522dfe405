// Bundles the test files that are asked for, builds the executables if one of these files runs them,
// runs some files at a time, each in a process of its own, and prints
// `N passed, N failed, N skipped` last.
//
// Files `*.long.test.ts` are run with --long alone, and then nothing else; what they tell of how much
// they have done, such as `(100 kills …)`, stands below their lines, and its sums at the end.
//
// With --part a long test runs only what fits each commit (libs/testing/src/extent.ts).
//
//   node scripts/test/main.mjs [--long [--part]] [--limit SECONDS] [--jobs N] [--node PROGRAM] [part of a path …]
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { filesBelow } from '../bundle/place.mjs';
import { bundlePrograms } from '../bundle/programs.mjs';
import { build, dist } from '../tasks/build.mjs';
import { checkout } from '../tasks/checkout.mjs';
import { runTestFile } from './file.mjs';
import { rememberSeconds, slowFirst } from './order.mjs';
import { reachable } from './reachable.mjs';
import { reportedIn, sumOf } from './reported.mjs';

/** Seconds that a file may take: on a machine that is busy with other things it is many times as slow. */
const LIMITS = { usual: 900, long: 7_200 };

/** Files at a time: a test file keeps less than half a processor busy and waits the rest of its time. */
const JOBS = Math.min(6, 2 * availableParallelism() + 1);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: String(JOBS) },
    limit: { type: 'string' },
    long: { type: 'boolean', default: false },
    node: { type: 'string', default: process.execPath },
    part: { type: 'boolean', default: false },
    root: { type: 'string', default: checkout },
  },
});

if (values.part) process.env.TEST_PART = '1';

/** Test files whose path holds one of the given parts, relative to the checkout. */
function chosenTests() {
  return ['libs', 'scripts', 'tests', 'tools']
    .flatMap((top) => filesBelow(join(values.root, top)).map((file) => `${top}/${file}`))
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules/'))
    .filter((file) => file.endsWith('.long.test.ts') === values.long)
    .filter((file) => positionals.length === 0 || positionals.some((p) => file.includes(p)));
}

async function runBundle({ file, problem }) {
  if (problem !== undefined) {
    const reason = 'could not be bundled';
    return { passed: 0, failed: 1, skipped: 0, reason, output: problem, seconds: 0 };
  }
  const { limit = values.long ? LIMITS.long : LIMITS.usual, node } = values;
  return runTestFile(file, { cwd: checkout, limit: Number(limit), node, dist: executables });
}

function report(source, { passed, skipped, reason, output, seconds }) {
  const time = `${seconds.toFixed(1)} s`;
  if (reason === null) {
    const skips = skipped > 0 ? `, ${skipped} skipped` : '';
    process.stdout.write(`ok    ${source}  ${passed} passed${skips}, ${time}\n`);
    if (values.long)
      for (const reported of reportedIn(output)) process.stdout.write(`      ${reported}\n`);
    return;
  }
  process.stdout.write(`\nFAIL  ${source}: ${reason}, ${time}\n${output.trimEnd()}\n\n`);
}

const waiting = slowFirst(await bundlePrograms(chosenTests(), resolve(values.root)));
const seconds = {};
const sum = { passed: 0, failed: 0, skipped: 0 };
const failedFiles = [];
const reported = [];
if (waiting.length === 0) {
  process.stdout.write('no test file matches\n');
  failedFiles.push('no test file');
}

let executables;
if (waiting.some((test) => test.needsTools)) {
  await build();
  executables = reachable(dist);
}

async function work() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { source } = next;
    const result = await runBundle(next);
    for (const kind of Object.keys(sum)) sum[kind] += result[kind];
    seconds[source] = Number(result.seconds.toFixed(2));
    if (result.reason !== null) failedFiles.push(`${source}: ${result.reason}`);
    reported.push(...reportedIn(result.output));
    report(source, result);
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
await Promise.all(Array.from({ length: Number(values.jobs) }, work));

if (values.root === checkout) rememberSeconds(seconds);
if (failedFiles.length > 0) process.exitCode = 1;
for (const file of failedFiles) process.stdout.write(`failed: ${file}\n`);
if (values.long && reported.length > 0) process.stdout.write(`counted: ${sumOf(reported)}\n`);
process.stdout.write(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`);
