import { command } from '@runner/common/cli/command';
import { invalidValue } from '@runner/common/foundation/failure';
import { timeOf } from '@runner/history/log/options';
import { showOutput } from '../show.ts';

export const logs = command({
  about: 'Show what an app prints',
  details:
    'Shows the output of start.type process, the journal of a unit, docker compose logs, the files of\n' +
    'pm2, or the output of logs in .deploy.yml; -f follows it through restarts and deploys. Secrets are\n' +
    'redacted and control characters escaped. With --json each line is an object. The output of process\n' +
    'and pm2 has no timestamps: --since begins at the last known time before TIME, and says so.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    instance: { placeholder: 'NAME', about: 'Only this instance [default: all]' },
    follow: { short: 'f', about: 'Follow new lines until Ctrl-C' },
    lines: {
      short: 'n',
      placeholder: 'N',
      default: '100',
      about: 'Number of lines [default: 100]',
    },
    since: {
      placeholder: 'TIME',
      about: 'Only lines since a time, such as 2026-12-24T18:00Z, yesterday, 30m or 7d',
    },
    timestamps: {
      short: 't',
      about: 'Begin each line with its time, where systemd or docker has it',
    },
  },
  examples: ['runner logs shop', 'runner logs shop -n 20'],
  async run(context) {
    const { io, args, options } = context;
    if (!/^\d{1,7}$/.test(options.lines))
      throw invalidValue(options.lines, '--lines <N>', 'it must be a number');
    const since =
      options.since === undefined
        ? undefined
        : new Date(timeOf(options.since, 'since', io.now())).toISOString();
    const { follow, timestamps } = options;
    const wanted = { lines: Number(options.lines), follow, since, timestamps };
    return { status: await showOutput(context, { app: args.app, only: options.instance }, wanted) };
  },
});
