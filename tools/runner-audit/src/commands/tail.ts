import { kindOf, type LogRecord, projectOf, textOf } from '@runner/common/audit/events';
import { command } from '@runner/common/cli/command';
import { usage } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { inUtc } from '@runner/common/text/time';

/** As many records are kept in memory at once. */
const LINES_MAX = 100_000;

export const tail = command({
  name: 'tail',
  about: 'Print the newest records of the audit log, the last one last',
  details:
    'With --json each record is a line as it stands in the log. Rotated files are read where the newer\n' +
    'ones have too few. -f follows, also through rotation.',
  options: {
    lines: {
      kind: 'value',
      short: 'n',
      placeholder: 'N',
      default: '10',
      about: 'How many records, up to 100000 [default: 10]',
    },
    follow: {
      kind: 'flag',
      short: 'f',
      about: 'Wait for further records and print them as they come',
    },
  },
  async run(context) {
    const { lines, follow } = context.options;
    if (!/^\d{1,6}$/.test(lines) || Number(lines) > LINES_MAX)
      throw usage(
        `invalid value '${lines}' for '--lines <N>': it must be a whole number up to ${LINES_MAX}`,
      );
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
