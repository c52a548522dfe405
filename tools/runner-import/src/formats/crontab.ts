/** A crontab: cron keeps starting the jobs, and each runs in the active release. */
import { word } from '@runner/common/text/shell';
import type { SourceEntry } from '../plan/entry.ts';
import { type Fate, left, type Plan, refusalOf, to } from '../plan/plan.ts';
import type { SourceFormat } from '../plan/table.ts';
import { crontabEntries } from '../read/lines.ts';
import { restOfJob } from './schedule.ts';

/** Variables that cron itself reads. */
const OF_CRON = /^(?:SHELL|PATH|MAILTO|MAILFROM|CRON_TZ|TZ|RANDOM_DELAY|HOME|LOGNAME)$/;
const PLACE = 'crontab';
/** Redirections at the end stay outside of the sandbox. */
const REDIRECTED = /((?:\s+(?:&>>?|\d?>>?)\s*(?:&\d|[^\s&|;<>]+))+)$/;

/** The new line of an entry; undefined if it has no place in a crontab. */
function newLine(entry: SourceEntry, { app }: Plan, file: string): { line: string } | Fate {
  const refusal = refusalOf(entry);
  if (refusal) return refusal;
  const text = String(entry.value);
  if (entry.path[0] === 'env') return { line: `${entry.path[1]}=${text}` };
  const job = restOfJob(text, /(?:^|\/)(?:etc\/crontab|cron\.d\/[^/]+)$/.test(file));
  if (job === undefined) return left('is not a schedule with a command');
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
  return { line: `${job.schedule} ${job.user}runner exec ${app} -- ${run}${redirected}` };
}

export const crontab: SourceFormat = {
  read: crontabEntries,
  table: [
    // `runner exec` passes only the variables of the app.
    [
      'env.*',
      ({ path: [, name = ''] }, plan) => (OF_CRON.test(name) ? to(PLACE) : plan.secret(name)),
    ],
    ['job', () => to(PLACE)],
  ],
  finish(plan, entries, file) {
    const lines = entries.flatMap((entry) => {
      const before = plan.fates.get(entry);
      if (!before || !('to' in before) || before.to !== PLACE) return [];
      const made = newLine(entry, plan, file);
      if ('line' in made) return made.line;
      plan.fates.set(entry, made);
      return [];
    });
    if (entries.some((entry) => entry.path[0] === 'job' && 'to' in (plan.fates.get(entry) ?? {})))
      plan.files.set(PLACE, `${lines.join('\n')}\n`);
  },
  unknown: 'is not a line of a crontab',
};
