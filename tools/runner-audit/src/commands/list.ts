import { EVENT_TYPES } from '@runner/common/audit/events';
import { command } from '@runner/common/cli/command';
import { usage } from '@runner/common/foundation/failure';

/** As many records are kept in memory at once. */
const LINES_MAX = 100_000;

export const list = command({
  name: 'list',
  about: 'List the events of the audit log that match, its rotated files included',
  details:
    'In the order of the log, its oldest file first: that of time, but for events that had to wait until\n' +
    'the log could be written. TIME is ISO 8601 (UTC where no zone is given), a date, or how long ago:\n' +
    '30m, 2h, 7d. With --json each record is a line as it stands in the log.',
  options: {
    project: { kind: 'value', placeholder: 'APP', about: 'Only events of this app' },
    event: {
      kind: 'value',
      placeholder: 'EVENT',
      choices: [...EVENT_TYPES, 'GuardBypassed'],
      about: 'Only events of this kind',
    },
    instance: {
      kind: 'value',
      placeholder: 'NAME',
      about: 'Only events of this instance, or of all of a,b',
    },
    deploy: { kind: 'value', placeholder: 'ID', about: 'Only events of the deploy with this id' },
    since: { kind: 'value', placeholder: 'TIME', about: 'Only events from this time on' },
    until: { kind: 'value', placeholder: 'TIME', about: 'Only events up to this time' },
    lines: {
      kind: 'value',
      short: 'n',
      placeholder: 'N',
      about: 'Only the last N of them, up to 100000',
    },
  },
  examples: [
    'runner audit list --event DeployFailure --since 7d',
    'runner audit list --project shop -n 20 --json',
  ],
  async run(context) {
    const { lines } = context.options;
    if (lines !== undefined && (!/^\d{1,6}$/.test(lines) || Number(lines) > LINES_MAX))
      throw usage(
        `invalid value '${lines}' for '--lines <N>': it must be a whole number up to ${LINES_MAX}`,
      );
    const { filterOf, printList } = await import('../listing.ts');
    const filter = filterOf(context.options, context.io.now());
    await printList(context, filter, lines === undefined ? undefined : Number(lines));
    return {};
  },
});
