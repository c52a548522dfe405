/** Jobs of `.deploy.yml` from lines of cron: a name, the command and its times. */
import { wantsBothDays, wrongWithPattern } from '@runner/common/deploy-file/schedule';
import { word } from '@runner/common/text/shell';
import { keyOf, type SourceEntry } from '../plan/entry.ts';
import { type Fate, left, type Plan, refusalOf, to } from '../plan/plan.ts';
import type { ImportRule } from '../plan/table.ts';
import { valuesOf } from './schedule.ts';
import { type JobTimes, takesZone, timesOf } from './times.ts';

/** A command with its times: five fields of cron, or `@reboot`. */
export interface CronLine {
  readonly patterns: readonly string[];
  readonly command: string;
  readonly zone: string;
}

/** A `.deploy.yml` has 2,000 lines and 64 KiB; quoted, a command may become twice as long. */
const JOBS_MAX = 200;
/** Bytes of all commands. */
const COMMANDS_MAX = 22_000;
/** Characters; more would also keep the patterns below busy. */
const COMMAND_MAX = 4_000;
/** Days of each month. */
const LONGEST = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
export const TZ_NOTE =
  'TZ is read as the zone of the times, for which many crons only take CRON_TZ';
const ZONED = /^(?:CRON_TZ|TZ)$/;
/** Variables that cron itself reads. */
const OF_CRON = /^(?:SHELL|PATH|RANDOM_DELAY|HOME|LOGNAME|USER|BASH_ENV|LANG)$/;
/** `>/dev/null 2>&1` and `>> app.log` at the end. */
const LOGGED =
  /(?:(?:\s+[12]|\s*)&?>>?\s*(?:&[12]|["']?(?:\/dev\/null|(?:[^\s&|;<>"']*\/)?logs?\/[^\s&|;<>"']*|[^\s&|;<>"']*[._-](?:log(?:\.\w+)?|out|err))["']?))+$/;
const FOLDER = /^cd\s+("[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*/;
const SYSTEM = /\b(?:run-parts|anacron)\b/;
const AS_USER = /^(?:\S*\/)?(?:sudo|su|runuser|doas)\s/;
/** Words before the one that says what a command does. */
const PREFIX =
  /^(?:(?:\S*\/)?(?:flock(?:\s+-\S+(?:\s+\d+)?)*\s+\S+|env|nice|ionice|timeout|nohup|exec|time|chronic|cronic|cd\s+\S+|(?:\.|source)\s+\S+|test|\[|(?:ba|z|da)?sh|php[\d.]*|python[\d.]*|ruby|node|perl|java|npm|npx|yarn|pnpm|bundle|run|rake|rails|runner|artisan|console|manage\.py|django-admin|wp|drush)(?=\s)|-\S+|\d\S*|[A-Za-z_]\w*=\S*|production|&&|;)\s+/;

/** Adds the job, or says why it is not one. */
export function addJob(plan: Plan, entry: SourceEntry, line: CronLine): Fate {
  const { patterns, zone } = line;
  if (patterns.includes('@reboot'))
    return left(
      'starts something at boot: make it the start of the app, which runner starts at boot',
    );
  if (line.command.length > COMMAND_MAX)
    return left(`is longer than ${COMMAND_MAX} characters: put it into a script`);
  if (SYSTEM.test(line.command)) return left('is a job of the system: let it stay where it is');
  if (AS_USER.test(line.command))
    return left('needs another user: a job runs as the user of the app');
  if (/\/releases\/\w/.test(line.command))
    return left('names one release: write its command into jobs, which runs in the active one');
  const run = commandOf(line.command, plan);
  const refusal = refusalOf({ value: run }) ?? (run === '' ? left('has no command') : undefined);
  if (refusal) return refusal;
  const runs = [...plan.settings].flatMap(([key, { value }]) =>
    /\.run$/.test(key) ? String(value) : [],
  );
  if (runs.length >= JOBS_MAX || Buffer.byteLength(runs.join('') + run) > COMMANDS_MAX)
    return left('is more than a .deploy.yml has room for');
  const never = patterns.find(isNever);
  if (never !== undefined) return left(`'${never}' is never due`);
  const problem = patterns.map((each) => wrongWithPattern(each, zone)).find(Boolean);
  if (problem !== undefined) return left(problem);
  const times = timesOf(patterns, zone);
  const all = times ? [times] : patterns.map((each) => timesOf([each], zone) ?? {});
  const names = all.map((each) => write(plan, entry, { run, ...each }));
  noteJobs(plan, zone);
  return to(names.map((name) => `jobs.${name}`).join(', '));
}

/** Whether none of its months has its days, which takes the library a while to find out. */
function isNever(pattern: string): boolean {
  const [day = '', month = ''] = pattern.split(' ').slice(2);
  const [first = 1] = valuesOf(day, 2) ?? [];
  const isShort = (valuesOf(month, 3) ?? []).every((each) => first > (LONGEST[each - 1] ?? 31));
  return isShort && wantsBothDays(pattern);
}

/** Without what runner does anyway: enter the release, keep the output. */
function commandOf(command: string, plan: Plan): string {
  const own = command.replace(/(?<![&\s])\s*&\s*$/, '').trim();
  if (own !== command.trim())
    plan.notes.add('a & at the end is left out: runner waits for the end of a run');
  const run = withoutLog(own);
  if (run !== own)
    plan.notes.add('output is kept: redirections to logs and /dev/null are left out');
  const [all = '', given = ''] = FOLDER.exec(run) ?? [];
  const folder = given.replace(/["']/g, '');
  const below = /\/current\/(.+?)\/?$/.exec(folder)?.[1];
  if (all !== '' && folder !== '.')
    plan.notes.add(`cd ${folder} is left out: jobs run in the folder of the active release`);
  return `${below === undefined ? '' : `cd ${word(below)} && `}${run.slice(all.length)}`.trim();
}

/** Without redirections to logs; `2>&1` stays beside one that stays. */
function withoutLog(command: string): string {
  const run = command.replace(LOGGED, '');
  const isOnlyJoined = /^[\s12>&]*$/.test(command.slice(run.length));
  return isOnlyJoined && run.includes('>') ? command : run;
}

/** Writes the settings of a job; its name. */
function write(
  plan: Plan,
  entry: SourceEntry,
  settings: JobTimes & { readonly run: string },
): string {
  const base = nameFor(settings.run);
  let name = base;
  for (let count = 2; plan.has(`jobs.${name}.run`); count += 1) name = `${base}-${count}`;
  for (const [key, value] of Object.entries(settings)) {
    const path = ['jobs', name, key];
    const setting = { path, value, from: [entry] };
    plan.settings.set(keyOf(path), key === 'run' ? setting : { ...setting, reason: '' });
  }
  return name;
}

/** `jobs-run` of `bin/rake jobs:run`. */
function nameFor(command: string): string {
  let rest = command.replace(/["'({]/g, ' ').trimStart();
  for (let next = rest.replace(PREFIX, ''); next !== rest; next = rest.replace(PREFIX, ''))
    rest = next;
  const [first = ''] = rest.replace(/^\$/, '').split(/[\s;|&)}<>$`]/);
  const name = (first.replace(/\/+$/, '').split('/').at(-1) ?? '')
    .replace(/\.(?:sh|py|js|mjs|ts|php|rb|pl|jar)$/, '')
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replace(/[^A-Za-z0-9_]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .toLowerCase();
  return name.slice(0, 40) || 'job';
}

function noteJobs(plan: Plan, zone: string): void {
  if (zone === plan.zone)
    plan.notes.add(`times are in ${zone}, the zone of this machine: set zone if cron had another`);
  plan.notes.add(
    'a run ends after 1h, and a time is skipped while the run before it goes on: see timeout and overlap',
  );
  plan.notes.add('once the jobs are deployed, remove their old lines: they would run twice');
}

/** A variable of the jobs. */
export const variable: ImportRule = (entry, plan) => {
  const { computed, value, path } = entry;
  const name = path[1] ?? '';
  if (/^MAIL(?:TO|FROM)$/.test(name))
    return left('no mail is sent: a job that fails is announced in the chats');
  if (OF_CRON.test(name))
    return left('jobs run in sh with the variables of their instance: add there what they need');
  if (!ZONED.test(name)) return plan.secret(name);
  if (computed || !takesZone(String(value))) return left('is not a time zone like Europe/Berlin');
  if (name === 'TZ') plan.notes.add(TZ_NOTE);
  return to('zone of the jobs');
};
