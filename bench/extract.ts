/**
 * `npm run bench -- extract`: what the extractor gets right, per kind of trouble and per family of
 * tools, on the logs in `libs/common/test/error-corpus`, each also with what a deploy puts around
 * it. `--faults` names what is wrong. The status is 1 when a goal is missed.
 */
import { extractError } from '@runner/common/error-extract';
import {
  type Case,
  judge,
  LIMIT,
  median,
  readCorpus,
  type Verdict,
} from '../libs/common/test/error-score.ts';

/** Share of logs that must be right, and of those whose cause stands on the first line. */
const GOAL = { right: 0.92, first: 0.85, median: 400 };

interface Result extends Verdict {
  readonly truth: Case;
}

/** What stands around an error in a deploy's log: a chatty step before, clean-up after it. */
function inDeploy(log: Buffer): Buffer {
  const numbered = (text: string, times: number) =>
    Array.from({ length: times }, (_, number) => `${text.replace('#', String(number))}\n`).join('');
  const before = `==> installing\n${numbered('copied assets/error-#.svg', 40)}added 311 packages\n0 errors, 3 warnings\n`;
  const after = `\n==> rolling back to release 12\n${numbered('unlinking shared/error_pages/#.html', 30)}`;
  return Buffer.concat([Buffer.from(before), log, Buffer.from(after)]);
}

/** Every line signed by one speaker and timed, as a runner of several programs prints them. */
function signed(log: Buffer): Buffer {
  const lines = log.toString('latin1').split('\n');
  return Buffer.from(
    lines.map((line) => `2024-11-20T10:00:00.123Z app-1  | ${line}\n`).join(''),
    'latin1',
  );
}

function measure(cases: readonly Case[], change: (log: Buffer) => Buffer = (log) => log): Result[] {
  return cases.map((truth) => ({ truth, ...judge(truth, extractError(change(truth.log)).text) }));
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1).padStart(5)} %`;
}

function row(name: string, results: readonly Result[]): string {
  const right = results.filter(({ ok }) => ok).length;
  const first = results.filter((result) => result.first).length;
  const length = median(results.map((result) => result.length));
  const share = `${String(right).padStart(4)} / ${String(results.length).padEnd(4)}`;
  return `${name.padEnd(26)} ${share} ${percent(right, results.length)}   ${percent(first, results.length)}   ${String(length).padStart(6)}\n`;
}

function table(title: string, results: readonly Result[], key: (truth: Case) => string): string {
  const groups = [...new Set(results.map(({ truth }) => key(truth)))].sort();
  const rows = groups.map((group) =>
    row(
      group,
      results.filter(({ truth }) => key(truth) === group),
    ),
  );
  return `\n${title.padEnd(26)}       right            cause first   median\n${rows.join('')}`;
}

function main(): void {
  const cases = readCorpus();
  const plain = measure(cases);
  const { stdout } = process;
  stdout.write(table('kind', plain, ({ kind }) => kind));
  stdout.write(table('family', plain, ({ family }) => family));
  stdout.write(
    table('set', plain, ({ id }) => (id.startsWith('x-') ? 'written after tools' : 'recorded')),
  );
  stdout.write(`\n${''.padEnd(26)}       right            cause first   median\n`);
  stdout.write(row('all', plain));
  stdout.write(row('all, inside a deploy', measure(cases, inDeploy)));
  stdout.write(row('all, signed and timed', measure(cases, signed)));
  if (process.argv.includes('--faults')) {
    for (const { truth, ok, fault } of plain) if (!ok) stdout.write(`${truth.id}: ${fault}\n`);
  }
  const share = (test: (result: Result) => boolean) => plain.filter(test).length / plain.length;
  const reached =
    share(({ ok }) => ok) >= GOAL.right &&
    share(({ first }) => first) >= GOAL.first &&
    median(plain.map(({ length }) => length)) <= GOAL.median &&
    plain.every(({ length }) => length > 0 && length <= LIMIT);
  process.exitCode = reached ? 0 : 1;
}

main();
