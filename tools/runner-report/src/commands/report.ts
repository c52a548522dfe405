import { resolve } from 'node:path';
import { command } from '@runner/common/cli/command';
import { writeWhole } from '@runner/common/files/write';
import { usage } from '@runner/common/foundation/failure';
import { OFFLINE } from '@runner/deploy/lifecycle/view';
import { DEPLOYS_OF, deploysOf, periodSince, readsLog, SINCE } from '@runner/history/log/options';

interface Drawn {
  /** Absolute; `-` for standard output. */
  file: string;
  since: string;
  until: string;
  deploys: number;
  bytes: number;
}

export const report = command({
  needsRoot: readsLog,
  about: 'Write an HTML report of the deploys',
  details:
    'One HTML file without scripts: active versions, outcomes per day, durations, version history, causes\n' +
    'of failures, and the newest deploys with links to their changes. TIME is ISO 8601 (UTC unless it has\n' +
    'a zone), a date, or how long ago: 30m, 2h, 7d. An existing file is replaced.\n' +
    'With - the records come from standard input, and what runs is what they say.',
  positionals: DEPLOYS_OF,
  options: {
    html: {
      placeholder: 'FILE',
      required: true,
      about: 'Where to write the report; - is standard output',
    },
    since: { ...SINCE, default: '90d' },
    offline: OFFLINE,
  },
  examples: ['runner report --html deploys.html', 'runner report shop --html - --since 30d'],
  safeInForeignRoot: true,
  async run({ io, paths, args, options, format, note }) {
    const now = io.now();
    const period = periodSince(options.since, now);
    const toStdout = options.html === '-';
    if (toStdout && format !== 'human')
      throw usage("the argument '--html -' cannot be used with '--output <FORMAT>'");
    const { draw } = await import('../page/draw.ts');
    const wanted = { ...deploysOf(args), period, offline: options.offline };
    const { page, deploys } = await draw({ io, paths, note }, wanted);
    const bytes = Buffer.from(page);
    if (toStdout) {
      io.stdout.write(bytes);
      return {};
    }
    const file = resolve(io.cwd, options.html);
    writeWhole(file, bytes, 0o644);
    const [since, until] = [period.since, period.until].map((time) => new Date(time).toISOString());
    return { value: { file, since, until, deploys, bytes: bytes.length } };
  },
  human({ file, since, deploys, bytes }: Drawn) {
    const size = Math.ceil(bytes / 1024);
    return `${file}: ${deploys} ${deploys === 1 ? 'deploy' : 'deploys'} since ${since.slice(0, 10)}, ${size} KiB\n`;
  },
});
