/** The contract of jobs. */
import { call, type Entry, FLOCK, NO_APP, OUTPUT, STATE } from './entry.ts';

const NO_JOB = [
  ['app_not_found', call('nope', 'tidy')],
  ['job_not_found', call('shop', 'nope')],
] as const;

/** What pausing and resuming a job have in common. */
const resting = (command: string): Entry => ({
  command,
  calls: [call('shop', 'tidy'), call('shop', 'tidy', '--json')],
  writes: true,
  wrong: NO_JOB,
  refusals: {
    ...STATE,
    ...FLOCK,
    ...OUTPUT,
    not_writable: ['a file stands in the place of locks', 'the releases are gone'],
  },
});

export const JOBS: readonly Entry[] = [
  {
    command: 'jobs list',
    calls: [call('shop'), call('--json')],
    wrong: NO_APP,
    refusals: { ...STATE, ...OUTPUT },
  },
  {
    command: 'jobs run',
    calls: [call('shop', 'tidy'), call('shop', 'tidy', '--json'), call('--due')],
    writes: true,
    changesInSpite: true,
    wrong: [...NO_JOB, ['usage', call('shop')], ['usage', call('shop', 'tidy', '--due')]],
    refusals: {
      ...STATE,
      ...FLOCK,
      ...OUTPUT,
      not_writable: ['a file stands in the place of locks', 'the releases are gone'],
      // The run has failed, and is kept.
      'status 1': ['config.yml is no YAML', 'config.yml is a folder'],
    },
  },
  {
    command: 'jobs log',
    calls: [call('shop', 'tidy'), call('shop', 'tidy', '--json')],
    wrong: [...NO_JOB, ['log_not_found', call('shop', 'tidy', '--run', 'nope')]],
    refusals: {
      ...STATE,
      ...OUTPUT,
      log_not_found: ['there is no audit log'],
      job_not_found: ['the releases are gone'],
    },
  },
  resting('jobs pause'),
  resting('jobs resume'),
];
