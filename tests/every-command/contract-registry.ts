/** The contract of the registry. */
import {
  APPS,
  CHANGE,
  call,
  type Entry,
  KEY,
  NEW,
  NO_APP,
  OPERATION,
  OUTPUT,
  STATE,
  withToken,
} from './entry.ts';
import { TOKENS } from './known-secrets.ts';

/** A public key of age. */
const RECIPIENT = 'age1fu3cx8f30x9crvjxugzslyedx32qc8dfrrq9hxncm8udxnnzx99srujfg0';

export const REGISTRY: readonly Entry[] = [
  {
    command: 'add',
    calls: [
      withToken(...NEW, '--token', '-'),
      withToken(...NEW, '--token', '-', '--ckey'),
      { args: ({ files }) => [...NEW, '--token-file', files.token] },
      call(...NEW, '--token-from', 'shop'),
      call(...NEW, '--token', TOKENS.gitlab),
      call(...NEW),
      call(...NEW, '--public', '--json'),
    ],
    withoutInput: 1,
    writes: true,
    wrong: [
      ['app_exists', withToken(...NEW, '--token', '-', '--name', 'shop')],
      ['name_invalid', withToken('--repo', TOKENS.classic, '--branch', 'main', '--token', '-')],
      [
        'token_invalid',
        { ...withToken(...NEW, '--token', '-'), stdin: () => `${TOKENS.plain}\n${TOKENS.fine}` },
      ],
      ['token_source_no_token', call(...NEW, '--token-from', 'site')],
      ['token_source_not_found', call(...NEW, '--token-from', TOKENS.gitlab.slice(6))],
      ['usage', call(...NEW, '--token', TOKENS.classic, '--token-from', 'shop')],
      ['file_unreadable', call(...NEW, '--token-file', '/nonexistent')],
    ],
    refusals: { ...KEY, ...CHANGE, ...OUTPUT },
  },
  {
    command: 'backup',
    calls: [
      call('--to', 'backup.age', '--recipient', RECIPIENT),
      call('--to', '-', '--recipient', RECIPIENT, '--with-shared'),
      call('--to', 'backup.age', '--recipient', RECIPIENT, '--json'),
    ],
    wrong: [['not_writable', call('--to', '/nonexistent/backup.age', '--recipient', RECIPIENT)]],
    refusals: {
      audit_busy: ['another process writes the audit log'],
      ...CHANGE,
      ...OUTPUT,
      file_unreadable: [
        'a state file is a folder',
        'config.yml is a folder',
        'the audit log is a folder',
        'a file stands in the place of spool',
      ],
    },
  },
  {
    command: 'edit',
    calls: [
      withToken('shop', '--token', '-'),
      withToken('blog', '--token', '-', '--ckey'),
      { args: ({ files }) => ['shop', '--token-file', files.token] },
      call('shop', '--token-from', 'blog'),
      call('shop', '--public', '--branch', 'other', '--json'),
    ],
    withoutInput: 1,
    writes: true,
    wrong: [
      ['app_not_found', call('nope', '--public')],
      ['name_invalid', call('shop', '--branch=--upload-pack=x')],
      ['token_source_not_found', call('shop', '--token-from', 'nope')],
      ['token_source_no_token', call('shop', '--token-from', 'site')],
    ],
    refusals: { ...STATE, ...KEY, ...CHANGE, ...OUTPUT },
  },
  {
    command: 'remove',
    calls: [call('shop', '--yes'), call('shop', '--yes', '--purge', '--json')],
    writes: true,
    wrong: [['app_not_found', call('nope', '--yes')]],
    refusals: OPERATION,
  },
  {
    command: 'prune',
    calls: [call('shop'), call('--dry-run'), call('--json')],
    writes: true,
    wrong: NO_APP,
    refusals: OPERATION,
  },
  {
    command: 'list',
    calls: [call(), call('--json'), call('-o', 'yaml')],
    refusals: APPS,
  },
  {
    command: 'status',
    calls: [call('shop'), call('blog', '--json')],
    wrong: NO_APP,
    refusals: APPS,
  },
  {
    command: 'top',
    calls: [call('--once'), call('--once', '--json'), call('--once', '-o', 'yaml')],
    wrong: [['usage', call('--often')]],
    refusals: {
      ...OUTPUT,
      config_invalid: ['config.yml is no YAML', 'a value in config.yml is wrong'],
      file_unreadable: ['config.yml is a folder'],
    },
  },
  {
    command: 'dashboard',
    calls: [call('--help')],
    wrong: [
      ['usage', call()],
      ['guard_tripped', call('--listen', '127.0.0.1:0')],
    ],
    refusals: OUTPUT,
  },
  {
    command: 'mcp',
    calls: [call()],
    wrong: [['grant_invalid', call('--grant', 'nope')]],
    refusals: {},
  },
  {
    command: 'bell serve',
    calls: [call('--help')],
    wrong: [['usage', call('--listen', 'here')]],
    refusals: OUTPUT,
  },
  {
    command: 'bell add',
    calls: [call('--help')],
    wrong: NO_APP,
    refusals: OUTPUT,
  },
  {
    command: 'preview enable',
    calls: [
      call('shop', '--domain', 'pr-{n}.p.example.org'),
      call('shop', '--domain', 'pr-{n}.p.example.org', '--json'),
    ],
    writes: true,
    wrong: [
      ['app_not_found', call('nope', '--domain', 'pr-{n}.p.example.org')],
      ['usage', call('shop', '--domain', 'p.example.org')],
      ['usage', call('shop', '--domain', 'pr-{n}.p.example.org', '--ttl', 'ever')],
    ],
    refusals: { ...APPS, ...CHANGE },
  },
  {
    command: 'preview disable',
    calls: [call('shop'), call('shop', '--json')],
    writes: true,
    wrong: NO_APP,
    refusals: { ...STATE, ...CHANGE, ...OUTPUT },
  },
  {
    command: 'preview list',
    calls: [call(), call('shop', '--json')],
    wrong: NO_APP,
    refusals: OUTPUT,
  },
  ...(['open', 'remove', 'undo', 'snippet', 'sync'] as const).map(
    (name): Entry => ({
      command: `preview ${name}`,
      calls: [call('--help')],
      wrong: [
        [
          'app_not_found',
          name === 'snippet'
            ? call('nope', '--proxy', 'nginx')
            : call('nope', ...(name === 'sync' ? [] : ['7'])),
        ],
      ],
      refusals: OUTPUT,
    }),
  ),
  { command: 'bell list', calls: [call(), call('--json')], refusals: OUTPUT },
  {
    command: 'bell remove',
    calls: [call('--help')],
    wrong: [['not_configured', call('nope')]],
    refusals: OUTPUT,
  },
  {
    command: 'bell wait',
    calls: [call('--help')],
    wrong: [['usage', call('--timeout', 'ever')]],
    refusals: OUTPUT,
  },
  { command: 'waker', calls: [call('--help')], refusals: OUTPUT },
  {
    command: 'cancel',
    calls: [call('shop'), call('blog', '--json')],
    wrong: NO_APP,
    refusals: { ...STATE, ...OUTPUT },
  },
  {
    command: 'pause',
    calls: [call('shop', '--for', '2h'), call('--all', '--reason', 'a sale', '--json')],
    writes: true,
    wrong: [...NO_APP, ['usage', call('shop', '--for', 'ever')]],
    refusals: { ...STATE, ...CHANGE, ...OUTPUT },
  },
  {
    command: 'contract',
    calls: [call('shop'), call('shop', '--json')],
    wrong: [
      ...NO_APP,
      ['usage', call('shop', '--wait', 'ever')],
      ['plan_not_found', call('shop', '--plan', 'p-00000000')],
    ],
    refusals: { ...STATE, ...OUTPUT },
  },
  {
    command: 'hold-traffic',
    calls: [call('shop', '--end'), call('shop', '--end', '--json')],
    wrong: [
      ...NO_APP,
      ['not_ready', call('shop')],
      ['usage', call('shop', '--for', 'ever')],
      ['file_unreadable', call('shop', '--page', '/nowhere')],
    ],
    refusals: { ...STATE, ...OUTPUT },
  },
  {
    command: 'resume',
    calls: [call('shop'), call('--all', '--json')],
    wrong: NO_APP,
    refusals: { ...STATE, ...CHANGE, ...OUTPUT },
  },
];
