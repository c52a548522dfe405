/** `jobs` of `.deploy.yml`: commands that run in the active release at their times. */
import { networkIn, networkSchema } from '../config/network.ts';
import { JOB_NAME } from '../foundation/names.ts';
import { choice, duration, flag, keys, list, matching, named, whole } from '../yaml/keys.ts';
import { line } from './kinds.ts';
import { type Schedule, wrongWithPattern } from './schedule.ts';
import { type Fail, listOf, milliseconds } from './values.ts';

/** What happens at a time at which the run before goes on. */
export type Overlap = 'skip' | 'wait' | 'kill';

const DAY = 'mon|tue|wed|thu|fri|sat|sun';
const DAYS = `(?:${DAY})(?:-(?:${DAY}))?`;
const TIME = new RegExp(`^(?:(${DAYS}(?:,${DAYS})*) )?([01]?\\d|2[0-3]):([0-5]\\d)$`);
/** How often due times are looked for, in ms. */
const MINUTE = 60_000;
const DAY_LONG = 86_400_000;
const DEFAULTS = { timeout: 3_600_000, zone: 'UTC' };

export const JOBS_SCHEMA = named(
  keys(
    {
      run: line('The command'),
      at: list(
        matching(TIME.source, 'a time like 03:00 or mon-fri 03:00'),
        'Times of the day, such as 03:00, or mon-fri 03:00',
        1,
      ),
      every: duration('Whole minutes between two runs, from 1m to 24h'),
      cron: line("cron's five fields, such as */5 * * * *"),
      after: choice(['deploy'], 'deploy: after each one'),
      zone: matching(
        '^[A-Za-z0-9+_/-]{1,60}$',
        'a time zone like Europe/Berlin',
        'Time zone of at and cron [default: UTC]',
      ),
      instance: matching(
        JOB_NAME,
        'the name of an instance',
        'The instance whose variables it gets [default: the first]',
      ),
      timeout: duration('Time limit of an attempt [default: 1h]'),
      overlap: choice(
        ['skip', 'wait', 'kill'],
        'At a time at which the run before goes on [default: skip]',
      ),
      on: choice(
        ['each', 'one'],
        'In a fleet: each server runs it, or one of them [default: each]',
      ),
      retry: whole(0, 10, 'Further attempts of a run that failed [default: 0]'),
      during_deploy: choice(
        ['continue', 'wait', 'kill'],
        'A deploy leaves a run alone, waits for it, or ends it and has it run once more [default: continue]',
      ),
      network: networkSchema('Hosts that it may reach; false: none [default: all]'),
      catch_up: flag('true: a time that was missed is made up for, once'),
    },
    undefined,
    ['run'],
  ),
  'Commands that run in the active release at their times, by name',
  JOB_NAME,
);

/** A job; JSON. */
export type JobRules = ReturnType<typeof jobsOf>[number];

/** Throws what the section gets wrong. */
export function jobsOf(
  given: Map<string, unknown> | undefined,
  instances: readonly { readonly name: string }[],
  fail: Fail,
) {
  return [...(given ?? [])].map(([name, value]) => {
    const section = value as Map<string, unknown>;
    const wrong = (key: string, what: string) => fail(`jobs.${name}${key && `.${key}`}`, what);
    const instance = section.get('instance') as string | undefined;
    if (instance !== undefined && !instances.some((each) => each.name === instance))
      throw wrong('instance', `there is no instance '${instance}'`);
    if (section.get('on') === 'one' && section.has('after'))
      throw wrong('on', 'does not work with after: each server has deploys of its own');
    if (section.has('catch_up') && section.has('after'))
      throw wrong('catch_up', 'does not work with after: no deploy is missed');
    if (section.get('on') === 'one' && section.get('overlap') === 'kill')
      throw wrong(
        'overlap',
        'must be skip or wait with on: one: the run before may be on another server',
      );
    return {
      name,
      run: section.get('run') as string,
      ...scheduleOf(section, wrong),
      /** undefined: the first one. */
      instance,
      /** Of one attempt, in ms. */
      timeout: milliseconds(section.get('timeout'), DEFAULTS.timeout),
      overlap: (section.get('overlap') ?? 'skip') as Overlap,
      /** In a fleet: each server runs it, or the one that is first. */
      on: (section.get('on') ?? 'each') as 'each' | 'one',
      /** Further attempts of a run that failed. */
      retry: (section.get('retry') ?? 0) as number,
      duringDeploy: (section.get('during_deploy') ?? 'continue') as 'continue' | 'wait' | 'kill',
      catchUp: section.get('catch_up') === true,
      network: networkIn(section.get('network')),
    };
  });
}

const KINDS = ['at', 'every', 'cron', 'after'] as const;

function scheduleOf(
  section: Map<string, unknown>,
  wrong: Fail,
): { readonly schedule: Schedule; readonly when: string } {
  const kinds = KINDS.filter((kind) => section.has(kind));
  const [kind] = kinds;
  if (!kind) throw wrong('', 'needs one of at, every, cron and after');
  if (kinds.length > 1) throw wrong('', `has ${kinds.join(' and ')}: only one of them works`);
  const zone = (section.get('zone') ?? DEFAULTS.zone) as string;
  if (section.has('zone') && kind !== 'at' && kind !== 'cron')
    throw wrong('zone', 'only works with at and cron');
  if (kind === 'after') return { schedule: { kind: 'deploy' }, when: 'after each deploy' };
  if (kind === 'every') {
    const ms = milliseconds(section.get('every'), 0);
    if (ms < MINUTE || ms > DAY_LONG || ms % MINUTE !== 0)
      throw wrong('every', 'must be whole minutes, from 1m to 24h');
    return { schedule: { kind, ms }, when: `every ${String(section.get('every'))}` };
  }
  const texts = listOf(section.get(kind));
  const patterns = kind === 'cron' ? texts : texts.map(patternOf);
  for (const pattern of patterns) {
    const problem = wrongWithPattern(pattern, zone);
    if (problem !== undefined) throw wrong(problem.includes('time zone') ? 'zone' : kind, problem);
  }
  return {
    schedule: { kind: 'times', patterns, zone },
    when: `${kind === 'cron' ? '' : 'at '}${texts.join(', ')} ${zone}`,
  };
}

/** `mon-fri 03:00` as cron writes it. */
function patternOf(text: string): string {
  const [, days = '*', hour, minute] = TIME.exec(text) ?? [];
  return `${Number(minute)} ${Number(hour)} * * ${days.replace(/(\w+)-(\w+)/g, daysBetween)}`;
}

/** cron has no range over the end of a week. */
function daysBetween(range: string, first: string, last: string): string {
  const names = DAY.split('|');
  const [from, to] = [names.indexOf(first), names.indexOf(last)];
  return from <= to ? range : [...names.slice(from), ...names.slice(0, to + 1)].join(',');
}
