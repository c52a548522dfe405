/** whenever: the jobs of a schedule.rb, which the gem would write into a crontab. */
import type { SourceEntry } from '../plan/entry.ts';
import { type Fate, left, type Plan, refusalOf, to } from '../plan/plan.ts';
import { type ImportRule, none, type SourceFormat } from '../plan/table.ts';
import { wheneverEntries } from '../read/whenever.ts';
import { addJob, variable } from './job.ts';
import { patternsOf } from './whenever-time.ts';

const TYPES: readonly (readonly [name: string, template: string])[] = [
  ['command', ':task'],
  ['rake', 'bundle exec rake :task'],
  ['script', 'bundle exec script/:task'],
  ['runner', "bin/rails runner -e :environment ':task'"],
];
/** In a template; after a letter the colon is part of a word. */
const PLACEHOLDER = /(?<![\w:.]):([a-z_]\w*)/g;
const UNCLEAR = left('its time is not one that import understands: write at, every or cron');
const HOURS_24 = 'set.chronic_options.hours24';

/** What the statements before a job say about it. */
interface Scope {
  readonly templates: ReadonlyMap<string, string>;
  readonly environment: string;
  readonly zone: string;
  /** undefined: not understood. */
  readonly patterns: readonly string[] | undefined;
}

const known =
  (place: string): ImportRule =>
  (entry) =>
    refusalOf(entry) ?? to(place);
const unneeded = none('is not needed: runner runs a job in the release, and keeps its output');
const UNUSED = left('is used by no command that became a job');

function jobFor(entry: SourceEntry, plan: Plan, scope: Scope): Fate {
  const template = scope.templates.get(entry.path[1] ?? '');
  if (template === undefined) return left('is not a job, or its type is computed');
  const refusal = refusalOf(entry);
  if (refusal || !scope.patterns) return refusal ?? UNCLEAR;
  const values = new Map([
    ['task', String(entry.value ?? '')],
    ['environment', scope.environment],
    ['environment_variable', 'RAILS_ENV'],
    ['bundle_command', 'bundle exec'],
    ['runner_command', 'bin/rails runner'],
    ['path', '.'],
    ['output', ''],
  ]);
  const missing = [...template.matchAll(PLACEHOLDER)].find(([, name = '']) => !values.has(name));
  if (missing) return left(`its type has ${missing[0]}: write the command into jobs`);
  const command = template.replace(PLACEHOLDER, (all, name: string, at: number) => {
    const value = values.get(name) ?? '';
    const around = `${template[at - 1]}${template[at + all.length]}`;
    if (around === "''") return value.replaceAll("'", "'\\''");
    return around === '""' ? value.replaceAll('"', '\\"') : value;
  });
  const { patterns, zone } = scope;
  return addJob(plan, entry, { patterns, command: command.replace(/\s+/g, ' ').trim(), zone });
}

/** The options of the call at an index. */
function optionsAt(entries: readonly SourceEntry[], at: number): readonly SourceEntry[] {
  const { path } = entries[at] as SourceEntry;
  const after = entries.slice(at + 1);
  const end = after.findIndex(
    (each) => each.path[0] !== path[0] || each.path.length <= path.length,
  );
  return end === -1 ? after : after.slice(0, end);
}

/** The patterns of the block at an index. */
function blockAt(entries: readonly SourceEntry[], at: number, plan: Plan) {
  const hours24 = entries.some(({ key, value }) => key === HOURS_24 && value === true);
  const times = optionsAt(entries, at).filter(({ path }) => path[1] === 'at');
  const all = [entries[at] as SourceEntry, ...times];
  const values = times.map(({ value }) => value);
  const isKnown = !all.some(refusalOf);
  const patterns = isKnown ? patternsOf(String(all[0]?.value), values, hours24) : undefined;
  if (!patterns) for (const each of all) plan.fates.set(each, refusalOf(each) ?? UNCLEAR);
  if (patterns && !hours24 && values.some((each) => /^[1-5]:\d\d$/.test(String(each))))
    plan.notes.add("whenever reads at: '4:30' as 16:30: change the time if it should be 04:30");
  return patterns;
}

export const whenever: SourceFormat = {
  read: wheneverEntries,
  table: [
    ['every every.at every.at.[] job.*', known('jobs')],
    [
      'every.roles every.roles.[] job.*.roles job.*.roles.[]',
      none('runner works on one server: remove the jobs of other roles'),
    ],
    ['job.*.environment set.environment job_type.*', known('the commands of the jobs')],
    [`job.*.output job.*.output.** set.output set.output.** set.path set.bundle_command`, unneeded],
    [HOURS_24, known('the times of the jobs')],
    ['set.job_template', none('jobs run in sh, in the active release')],
    ['env.*', variable],
    ['code', none('is code, which is not run: write what it schedules into jobs')],
  ],
  finish(plan, entries) {
    const isMapped = (entry: SourceEntry) => 'to' in (plan.fates.get(entry) ?? {});
    const isZone = ({ key }: SourceEntry) => key === 'env.CRON_TZ' || key === 'env.TZ';
    const zone = String(entries.find((each) => isZone(each) && isMapped(each))?.value ?? plan.zone);
    const templates = new Map(TYPES);
    let [environment, patterns] = ['production', undefined as readonly string[] | undefined];
    let setter: SourceEntry | undefined;
    const types = new Map<string, SourceEntry>();
    const used = new Set<SourceEntry | undefined>();
    for (const [at, entry] of entries.entries()) {
      const { key, value, path } = entry;
      const type = path[1] ?? '';
      if (key === 'set.environment' && isMapped(entry)) {
        environment = String(value);
        setter = entry;
      } else if (path[0] === 'job_type') {
        templates.delete(type);
        types.set(type, entry);
        if (isMapped(entry)) templates.set(type, String(value));
      } else if (key === 'every') patterns = blockAt(entries, at, plan);
      else if (path[0] === 'job' && path.length === 2) {
        const options = optionsAt(entries, at);
        const own = options.find((each) => each.path[2] === 'environment' && isMapped(each));
        const scope = { templates, environment: String(own?.value ?? environment), zone };
        const isOwnTime = options.some((each) => each.path[2] === 'at');
        const fate = jobFor(entry, plan, { ...scope, patterns: isOwnTime ? undefined : patterns });
        plan.fates.set(entry, fate);
        if (!('to' in fate)) continue;
        used.add(types.get(type));
        if (/:environment\b/.test(templates.get(type) ?? '')) used.add(own ?? setter);
      }
    }
    for (const entry of entries)
      if (/^(?:set\.environment|job_type\..*|job\.[^.]*\.environment)$/.test(entry.key))
        if (isMapped(entry) && !used.has(entry)) plan.fates.set(entry, UNUSED);
    if (plan.settings.size > 0)
      plan.notes.add(
        'jobs run in sh, not in bash -l: RAILS_ENV, and the PATH of rbenv, rvm or nvm, come from the variables of the app',
      );
  },
  unknown: 'has no setting in runner',
};
