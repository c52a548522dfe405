/** A crontab: cron keeps starting the jobs, and each runs in the active release. */
import { word } from '@runner/common/text/shell';
import { keyOf, type SourceEntry } from '../plan/entry.ts';
import { type Fate, left, type Plan, refusalOf, to } from '../plan/plan.ts';
import { none, type SourceFormat } from '../plan/table.ts';
import { crontabEntries } from '../read/lines.ts';
import { jobOf } from './schedule.ts';

/** Variables that cron itself reads. */
const OF_CRON = /^(?:SHELL|PATH|MAILTO|MAILFROM|CRON_TZ|TZ|RANDOM_DELAY|HOME|LOGNAME)$/;
const PLACE = 'crontab';
/** Redirections at the end stay outside of the sandbox. */
const REDIRECTED = /((?:\s+(?:&>>?|\d?>>?)\s*(?:&\d|[^\s&|;<>]+))+)$/;

/** cron ends a command there. */
const UNESCAPED = /(?<!\\)(?:\\\\)*%/;
/** Users that no program has the name of. */
const USER = /^(?:root|www-data|nobody|nginx|apache|postgres|ubuntu|debian|ec2-user)$/;
const WITH_USER = /^([A-Za-z_][\w-]*)\s+(\S.*)$/s;

/** The entries with the user of each job as one of its own, if the file names users, as /etc/crontab does. */
function withUsers(entries: readonly SourceEntry[], file: string): SourceEntry[] {
  const jobs = new Map(
    entries.flatMap((entry) => {
      const job = entry.path[0] === 'job' ? jobOf(String(entry.value)) : undefined;
      return job ? [[entry, { job, parts: WITH_USER.exec(job.command) }] as const] : [];
    }),
  );
  const all = [...jobs.values()];
  const isNamed =
    all.every(({ parts }) => parts) && all.some(({ parts }) => USER.test(parts?.[1] ?? ''));
  if (!isNamed && !/(?:^|\/)(?:etc\/crontab|cron\.d\/[^/]+)$/.test(file)) return [...entries];
  return entries.flatMap((entry) => {
    const { job, parts } = jobs.get(entry) ?? {};
    if (!job || !parts) return entry;
    const [, user = '', command = ''] = parts;
    const path = ['user', user];
    return [
      { path, key: keyOf(path), value: user, line: entry.line },
      { ...entry, value: `${job.schedule} ${command}` },
    ];
  });
}

/** The new line of an entry; undefined if it has no place in a crontab. */
function newLine(entry: SourceEntry, { app }: Plan): { line: string } | Fate {
  const refusal = refusalOf(entry);
  if (refusal) return refusal;
  const text = String(entry.value);
  if (entry.path[0] === 'env') return { line: `${entry.path[1]}=${text}` };
  const job = jobOf(text);
  if (job === undefined) return left('is not a schedule with a command');
  if (UNESCAPED.test(job.command))
    return left('has a % without a backslash: cron gives the rest to the command as its input');
  if (/\b(?:run-parts|anacron)\b/.test(job.command))
    return left('is a job of the system: let it stay where it is');
  if (job.schedule === '@reboot')
    return left(
      'starts something at boot: make it the start of the app, which runner starts at boot',
    );
  const [redirected = ''] = REDIRECTED.exec(job.command) ?? [];
  const command = job.command
    .slice(0, job.command.length - redirected.length)
    .replace(/^cd\s+[^\s;&|]+\s*(?:&&|;)\s*/, '');
  if (command === '') return left('is not a schedule with a command');
  const isPlain = /^[\w./:@,+-][\w./:@,+= -]*$/.test(command) && !/^\w+=/.test(command);
  const run = isPlain ? command : `sh -c ${word(command)}`;
  return { line: `${job.schedule} runner exec ${app} -- ${run}${redirected}` };
}

export const crontab: SourceFormat = {
  read: (text, file) => withUsers(crontabEntries(text, file), file),
  table: [
    // `runner exec` passes only the variables of the app.
    [
      'env.*',
      ({ path: [, name = ''] }, plan) => (OF_CRON.test(name) ? to(PLACE) : plan.secret(name)),
    ],
    ['job', () => to(PLACE)],
    ['user.*', none('the new lines name no user: they are for the crontab of the user runner')],
  ],
  finish(plan, entries) {
    const lines = entries.flatMap((entry) => {
      const before = plan.fates.get(entry);
      if (!before || !('to' in before) || before.to !== PLACE) return [];
      const made = newLine(entry, plan);
      if ('line' in made) return made.line;
      plan.fates.set(entry, made);
      return [];
    });
    if (entries.some((entry) => entry.path[0] === 'job' && 'to' in (plan.fates.get(entry) ?? {})))
      plan.files.set(PLACE, `${lines.join('\n')}\n`);
  },
  unknown: 'is not a line of a crontab',
};
