import type { ChainHead } from '@runner/common/audit/chain';
import { command } from '@runner/common/cli/command';
import { EXIT, invalidValue } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { counted } from '@runner/common/text/words';
import { type LogVerdict, verdict } from '../verify/verdict.ts';

/** Exit status: not a problem, not a proof. */
const UNPROVEN = 4;

export const verify = command({
  name: 'verify',
  about: 'Check that the audit log is complete and unchanged',
  details:
    'Finds records that were removed, changed, swapped or inserted, by the number and hash in each\n' +
    'record. Times must be in order; a deploy belongs to one app and has one start and one end.\n' +
    '--anchor also detects a log that was truncated or rewritten, if it has 24 digits or more: a record\n' +
    'that fits a shorter one can be forged. Prints at most 1,000 problems with file and line, and counts\n' +
    'all. Exits with 1 if there is a problem.',
  options: {
    anchor: {
      placeholder: 'SEQ:HASH',
      about: 'A record that must be in the log, from a notification or audit anchor',
    },
  },
  exits: [[UNPROVEN, 'There is no problem, but the anchor is too short to prove it']],
  examples: ['runner audit verify --anchor 4711:1a2b3c4d5e6f70819a2b3c4d5e6f7081'],
  safeInForeignRoot: true,
  async run(context) {
    const { anchor } = context.options;
    const value = await verdict(context, anchor === undefined ? undefined : anchorOf(anchor));
    const status = value.problem_count > 0 ? EXIT.failed : value.ok ? EXIT.ok : UNPROVEN;
    return { value, status };
  },
  human(verdict: LogVerdict, style) {
    const { files, records, deploys, running, chain, problem_count: count, problems } = verdict;
    const more = count - problems.length;
    const lines = problems.map(
      ({ file, line, message }) => `${file}:${line}: ${harmlessLine(message)}`,
    );
    const read = [
      counted(records, 'record'),
      counted(deploys, 'deploy'),
      counted(files.length, 'file'),
    ];
    if (chain) read.push(`chain ${chain.first} to ${chain.head}`);
    if (verdict.torn > 0) read.push(counted(verdict.torn, 'torn line'));
    if (running > 0) read.push(`${running} in progress`);
    const whole = verdict.ok ? style.green('whole') : style.yellow('unproven');
    const found = count === 0 ? whole : style.red(counted(count, 'problem'));
    return [
      ...lines,
      ...(more > 0 ? [`and ${counted(more, 'further problem')}`] : []),
      `${found}: ${read.join(', ')}`,
      ...(count === 0 && !verdict.ok ? [worthOf(verdict.anchor_digits ?? 0)] : []),
      '',
    ].join('\n');
  },
});

/** What a short anchor proves. */
const worthOf = (digits: number): string =>
  `the record fits the ${digits} digits of the anchor, but a rewritten log that fits them can be made with about ` +
  `2^${4 * digits} tries (2^32 take minutes): compare 24 digits or more`;

/** Parses an anchor; notifications write it as `#4711·1a2b…`. Throws `usage`. */
function anchorOf(text: string): ChainHead {
  const [, seq, hash] = /^#?(\d{1,15})[:·]([0-9a-f]{8,64})$/i.exec(text) ?? [];
  if (!(Number(seq) >= 1) || hash === undefined)
    throw invalidValue(
      text,
      '--anchor <SEQ:HASH>',
      'an anchor looks like 4711:1a2b3c4d5e6f70819a2b3c4d5e6f7081',
    );
  return { seq: Number(seq), hash: hash.toLowerCase() };
}
