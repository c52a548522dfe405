/** A command that refuses: what it says for people and for programs, and that it changed nothing. */
import { isDeepStrictEqual } from 'node:util';
import { type RunOptions, run } from './run.ts';
import { contentOf } from './temp.ts';

/** What a command was heard to say, without and with `--json`. */
export interface RefusalOutput {
  readonly status: readonly (number | null)[];
  readonly stdout: string;
  readonly stderr: readonly string[];
  /** The object on stdout with `--json`. */
  readonly json: unknown;
  /** Every file of the root is as it was. */
  readonly isUntouched: boolean;
}

/** Runs a tool on a root without and with `--json`. */
export async function refusalBy(
  tool: string,
  args: readonly string[],
  options: RunOptions & { readonly root: string },
): Promise<RefusalOutput> {
  const before = contentOf(options.root);
  const plain = await run(tool, args, options);
  const json = await run(tool, [...args, '--json'], options);
  return {
    status: [plain.status, json.status],
    stdout: plain.stdout,
    stderr: [plain.stderr, json.stderr],
    json: JSON.parse(json.stdout),
    isUntouched: isDeepStrictEqual(contentOf(options.root), before),
  };
}

/**
 * What a refusal has to be: `sentence` as it stands on stderr, which ends with its code in brackets
 * or, for wrong usage, begins with `error:`.
 */
export function refusal(status: number, sentence: string): RefusalOutput {
  const error = / \((\w+)\)$/.exec(sentence)?.[1] ?? 'usage';
  const message = sentence.replace(/^error: |^runner [a-z ]+: /, '').replace(/ \(\w+\)$/, '');
  return {
    status: [status, status],
    stdout: '',
    stderr: [`${sentence}\n`, `${sentence}\n`],
    json: { error, message },
    isUntouched: true,
  };
}

/** Two options that exclude each other, and how they are refused. */
export type Exclusive = readonly [one: string, other: string, sentence: string];

/** The ways in which a token comes in: only one of them at a time. `app` is one that has a token. */
export function exclusiveTokenOptions(app: string): readonly Exclusive[] {
  const token = ['--token=x', '--token <TOKEN>'] as const;
  const file = ['--token-file=f', '--token-file <FILE>'] as const;
  const from = [`--token-from=${app}`, '--token-from <APP>'] as const;
  const none = ['--public', '--public'] as const;
  const asked = ['--ckey', '--ckey'] as const;
  const pairs = [
    [token, from],
    [token, file],
    [token, none],
    [file, from],
    [file, none],
    [from, none],
    [asked, none],
  ] as const;
  return pairs.map(([[one, its], [other, others]]) => [
    one,
    other,
    `error: the argument '${its}' cannot be used with '${others}'`,
  ]);
}
