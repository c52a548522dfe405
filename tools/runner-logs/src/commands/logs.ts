import { command } from '@runner/common/cli/command';
import { invalidValue } from '@runner/common/foundation/failure';
import { timeOf } from '@runner/history/log/options';
import { showOutput } from '../show.ts';

const DAY = 86_400_000;

export const logs = command({
  about: 'Show what an app prints',
  details:
    'Shows the output of start.type process, the journal of a unit, docker compose logs, the files of\n' +
    'pm2, or the output of logs in .deploy.yml; -f follows it through restarts and deploys. Secrets are\n' +
    'redacted and control characters escaped. With --json each line is an object. The output of process\n' +
    'and pm2 has no timestamps: --since begins at the last known time before TIME, --until ends at the\n' +
    'first one after it, and both say so.',
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
      about:
        'Only lines since a time, such as 2026-12-24T18:00Z, yesterday, 22:00 (UTC), 30m or 7d',
    },
    until: {
      placeholder: 'TIME',
      conflicts: ['follow'],
      about: 'Only lines until a time; 06:00 is the first one after --since',
    },
    timestamps: {
      short: 't',
      about: 'Begin each line with its time, where systemd or docker has it',
    },
  },
  examples: [
    'runner logs shop',
    'runner logs shop -n 20',
    'runner logs shop --since 22:00 --until 06:00',
  ],
  async run(context) {
    const { io, args, options } = context;
    if (!/^\d{1,7}$/.test(options.lines))
      throw invalidValue(options.lines, '--lines <N>', 'it must be a number');
    const { follow, timestamps } = options;
    const period = periodOf(options, io.now());
    const wanted = { lines: Number(options.lines), follow, ...period, timestamps };
    return { status: await showOutput(context, { app: args.app, only: options.instance }, wanted) };
  },
});

/** The wanted period, in ISO 8601 UTC. Throws `usage`. */
function periodOf(
  given: { readonly since: string | undefined; readonly until: string | undefined },
  now: Date,
): { since: string | undefined; until: string | undefined } {
  const timeAt = (name: 'since' | 'until') => {
    const text = given[name];
    return text === undefined ? undefined : timeOf(text, name, now, name === 'until');
  };
  const since = timeAt('since');
  const end = timeAt('until');
  const isClock = /^\d\d:\d\d$/.test(given.until ?? '');
  const isBefore = since !== undefined && end !== undefined && end <= since;
  const until = isBefore && isClock ? end + DAY : end;
  if (since !== undefined && until !== undefined && until <= since)
    throw invalidValue(given.until ?? '', '--until <TIME>', 'it must be later than --since');
  const iso = (time: number | undefined) =>
    time === undefined ? undefined : new Date(time).toISOString();
  return { since: iso(since), until: iso(until) };
}
