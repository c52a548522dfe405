/** A crontab: its jobs become those of `.deploy.yml`, which run in the active release. */
import { keyOf, type SourceEntry } from '../plan/entry.ts';
import { type Fate, left, type Plan, refusalOf, to } from '../plan/plan.ts';
import { none, type SourceFormat } from '../plan/table.ts';
import { crontabEntries } from '../read/lines.ts';
import { addJob, TZ_NOTE, variable } from './job.ts';
import { jobOf } from './schedule.ts';

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
  const isNamed = [...jobs.values()].some(({ parts }) => USER.test(parts?.[1] ?? ''));
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

function jobFor(entry: SourceEntry, plan: Plan, zone: string): Fate {
  const refusal = refusalOf(entry);
  if (refusal) return refusal;
  const job = jobOf(String(entry.value));
  // A sixth field is not one of cron's.
  if (job === undefined || /^[*?]/.test(job.command))
    return left('is not a schedule with a command');
  if (UNESCAPED.test(job.command))
    return left('has a % without a backslash: cron gives the rest to the command as its input');
  const command = job.command.replaceAll('\\%', '%');
  return addJob(plan, entry, { patterns: [job.schedule], command, zone });
}

export const crontab: SourceFormat = {
  read: (text, file) => withUsers(crontabEntries(text, file), file),
  table: [
    ['env.*', variable],
    ['job', () => to('jobs')],
    ['user.*', none('a job runs as the user of the app')],
  ],
  finish(plan, entries) {
    const { fates } = plan;
    const setter = entries.some(({ key }) => key === 'env.CRON_TZ') ? 'env.CRON_TZ' : 'env.TZ';
    if (setter !== 'env.TZ') plan.notes.delete(TZ_NOTE);
    let { zone } = plan;
    for (const entry of entries) {
      if (entry.key === 'env.TZ' && setter !== entry.key)
        fates.set(entry, left('does not set the times of a file with CRON_TZ'));
      else if (entry.path[0] === 'job') fates.set(entry, jobFor(entry, plan, zone));
      else if (entry.key === setter && 'to' in (fates.get(entry) ?? {})) zone = String(entry.value);
    }
  },
  unknown: 'is not a line of a crontab',
};
