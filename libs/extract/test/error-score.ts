/** Measures an extractor on the logs in `corpus`, each with what the extract must contain. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cleanText, codePoints } from '@runner/common/text/plain';

/** One log of the corpus. `must_include` holds texts, or lists of which any one suffices. */
export interface Case {
  readonly id: string;
  readonly set: SetName;
  readonly tool: string;
  readonly family: string;
  readonly kind: string;
  readonly traits: readonly string[];
  readonly must_include: readonly (string | readonly string[])[];
  readonly must_not_lead_with?: readonly string[];
  readonly must_not_include?: readonly string[];
  readonly log: Buffer;
}

export interface Verdict {
  /** Everything needed is there, nothing forbidden, the lead is not misleading, 800 at most. */
  readonly ok: boolean;
  /** The first line has at least one of the needed texts. */
  readonly first: boolean;
  /** Code points. */
  readonly length: number;
  /** What is wrong, in words; '' when `ok`. */
  readonly fault: string;
}

/** What one message can hold. */
export const LIMIT = 800;
/** Characters of the first line that must not mislead. */
const LEAD = 60;

/**
 * The sets of logs; `corpus/README.md` says how they were made. In `error-corpus`, the logs of the `x-` set were
 * written by hand after their tools; those of the `y-` set were collected later and measured before any rule was
 * written for them; those of the `z-` set are runs of tools that no rule was written for, on which the extractor
 * failed at first.
 */
export const SETS = [
  'error-corpus',
  'fresh',
  'reported',
  'unseen',
  'collected',
  'sealed',
  'later',
  'natural',
  'blind',
  'ordinary',
  'once',
] as const;
export type SetName = (typeof SETS)[number];

/** What ends the truth at the top of a file of the corpus. */
const FENCE = '\n---\n';

/** All logs of a set, sorted by id: those of `once` are held out, from all others the weights are learned. */
export function readSet(set: SetName): Case[] {
  const folder = inCheckout('corpus', set === 'once' ? 'heldout' : 'train');
  const cases = known.get(folder) ?? readFolder(folder);
  known.set(folder, cases);
  return cases.filter((truth) => truth.set === set);
}

const known = new Map<string, readonly Case[]>();

function readFolder(folder: string): Case[] {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const file = readFileSync(join(folder, name));
      const end = file.indexOf(FENCE);
      const truth = JSON.parse(file.subarray('---\n'.length, end).toString('utf8'));
      return { ...truth, id: basename(name, '.txt'), log: file.subarray(end + FENCE.length) };
    });
}

/** A path of the checkout, found upwards from the built file that runs. */
export function inCheckout(...parts: string[]): string {
  for (let folder = __dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, ...parts);
    if (existsSync(path)) return path;
  }
  throw new Error(`${join(...parts)} is missing`);
}

/** Compares an extraction with the truth of its case; white space does not count. */
export function judge(truth: Case, text: string): Verdict {
  const flat = plain(text);
  const first = plain(text.split('\n').find((line) => plain(line) !== '') ?? '');
  const within = (where: string) => (needed: string | readonly string[]) =>
    [needed].flat().some((one) => where.includes(plain(one)));
  const missing = truth.must_include.filter((needed) => !within(flat)(needed));
  const forbidden = (truth.must_not_include ?? []).filter(within(flat));
  const leads = (truth.must_not_lead_with ?? []).filter(within(first.slice(0, LEAD)));
  const length = codePoints(text);
  const faults = [
    ...missing.map((needed) => `lacks ${JSON.stringify(needed)}`),
    ...forbidden.map((one) => `shows ${JSON.stringify(one)}`),
    ...leads.map((one) => `leads with ${JSON.stringify(one)}`),
    ...(length > LIMIT ? [`has ${length} characters`] : []),
  ];
  return {
    ok: faults.length === 0,
    first: truth.must_include.some(within(first)),
    length,
    fault: faults.join(', '),
  };
}

/** Without colours, each run of white space as one blank. */
export function plain(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

/** The middle value; 0 of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** A case and what came of it. */
export interface Result extends Verdict {
  readonly truth: Case;
}

/** Rows of a Markdown table, by what `key` says of each case, and one for all. */
export function scoreTable(
  title: string,
  results: readonly Result[],
  key: (truth: Case) => string,
): string {
  const groups = [...new Set(results.map(({ truth }) => key(truth)))].sort();
  const rows = groups.map((group) =>
    scoreRow(
      group,
      results.filter(({ truth }) => key(truth) === group),
    ),
  );
  const head = `| ${title} | logs | right | cause first | median length |\n|---|---|---|---|---|\n`;
  return `${head}${rows.join('')}${scoreRow('all', results)}`;
}

/** How many are right, how many have the cause on the first line, and how long half of them are. */
export function scoreRow(name: string, results: readonly Result[]): string {
  const share = (test: (result: Result) => boolean) =>
    `${((100 * results.filter(test).length) / Math.max(1, results.length)).toFixed(1)} %`;
  const cells = [
    name,
    results.length,
    share(({ ok }) => ok),
    share(({ first }) => first),
    median(results.map(({ length }) => length)),
  ];
  return `| ${cells.join(' | ')} |\n`;
}

/** The page `corpus/scores.md`, written by `npm run bench -- extract --write`. */
export function scoresPage(bySet: ReadonlyMap<SetName, readonly Result[]>): string {
  const rows = [...bySet].map(([name, results]) => scoreRow(name, results));
  return `# Scores

\`npm run bench -- extract --write\` writes this page: how the logs of each set are answered now. Only \`once\` is held
out; \`npm run weights\` learns from all other sets, and rules were written with them in view.

| set | logs | right | cause first | median length |
|---|---|---|---|---|
${rows.join('')}`;
}
