/** The contract of the audit log, why a deploy failed, and what is about all of it. */
import {
  call,
  type Entry,
  HOSTS_FAIL,
  NO_APP,
  OUTPUT,
  type Refusals,
  STATE,
  withEvent,
} from './entry.ts';

/** Of those that read the audit log from its beginning or end. */
const LOG = {
  ...OUTPUT,
  log_not_found: ['there is no audit log'],
  file_unreadable: ['the audit log is a folder'],
} as const satisfies Refusals;

export const READING: readonly Entry[] = [
  {
    command: 'audit emit',
    calls: [
      withEvent(),
      {
        ...call('DeployFailure', '--project', 'shop', '--version', 'v1', '--error', '-'),
        stdin: ({ log }) => log,
      },
    ],
    writes: true,
    wrong: [['event_invalid', { args: [], stdin: ({ log }) => log }]],
    refusals: {
      ...OUTPUT,
      audit_unwritable: [
        'the audit log is a folder',
        'flock is missing',
        'a file stands in the place of locks',
      ],
      file_unreadable: ['a file stands in the place of spool'],
    },
  },
  {
    command: 'audit anchor',
    calls: [call(), call('--json')],
    refusals: LOG,
  },
  {
    command: 'audit tail',
    calls: [call(), call('--json')],
    refusals: LOG,
  },
  {
    command: 'audit list',
    calls: [call(), call('--json')],
    refusals: LOG,
  },
  {
    command: 'history',
    calls: [call(), call('shop', '--json')],
    wrong: [['event_invalid', { ...call('-'), stdin: () => 'junk' }]],
    refusals: { ...OUTPUT, file_unreadable: ['the audit log is a folder'] },
  },
  {
    command: 'stats',
    calls: [call(), call('--json'), call('--prometheus')],
    wrong: [['app_not_found', { ...call('nope', '-'), stdin: () => '{"event":"DeployStarted"}' }]],
    refusals: { ...OUTPUT, file_unreadable: ['the audit log is a folder'] },
  },
  {
    command: 'report',
    calls: [call('--html', '-'), call('shop', '--html', 'page.html', '--json')],
    wrong: [['not_writable', call('--html', '/nonexistent/page.html')]],
    refusals: { ...OUTPUT, file_unreadable: ['the audit log is a folder'] },
  },
  {
    command: 'audit verify',
    calls: [call(), call('--json')],
    refusals: {
      ...LOG,
      file_unreadable: ['the audit log is a folder', 'a file stands in the place of spool'],
    },
  },
  {
    command: 'doctor',
    calls: [call(), call('--json', '--offline')],
    refusals: {
      ...OUTPUT,
      'status 1': [
        'a state file is damaged',
        'a state file is newer',
        'a state file is a folder',
        'the master key is lost',
        'others may read the master key',
        'the master key is damaged',
        'the master key is another one',
        'a token is damaged',
        'a token is that of another app',
        'config.yml is no YAML',
        'a value in config.yml is wrong',
        'an address holds a password',
        'a chat is not reached by https',
        'config.yml is a folder',
        'the audit log is a folder',
        'others may write the audit log',
        'flock is missing',
        'a file stands in the place of spool',
        'the releases are gone',
        ...HOSTS_FAIL,
      ],
    },
  },
  {
    command: 'completion',
    calls: [call('bash'), call('zsh', '--json'), call('fish')],
    refusals: OUTPUT,
  },
  {
    command: 'debug last-error',
    calls: [call('shop'), call('shop', '--json'), call('shop', '--insecure')],
    wrong: NO_APP,
    refusals: {
      ...STATE,
      ...OUTPUT,
      file_unreadable: ['a state file is a folder', 'the audit log is a folder'],
      guard_tripped: ['others may read the master key', 'others may write the audit log'],
      log_not_found: ['there is no audit log'],
    },
  },
  {
    command: 'why',
    calls: [call('shop'), call('shop', '--json')],
    wrong: NO_APP,
    refusals: {
      ...STATE,
      ...OUTPUT,
      file_unreadable: ['a state file is a folder', 'the audit log is a folder'],
      guard_tripped: ['others may read the master key', 'others may write the audit log'],
    },
  },
  {
    command: 'debug log',
    calls: [
      call('shop'),
      { args: ({ failedDeploy }) => ['shop', '--deploy', failedDeploy, '--json'] },
    ],
    wrong: [...NO_APP, ['deploy_not_found', call('shop', '--deploy', 'zzzzzzzz')]],
    refusals: {
      ...STATE,
      ...OUTPUT,
      file_unreadable: [
        'a state file is a folder',
        'the audit log is a folder',
        'a file stands in the place of spool',
      ],
      log_not_found: ['there is no audit log'],
    },
  },
  {
    command: 'debug extract',
    calls: [
      { args: [], stdin: ({ log }) => log },
      { args: ['--app', 'shop', '--json'], stdin: ({ log }) => log },
    ],
    wrong: [['file_unreadable', call('--baseline', '/nonexistent')]],
    refusals: OUTPUT,
  },
];
