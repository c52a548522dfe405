import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Verdict } from '../verifying.ts';

export const verify = command({
  name: 'verify',
  about: 'Check that the audit log is whole: every line, order, ids, deploys',
  details:
    'Every line must be an event, times must be in order, a deploy is of one app and has one start and\n' +
    'one end. A deploy that runs now, and starts that were rotated away, are no problems. Each problem\n' +
    'is told with file and line, a thousand at most; the status is then 1.',
  async run(context) {
    const { verifyLog } = await import('../verifying.ts');
    const value = await verifyLog(context);
    return { value, status: value.ok ? 0 : 1 };
  },
  human(verdict: Verdict, style) {
    const { files, records, deploys, running, problem_count: count, problems } = verdict;
    const more = count - problems.length;
    const lines = problems.map(
      ({ file, line, message }) => `${file}:${line}: ${harmlessLine(message)}`,
    );
    const read = [
      number(records, 'record'),
      number(deploys, 'deploy'),
      number(files.length, 'file'),
    ];
    if (running > 0) read.push(`${running} under way`);
    const found = count === 0 ? style.green('whole') : style.red(number(count, 'problem'));
    return [
      ...lines,
      ...(more > 0 ? [`and ${number(more, 'further problem')}`] : []),
      `${found}: ${read.join(', ')}`,
      '',
    ].join('\n');
  },
});

function number(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
