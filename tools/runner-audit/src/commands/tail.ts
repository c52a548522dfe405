import { kindOf, type LogRecord, projectOf, textOf } from '@runner/common/audit/record';
import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import { inUtc } from '@runner/common/text/time';
import { tailEvents } from '../log/tail.ts';

export const tail = command({
  name: 'tail',
  about: 'Print the newest records of the audit log, newest last',
  details: 'With --json each record is one line, as in the log. Rotated files are included.',
  options: {
    lines: {
      short: 'n',
      placeholder: 'N',
      default: '10',
      about: 'How many records, up to 100000 [default: 10]',
    },
    follow: {
      short: 'f',
      about: 'Print new records as they are appended',
    },
  },
  safeInForeignRoot: true,
  async run(context) {
    return tailEvents(context);
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
