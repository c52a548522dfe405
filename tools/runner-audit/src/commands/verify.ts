import type { Head } from '@runner/common/audit/chain';
import { command } from '@runner/common/cli/command';
import { invalidValue } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Verdict } from '../verify/verdict.ts';

export const verify = command({
  name: 'verify',
  about: 'Check that the audit log is complete and unchanged',
  details:
    'Finds records that were removed, changed, swapped or inserted, by the number and hash in each\n' +
    'record. Times must be in order; a deploy belongs to one app and has one start and one end.\n' +
    '--anchor also detects a log that was truncated or rewritten. Prints at most 1,000 problems with\n' +
    'file and line, and counts all. Exits with 1 if there is a problem.',
  options: {
    anchor: {
      placeholder: 'SEQ:HASH',
      about: 'A record that must be in the log, from a notification or audit anchor',
    },
  },
  examples: ['runner audit verify --anchor 4711:1a2b3c4d'],
  safeInForeignRoot: true,
  async run(context) {
    const { anchor } = context.options;
    const { verdict } = await import('./reading.ts');
    const value = await verdict(context, anchor === undefined ? undefined : anchorOf(anchor));
    return { value, status: value.ok ? 0 : 1 };
  },
  human(verdict: Verdict, style) {
    const { files, records, deploys, running, chain, problem_count: count, problems } = verdict;
    const more = count - problems.length;
    const lines = problems.map(
      ({ file, line, message }) => `${file}:${line}: ${harmlessLine(message)}`,
    );
    const read = [
      number(records, 'record'),
      number(deploys, 'deploy'),
      number(files.length, 'file'),
    ];
    if (chain) read.push(`chain ${chain.first} to ${chain.head}`);
    if (verdict.torn > 0) read.push(number(verdict.torn, 'torn line'));
    if (running > 0) read.push(`${running} in progress`);
    const found = count === 0 ? style.green('whole') : style.red(number(count, 'problem'));
    return [
      ...lines,
      ...(more > 0 ? [`and ${number(more, 'further problem')}`] : []),
      `${found}: ${read.join(', ')}`,
      '',
    ].join('\n');
  },
});

/** Parses an anchor; notifications write it as `#4711·1a2b3c4d`. Throws `usage`. */
function anchorOf(text: string): Head {
  const [, seq, hash] = /^#?(\d{1,15})[:·]([0-9a-f]{8,64})$/i.exec(text) ?? [];
  if (!(Number(seq) >= 1) || hash === undefined)
    throw invalidValue(text, '--anchor <SEQ:HASH>', 'an anchor looks like 4711:1a2b3c4d');
  return { seq: Number(seq), hash: hash.toLowerCase() };
}

function number(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
