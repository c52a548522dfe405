/** What the short and the long tests of bad input share. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';

/** The status, and one line on stderr that is not a stack trace; its text. */
export function sentenceOf({ status, stderr }: Ended, wanted: number, what: string): string {
  assert.is(status, wanted, `${what}: ${stderr}`);
  assert.match(stderr, /^[^\n]+\n$/, `${what}: ${stderr}`);
  assert.not.match(stderr, /\bat .*:\d+:\d+|this is a bug/, what);
  return stderr.trimEnd();
}

/** Wrong usage of every command: what is typed behind it, and the sentence. */
export const WRONG: readonly (readonly [args: readonly string[], sentence: string])[] = [
  [['--nonsense'], "unexpected argument '--nonsense' found"],
  [['--josn'], "unexpected argument '--josn' found; a similar argument exists: '--json'"],
  [['-Z'], "unexpected argument '-Z' found"],
  [['--root'], "a value is required for '--root <DIR>' but none was supplied"],
  [['--root='], "a value is required for '--root <DIR>' but none was supplied"],
  [['--root', '--json'], "a value is required for '--root <DIR>' but none was supplied"],
  [['--root=a', '--root=b'], "the argument '--root <DIR>' cannot be used multiple times"],
  [['--json=yes'], "unexpected value for '--json' found; no more were expected"],
  [['-o'], "a value is required for '--output <FORMAT>' but none was supplied"],
  [
    ['-o', 'xml'],
    "invalid value 'xml' for '--output <FORMAT>' [possible values: human, json, yaml]",
  ],
  [['-oyaml', '--json'], "the argument '--json' cannot be used with '--output <FORMAT>'"],
  [['--json', '-oyaml'], "the argument '--json' cannot be used with '--output <FORMAT>'"],
  [
    ['--color', 'sometimes'],
    "invalid value 'sometimes' for '--color <WHEN>' [possible values: auto, always, never]",
  ],
  [['--no\u001b[31m\u202e'], "unexpected argument '--no\\x1b[31m\\u202e' found"],
];

/** Refuses these, and does nothing. */
export async function refuses(
  tool: string,
  words: readonly string[],
  wrong: typeof WRONG,
): Promise<void> {
  const root = temporaryFolder('wrong');
  const ended = await Promise.all(wrong.map(([args]) => run(tool, [...words, ...args], { root })));
  for (const [index, [args, sentence]] of wrong.entries()) {
    const what = [tool, ...words, ...args].join(' ');
    const one = ended[index] as Ended;
    assert.is(sentenceOf(one, 2, what), `error: ${sentence}`, what);
    if (args.includes('--json'))
      assert.equal(JSON.parse(one.stdout), { error: 'usage', message: sentence }, what);
    else assert.is(one.stdout, '', what);
  }
  assert.equal(tree(root), {});
}

/** A root with a new app, one with failures, and a log. */
export function madeRoot(): string {
  const root = temporaryFolder('bad');
  mkdirSync(join(root, 'state'));
  mkdirSync(join(root, 'logs'));
  const failures = { commit: 'c'.repeat(40), count: 1, last_at: 't', stage: 'build' };
  for (const [app, more] of [
    ['shop', { failures }],
    ['blog', {}],
  ] as const) {
    const state = { version: 1, app, repo: `acme/${app}`, branch: 'main', ...more };
    writeFileSync(join(root, 'state', `${app}.json`), JSON.stringify(state));
  }
  const failure = '{"event":"DeployFailure","app":"shop","version":"v1","error":"x"}\n';
  writeFileSync(join(root, 'logs/deploy-events.jsonl'), failure);
  return root;
}

/** Commands that answer on `madeRoot`, none of which reads config.yml. */
export const ANSWERING = [
  ['runner-status', 'blog'],
  ['runner-tokens', 'list'],
  ['runner-debug', 'last-error', 'shop'],
  ['runner-audit', 'tail'],
  ['runner-audit', 'emit', 'DeployStarted', '--project', 'shop', '--version', 'v1'],
] as const;

/** Runs each on a root of its own with these options. */
export async function each(
  lines: readonly (readonly string[])[],
  options: RunOptions,
): Promise<[what: string, ended: Ended][]> {
  return Promise.all(
    lines.map(async ([tool = '', ...args]): Promise<[string, Ended]> => {
      const ended = await run(tool, args, { root: madeRoot(), ...options });
      return [[tool, ...args].join(' '), ended];
    }),
  );
}
