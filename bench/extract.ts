/**
 * `npm run bench -- extract`: what the extractor gets right, per set of the logs in `corpus`, and of
 * `error-corpus` per kind of trouble, family of tools and with what a deploy puts around it. `--faults` names the
 * logs that are wrong, `--write` updates `corpus/scores.md`. With the names of logs it prints what is
 * extracted of these only. The status is 1 when a goal is missed or a named log is wrong.
 */
import { writeFileSync } from 'node:fs';
import { extractError } from '@runner/extract/extract';
import {
  type Case,
  inCheckout,
  judge,
  LIMIT,
  median,
  type Result,
  readSet,
  SETS,
  type SetName,
  scoreRow,
  scoresPage,
  scoreTable,
} from '../libs/extract/test/error-score.ts';

/** Share of logs that must be right, and of those whose cause stands on the first line. */
const GOAL = { right: 0.92, first: 0.85, median: 400 };

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

/** Prints what is extracted of each case; whether all of it is right. */
function showEach(cases: readonly Case[]): boolean {
  const verdicts = cases.map((truth) => {
    const { text, rule } = extractError(truth.log);
    const { ok, fault } = judge(truth, text);
    const verdict = `${truth.id}: ${ok ? 'right' : fault} (rule ${rule ?? 'none'})`;
    process.stdout.write(`${[verdict, ...text.split('\n')].join('\n  ')}\n`);
    return ok;
  });
  return verdicts.length > 0 && verdicts.every(Boolean);
}

function main(): void {
  const names = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
  if (names.length > 0) {
    const named = SETS.flatMap(readSet).filter(({ id }) => names.includes(id));
    process.exitCode = showEach(named) ? 0 : 1;
    return;
  }
  const bySet = new Map<SetName, Result[]>(SETS.map((name) => [name, measure(readSet(name))]));
  const plain = bySet.get('error-corpus') ?? [];
  const cases = plain.map(({ truth }) => truth);
  const { stdout } = process;
  stdout.write(`\n${scoreTable('kind of trouble', plain, ({ kind }) => kind)}`);
  stdout.write(`\n${scoreTable('family', plain, ({ family }) => family)}`);
  stdout.write(scoreRow('all, inside a deploy', measure(cases, inDeploy)));
  stdout.write(scoreRow('all, signed and timed', measure(cases, signed)));
  stdout.write(`\n${scoresPage(bySet)}`);
  if (process.argv.includes('--write'))
    writeFileSync(inCheckout('corpus', 'scores.md'), scoresPage(bySet));
  if (process.argv.includes('--faults')) {
    for (const { truth, ok, fault } of [...bySet.values()].flat())
      if (!ok) stdout.write(`${truth.id}: ${fault}\n`);
  }
  process.exitCode = reached(plain) ? 0 : 1;
}

function reached(results: readonly Result[]): boolean {
  const share = (test: (result: Result) => boolean) => results.filter(test).length / results.length;
  return (
    share(({ ok }) => ok) >= GOAL.right &&
    share(({ first }) => first) >= GOAL.first &&
    median(results.map(({ length }) => length)) <= GOAL.median &&
    results.every(({ length }) => length > 0 && length <= LIMIT)
  );
}

main();
