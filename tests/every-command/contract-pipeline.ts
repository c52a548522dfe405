/** The contract of what deploys. */
import {
  type Call,
  call,
  type Entry,
  FLOCK,
  KEY,
  NO_APP,
  OPERATION,
  OUTPUT,
  type Refusals,
  SEALED,
  STATE,
} from './entry.ts';

/** Of those that ask the code host. */
const ASKING = {
  ...STATE,
  ...KEY,
  ...SEALED,
  ...FLOCK,
  ...OUTPUT,
  file_unreadable: ['a state file is a folder', 'config.yml is a folder'],
  config_invalid: ['config.yml is no YAML'],
  token_invalid: ['the app has no token', 'every host answers 401', 'every host answers 403'],
  insecure_address: ['an address holds a password'],
  network_error: ['every host hangs up'],
  not_writable: ['a file stands in the place of locks'],
  repo_not_found: ['every host answers 404'],
  rate_limited: ['every host answers 429'],
  code_host_error: ['every host answers 500', 'every host answers no JSON'],
} as const satisfies Refusals;

/** Of those that deploy what they find there: no deploy begins without its record. */
const DEPLOYING = {
  ...ASKING,
  audit_unwritable: ['the audit log is a folder'],
  audit_busy: ['another process writes the audit log'],
  branch_not_found: ['the branch is gone'],
} as const satisfies Refusals;

/** What starting, stopping and restarting an app have in common. */
const lifecycle = (command: string, ...more: readonly Call[]): Entry => ({
  command,
  calls: [call('shop'), call('shop', '--json'), ...more],
  writes: true,
  changesInSpite: true,
  wrong: [...NO_APP, ['instance_not_found', call('shop', '--instance', 'nope')]],
  refusals: { ...OPERATION, 'status 1': ['the releases are gone'] },
});

export const PIPELINE: readonly Entry[] = [
  {
    command: 'deploy',
    calls: [
      call('shop', '--no-notify'),
      call('shop'),
      call('blog', '--no-notify', '--json'),
      call('site', '--verbose', '--no-notify'),
      call('shop', '--check', '--json'),
      call('shop', '--ref', 'v2', '--no-notify'),
    ],
    writes: true,
    changesInSpite: true,
    wrong: [
      ...NO_APP,
      ['ref_not_found', call('shop', '--ref', 'nope')],
      ['instance_not_found', call('shop', '--instance', 'nope')],
      ['deploy_file_invalid', call('site', '--ref', 'broken', '--check', '--json')],
    ],
    refusals: {
      ...DEPLOYING,
      locked: ['a deploy of the app runs', 'another command changes the registry'],
    },
  },
  {
    command: 'changes',
    calls: [call('shop'), call('shop', '--json')],
    writes: true,
    wrong: [...NO_APP, ['ref_not_found', call('shop', 'nope')]],
    refusals: { ...ASKING, locked: ['a deploy of the app runs'] },
  },
  {
    command: 'diff',
    calls: [call('shop'), call('shop', '--json'), call('shop', 'v1', 'v2')],
    writes: true,
    wrong: [...NO_APP, ['ref_not_found', call('shop', 'nope')]],
    refusals: { ...ASKING, locked: ['a deploy of the app runs'] },
  },
  {
    command: 'verify',
    calls: [
      { ...call('shop', '--last', '2'), status: 1 },
      call('shop', '--json'),
      call('shop', '--statement'),
      call('--public-key'),
    ],
    writes: true,
    wrong: [
      ...NO_APP,
      ['usage', call('shop', '--last', '0')],
      ['usage', call('shop', '--tree', '/tmp')],
      ['usage', call()],
      ['file_unreadable', call('shop', '--key', '/nowhere/server.pub')],
    ],
    refusals: {
      ...ASKING,
      branch_not_found: ['the branch is gone'],
      locked: ['a deploy of the app runs'],
    },
  },
  {
    command: 'fetch',
    calls: [
      call('shop', '--deploy', '--no-notify', '--json'),
      call('--deploy', '--no-notify'),
      call('--quiet'),
    ],
    writes: true,
    changesInSpite: true,
    wrong: NO_APP,
    refusals: {
      ...DEPLOYING,
      file_unreadable: [...ASKING.file_unreadable, 'a file stands in the place of spool'],
      config_invalid: ['config.yml is no YAML', 'a value in config.yml is wrong'],
      locked: ['another command changes the registry'],
    },
  },
  {
    command: 'rollback',
    calls: [call('shop', '--no-notify'), call('shop', '--json')],
    writes: true,
    changesInSpite: true,
    wrong: [
      ...NO_APP,
      ['instance_not_found', call('shop', '--instance', 'nope')],
      ['version_not_found', call('shop', '--to', 'v9')],
      ['usage', call('shop', '--wait', 'soon')],
    ],
    refusals: { ...OPERATION, version_not_found: ['the releases are gone'] },
  },
  {
    command: 'watch',
    calls: [call('shop'), call('shop', '--json'), call('shop', '--carry')],
    wrong: [...NO_APP, ['not_ready', call('shop', '--proxy', 'nginx')]],
    refusals: { ...STATE, ...OUTPUT },
  },
  lifecycle('start'),
  lifecycle('stop', call('shop', '--before-traffic')),
  lifecycle('restart'),
  {
    command: 'exec',
    calls: [call('shop', '--', 'echo', 'done'), call('shop', '--', 'sh', '-c', 'exit 0')],
    wrong: [
      ['app_not_found', call('nope', '--', 'true')],
      ['instance_not_found', call('shop', '--instance', 'nope', '--', 'true')],
      ['usage', call('shop')],
      ['program_not_found', call('shop', '--', 'nosuch')],
      ['program_not_executable', call('shop', '--', '/usr')],
    ],
    refusals: {
      ...STATE,
      version_not_found: ['the releases are gone'],
      // The status of the program that cannot print.
      'status 1': ['standard output is full'],
    },
  },
  {
    command: 'logs',
    calls: [{ ...call('shop'), status: 1 }],
    wrong: [...NO_APP, ['log_not_found', call('shop')]],
    refusals: STATE,
  },
];
