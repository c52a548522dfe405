/** Every command with streams that are closed, full, left by their reader, or read slowly. */
import { join } from 'node:path';
import { type Ended, shell, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CONTRACT } from './contract.ts';
import type { Entry } from './entry.ts';
import { orphansOf } from './orphans.ts';
import { sharedStage as stage } from './stage.ts';
import { argsOf, codeIn, wordsOf } from './walk.ts';

let cases = 0;
test.after(async () => {
  process.stdout.write(`(${cases} cases of a stream in trouble)\n`);
  await (await stage()).close();
});

interface Tried {
  readonly ended: Ended;
  /** The command's own status, which the script wrote to descriptor 3. */
  readonly status: number;
}

/** Runs the first call of a command on a copy of the stage; `$(…)` of the script is its line. */
async function tried(entry: Entry, script: (line: string) => string): Promise<Tried> {
  const set = await stage();
  const [call] = entry.calls;
  const root = set.copy(join(temporaryFolder('streams'), 'root'));
  const line = [...wordsOf(entry), ...argsOf(call, set)].map(shellWord).join(' ');
  const ended = await shell(`exec 3>&2; ${script(`{ ${line}; echo "status $?" >&3; }`)}`, {
    root,
    stdin: call.stdin?.(set) ?? '',
    env: set.env,
  });
  set.heal();
  cases += 1;
  const status = Number(/^status (\d+)$/m.exec(ended.stderr)?.[1]);
  const what = `runner ${entry.command}`;
  assert.not.match(ended.stderr, /this is a bug|\n {4}at /, what);
  assert.equal(await orphansOf(root), [], what);
  return { ended: { ...ended, stderr: ended.stderr.replace(/^status \d+\n/m, '') }, status };
}

/** The status of the first call when nothing is in its way. */
const usual = ({ calls }: Entry) => calls[0].status ?? 0;

/** Redirections in which no one reads. */
const UNREAD = ['>&-', '| :', '| head -n 1 >/dev/null', '2>&-', '2>/dev/full', '>&- 2>&-'];

/** `read` takes a byte at a time. */
const SLOW_READER = '| while IFS= read -r line; do printf "%s\\n" "$line"; done';

interface Trouble {
  readonly words: string;
  readonly check: (entry: Entry) => Promise<void>;
}

/** Everything that can be wrong with a stream, and what a command does then. */
const TROUBLES: readonly Trouble[] = [
  ...UNREAD.map((output) => ({
    words: `does its work with ${output}`,
    async check(entry: Entry) {
      const { status, ended } = await tried(entry, (line) => `${line} ${output}`);
      assert.is(status, usual(entry), ended.stderr);
    },
  })),
  {
    words: 'takes a closed standard input for an empty one',
    async check(entry) {
      const { status } = await tried(entry, (line) => `${line} <&-`);
      assert.is(status, entry.withoutInput ?? usual(entry));
    },
  },
  {
    words: 'reports that standard output is full',
    async check(entry) {
      const { status, ended } = await tried(entry, (line) => `${line} >/dev/full`);
      assert.equal([status, codeIn(ended)], [1, 'output_failed'], ended.stderr);
    },
  },
  {
    words: 'waits for a slow reader',
    async check(entry) {
      const { status, ended } = await tried(entry, (line) => `${line} ${SLOW_READER}`);
      assert.is(status, usual(entry));
      assert.is.not(ended.stdout, '');
    },
  },
];

/** Tests each command with every trouble, or with the next one in turn. */
export function testStreams(every: boolean): void {
  // exec hands its streams to the command that it runs, those of mcp are its protocol; a refusal is no answer.
  const answering = CONTRACT.filter(
    (entry) => !['exec', 'mcp'].includes(entry.command) && usual(entry) === 0,
  );
  for (const [turn, entry] of answering.entries()) {
    const next = TROUBLES[turn % TROUBLES.length] as Trouble;
    for (const { words, check } of every ? TROUBLES : [next])
      test(`runner ${entry.command} ${words}`, () => check(entry));
  }
}
