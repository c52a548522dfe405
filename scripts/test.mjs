// Runs the bundled tests, some files at a time, each in a process of its own, and prints
// `N passed, N failed, N skipped` last.
//
// Files `*.long.test.ts` are run with --long alone, and then nothing else; what they tell of how much
// they have done, such as `(100 kills …)`, stands below their lines, and its sums at the end.
//
//   node scripts/test.mjs [--long] [--limit SECONDS] [--jobs N] [--node PROGRAM] [part of a path …]
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkout } from './checkout.mjs';
import { runTestFile } from './test-file.mjs';
import { rememberSeconds, slowFirst } from './test-order.mjs';
import { sumOf, toldIn } from './told-counts.mjs';

/** Seconds that a file may take: on a machine that is busy with other things it is many times as slow. */
const LIMITS = { usual: 900, long: 7_200 };

/** Files at a time: a test file keeps less than half a processor busy and waits the rest of its time. */
const JOBS = Math.min(6, 2 * availableParallelism() + 1);

const ownDist = join(checkout, 'dist');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dist: { type: 'string', default: ownDist },
    jobs: { type: 'string', default: String(JOBS) },
    limit: { type: 'string' },
    long: { type: 'boolean', default: false },
    node: { type: 'string', default: process.execPath },
  },
});

/** [bundle, source] of the test files whose path holds one of the given parts. */
function chosenTests() {
  const programs = JSON.parse(readFileSync(join(values.dist, 'dev/programs.json'), 'utf8'));
  return Object.entries(programs)
    .filter(([, source]) => source.endsWith('.test.ts'))
    .filter(([, source]) => source.endsWith('.long.test.ts') === values.long)
    .filter(
      ([, source]) => positionals.length === 0 || positionals.some((p) => source.includes(p)),
    );
}

async function runBundle(file) {
  if (!existsSync(file)) {
    const reason = 'could not be bundled';
    return { passed: 0, failed: 1, skipped: 0, reason, output: '', seconds: 0 };
  }
  const { limit = values.long ? LIMITS.long : LIMITS.usual, node } = values;
  return runTestFile(file, { cwd: checkout, limit: Number(limit), node });
}

function report(source, { passed, skipped, reason, output, seconds }) {
  const time = `${seconds.toFixed(1)} s`;
  if (reason === null) {
    const skips = skipped > 0 ? `, ${skipped} skipped` : '';
    process.stdout.write(`ok    ${source}  ${passed} passed${skips}, ${time}\n`);
    if (values.long) for (const told of toldIn(output)) process.stdout.write(`      ${told}\n`);
    return;
  }
  process.stdout.write(`\nFAIL  ${source}: ${reason}, ${time}\n${output.trimEnd()}\n\n`);
}

const waiting = slowFirst(chosenTests());
const seconds = {};
const sum = { passed: 0, failed: 0, skipped: 0 };
const failedFiles = [];
const told = [];
if (waiting.length === 0) {
  process.stdout.write('no test file matches\n');
  failedFiles.push('no test file');
}

async function work() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [bundle, source] = next;
    const result = await runBundle(join(values.dist, 'dev', bundle));
    for (const kind of Object.keys(sum)) sum[kind] += result[kind];
    seconds[source] = Number(result.seconds.toFixed(2));
    if (result.reason !== null) failedFiles.push(`${source}: ${result.reason}`);
    told.push(...toldIn(result.output));
    report(source, result);
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
await Promise.all(Array.from({ length: Number(values.jobs) }, work));

if (values.dist === ownDist) rememberSeconds(seconds);
if (failedFiles.length > 0) process.exitCode = 1;
for (const file of failedFiles) process.stdout.write(`failed: ${file}\n`);
if (values.long && told.length > 0) process.stdout.write(`counted: ${sumOf(told)}\n`);
process.stdout.write(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`);
