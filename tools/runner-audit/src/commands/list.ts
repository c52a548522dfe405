import { command } from '@runner/common/cli/command';
import { EVENT } from '@runner/history/log/options';
import { listEvents } from '../log/list.ts';

export const list = command({
  name: 'list',
  about: 'List matching events of the audit log, including rotated files',
  details:
    'Oldest first, in the order of the log. TIME is ISO 8601 (UTC unless it has a zone), a date, or how\n' +
    'long ago: 30m, 2h, 7d. With --json each record is one line, as in the log.',
  options: {
    project: { placeholder: 'APP', about: 'Only events of this app' },
    event: EVENT,
    instance: {
      placeholder: 'NAME',
      about: 'Only events of this instance, or of these: a,b',
    },
    deploy: { placeholder: 'ID', about: 'Only events of the deploy with this ID' },
    since: { placeholder: 'TIME', about: 'Only events from this time on' },
    until: { placeholder: 'TIME', about: 'Only events up to this time' },
    lines: {
      short: 'n',
      placeholder: 'N',
      about: 'Only the last N events, up to 100000',
    },
  },
  examples: [
    'runner audit list --event DeployFailure --since 7d',
    'runner audit list --project shop -n 20 --json',
  ],
  safeInForeignRoot: true,
  async run(context) {
    return listEvents(context);
  },
});
