/** The contract of plans, approvals and grants. */
import { type Call, call, type Entry, FLOCK, KEY, NO_APP, OUTPUT, SEALED, STATE } from './entry.ts';

/** Of those that compare what a plan is bound to. */
const BOUND = {
  ...STATE,
  ...KEY,
  ...FLOCK,
  ...OUTPUT,
  config_invalid: ['config.yml is no YAML', 'a value in config.yml is wrong'],
  not_writable: ['a file stands in the place of locks'],
} as const;

const withPlan = (...more: string[]): Call => ({ args: ({ plan }) => [plan, ...more] });
const UNKNOWN = [['plan_not_found', call('p-00000000')]] as const;

const planning = (verb: string, ...wrong: NonNullable<Entry['wrong']>): Entry => ({
  command: `plan ${verb}`,
  calls: [call('shop'), call('shop', '--json')],
  writes: true,
  wrong: [...NO_APP, ['usage', call('shop', '--for', '1y')], ...wrong],
  refusals: { ...BOUND, file_unreadable: ['a state file is a folder', 'config.yml is a folder'] },
});

export const APPROVAL: readonly Entry[] = [
  planning('deploy', ['ref_not_found', call('shop', '--ref', 'nope')]),
  planning('rollback', ['version_not_found', call('shop', '--to', 'nope')]),
  planning('restart', ['instance_not_found', call('shop', '--instance', 'nope')]),
  planning('start'),
  planning('stop'),
  {
    ...planning('contract'),
    // No release of it has one.
    calls: [{ ...call('shop'), status: 1 }],
    writes: false,
  },
  {
    command: 'plan list',
    calls: [call(), call('shop', '--json')],
    wrong: NO_APP,
    refusals: OUTPUT,
  },
  {
    command: 'plan show',
    calls: [withPlan(), withPlan('--text'), withPlan('--json')],
    wrong: UNKNOWN,
    refusals: OUTPUT,
  },
  {
    command: 'approve',
    calls: [withPlan('--no-apply'), withPlan('--no-apply', '--json')],
    writes: true,
    changesInSpite: true,
    wrong: [
      ...UNKNOWN,
      ['approval_refused', { args: ({ plan }) => [plan, '--signature', '-'], stdin: () => 'x' }],
    ],
    refusals: { ...BOUND },
  },
  {
    command: 'apply',
    calls: [{ args: ({ ready }) => [ready] }],
    writes: true,
    changesInSpite: true,
    wrong: [...UNKNOWN, ['approval_required', withPlan()]],
    refusals: { ...BOUND, ...SEALED },
  },
  {
    command: 'grant add',
    calls: [call('helper', '--level', 'propose', '--app', 'shop')],
    wrong: [
      ['usage', call('Helper', '--level', 'look', '--app', 'shop')],
      ['name_invalid', call('helper', '--level', 'look', '--app', '../shop')],
      [
        'grant_invalid',
        {
          args: ['helper', '--level', 'look', '--app', 'shop', '--key', '-'],
          stdin: () => 'ssh-ed25519 x\n',
        },
      ],
    ],
    refusals: OUTPUT,
  },
  {
    command: 'grant list',
    calls: [call(), call('--json')],
    refusals: OUTPUT,
  },
  {
    command: 'grant remove',
    calls: [call('kept')],
    wrong: [['grant_invalid', call('nope')]],
    refusals: OUTPUT,
  },
];
