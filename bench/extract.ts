/**
 * `npm run bench -- extract`: what the extractor gets right, per kind of trouble, family of tools and
 * set, on the logs in `libs/extract/test/error-corpus`, each also with what a deploy puts around it.
 * `--faults` names the logs that are wrong, `--write` updates the tables of `docs/why-it-failed.md`.
 * With the names of logs it prints what is extracted of these only. The status is 1 when a goal is
 * missed or a named log is wrong.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { extractError } from '@runner/extract/extract';
import {
  type Case,
  documentedTables,
  inCheckout,
  judge,
  LIMIT,
  median,
  type Result,
  readSet,
  scoreRow,
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

/** Replaces what stands between the marks of the page. */
function writeTables(tables: string): void {
  const path = inCheckout('docs', 'why-it-failed.md');
  const page = readFileSync(path, 'utf8');
  const marks = /(<!-- tables -->\n)[\s\S]*(<!-- end of tables -->)/;
  writeFileSync(
    path,
    page.replace(marks, (_all, start, end) => `${start}\n${tables}\n${end}`),
  );
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
  const cases = readSet('error-corpus');
  const fresh = [...readSet('fresh'), ...readSet('reported')];
  const names = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
  if (names.length > 0) {
    process.exitCode = showEach([...cases, ...fresh].filter(({ id }) => names.includes(id)))
      ? 0
      : 1;
    return;
  }
  const plain = measure(cases);
  const { stdout } = process;
  stdout.write(`\n${documentedTables(plain)}`);
  stdout.write(`\n${scoreTable('kind of trouble', plain, ({ kind }) => kind)}`);
  stdout.write(`\n${scoreTable('family', plain, ({ family }) => family)}`);
  stdout.write(scoreRow('all, inside a deploy', measure(cases, inDeploy)));
  stdout.write(scoreRow('all, signed and timed', measure(cases, signed)));
  const unseen = measure(fresh);
  stdout.write(scoreRow('fresh and reported', unseen));
  if (process.argv.includes('--write')) writeTables(documentedTables(plain));
  if (process.argv.includes('--faults')) {
    for (const { truth, ok, fault } of [...plain, ...unseen])
      if (!ok) stdout.write(`${truth.id}: ${fault}\n`);
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
