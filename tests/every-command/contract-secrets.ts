/** The contract of the secrets and tokens of apps. */
import { CHANGE, call, type Entry, FLOCK, KEY, NO_APP, OUTPUT, SEALED, STATE } from './entry.ts';

export const SECRETS: readonly Entry[] = [
  {
    command: 'env set',
    calls: [
      { ...call('shop', 'A_KEY', '--file', '-'), stdin: () => 'f1rst value of the app' },
      { ...call('shop', 'B_KEY', '--file', '-', '--json'), stdin: () => 'f1rst value of the app' },
    ],
    // An empty value needs --plain.
    withoutInput: 2,
    writes: true,
    wrong: [
      ['app_not_found', { ...call('nope', 'A', '--file', '-'), stdin: () => 'x' }],
      ['usage', call('shop', 'A')],
      ['file_unreadable', call('shop', 'A', '--file', '/nonexistent')],
    ],
    refusals: { ...STATE, ...KEY, ...CHANGE, ...OUTPUT },
  },
  {
    command: 'env import',
    calls: [{ ...call('shop'), stdin: () => 'A_KEY=one value\nB_KEY="two"\n' }],
    writes: true,
    wrong: [['usage', { ...call('shop'), stdin: () => 'nothing' }]],
    refusals: { ...STATE, ...KEY, ...CHANGE, ...OUTPUT },
  },
  {
    command: 'env list',
    calls: [call('shop'), call('blog', '--json')],
    wrong: NO_APP,
    refusals: { ...STATE, ...OUTPUT },
  },
  {
    command: 'env unset',
    calls: [{ ...call('shop', 'NO_KEY'), status: 1 }],
    wrong: [['secret_not_found', call('shop', 'NO_KEY')]],
    refusals: { ...STATE, ...FLOCK },
  },
  {
    command: 'env files',
    calls: [call('--json'), call()],
    refusals: { ...STATE, ...OUTPUT },
  },
  {
    command: 'tokens list',
    calls: [call(), call('--json')],
    refusals: { ...STATE, ...KEY, ...SEALED, ...OUTPUT },
  },
  {
    command: 'tokens test',
    calls: [call('shop'), call('blog', '--json'), call('--all')],
    wrong: NO_APP,
    refusals: {
      ...STATE,
      ...KEY,
      ...SEALED,
      ...OUTPUT,
      file_unreadable: ['a state file is a folder', 'config.yml is a folder'],
      no_token_configured: ['the app has no token'],
      config_invalid: ['config.yml is no YAML'],
      insecure_address: ['an address holds a password'],
      network_error: ['every host hangs up'],
      token_invalid: ['every host answers 401', 'every host answers 403'],
      code_host_error: [
        'every host answers 404',
        'every host answers 500',
        'every host answers no JSON',
      ],
      rate_limited: ['every host answers 429'],
    },
  },
  {
    command: 'tokens rekey',
    calls: [call(), call('--dry-run', '--json')],
    writes: true,
    refusals: { ...STATE, ...KEY, ...SEALED, ...CHANGE, ...OUTPUT },
  },
];
