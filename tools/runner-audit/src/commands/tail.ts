import { command } from '@runner/common/command';
import { kindOf, type LogRecord, projectOf, textOf } from '@runner/common/events';
import { usage } from '@runner/common/failure';
import { harmlessLine } from '@runner/common/harmless';
import { inUtc } from '@runner/common/iso-time';

export const tail = command({
  name: 'tail',
  about: 'Print the newest records of the audit log, oldest first',
  details:
    'With --json each record is a line as it stands in the log. -f follows, also through rotation.',
  options: {
    lines: {
      kind: 'value',
      short: 'n',
      placeholder: 'N',
      default: '10',
      about: 'How many records [default: 10]',
    },
    follow: {
      kind: 'flag',
      short: 'f',
      about: 'Wait for further records and print them as they come',
    },
  },
  async run(context) {
    const { lines, follow } = context.options;
    if (!/^\d{1,7}$/.test(lines))
      throw usage(`invalid value '${lines}' for '--lines <N>': it must be a whole number`);
    const { printTail } = await import('../tailing.ts');
    return { status: await printTail(context, Number(lines), follow) };
  },
  human(record: LogRecord, style) {
    const kind = String(kindOf(record) ?? '?');
    const colour =
      kind === 'DeployFailure' ? style.red : kind === 'DeploySuccess' ? style.green : style.cyan;
    const words = [
      inUtc(textOf(record, 'timestamp')) || '-',
      colour(harmlessLine(kind).padEnd(15)),
      `${String(projectOf(record) ?? '?')}/${textOf(record, 'instance') || 'default'}`,
      textOf(record, 'version') || '-',
      `[${textOf(record, 'deploy_id') || '-'}]`,
      textOf(record, 'error').split('\n')[0] || textOf(record, 'reason'),
    ];
    return `${words
      .map((word, index) => (index === 1 ? word : harmlessLine(word ?? '')))
      .join(' ')
      .trimEnd()}\n`;
  },
});
