/** What the short and the long tests of words share. */
import { spawnSync } from 'node:child_process';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { newStage, shellEnvironment } from './stage.ts';

export const stage = newStage();

export const env = shellEnvironment(stage);

export let program: Promise<string> | undefined;

/** Its text, asked once. */
export function source(): Promise<string> {
  program ??= run('runner-completion', ['bash']).then(
    ({ stdout }) => /<<'(\w+)'\n(.*?)\n\1\n/s.exec(stdout)?.[2] ?? '',
  );
  return program;
}

/** What is offered in place of the last word, with descriptions. */
export async function offered(
  words: readonly string[],
  shell: readonly string[] = ['sh'],
): Promise<string[]> {
  const [file = '', ...args] = shell;
  const { stdout, stderr } = spawnSync(file, [...args, '-s', '--', ...words], {
    input: await source(),
    env,
    encoding: 'utf8',
  });
  assert.is(stderr, '', words.join(' '));
  return stdout.split('\n').slice(0, -1);
}

export const namesOf = (lines: readonly string[]) => lines.map((line) => line.split('\t')[0]);

export const APPS = ['blog', 'shop'];

/** What is typed before the word that is completed, that word, and what is offered. */
export const CASES: readonly (readonly [
  typed: string,
  current: string,
  wanted: readonly string[],
])[] = [
  ['runner tokens', '', ['list', 'test', 'rekey']],
  ['runner help tokens', '', ['list', 'test', 'rekey']],
  ['runner-tokens', '', ['list', 'test', 'rekey']],
  ['/usr/bin/runner tokens', '', ['list', 'test', 'rekey']],
  ['runner-tokens', '-', ['--help', '--version']],
  ['runner', '-', ['--help', '--list', '--version']],
  ['runner status', '', APPS],
  ['runner why', '', APPS],
  ['runner deploy shop', '', APPS],
  ['runner tokens test', '', APPS],
  ['runner fetch', '', APPS],
  ['runner fetch shop', '', APPS],
  ['runner add --token-from', '', APPS],
  ['runner add', '--token-from=', APPS.map((app) => `--token-from=${app}`)],
  ['runner --root /nowhere status', '', []],
  ['runner status --root /nowhere', '', []],
  ['runner status --root=/nowhere', '', []],
  ['runner rollback shop --to', '', ['v2', 'feature/x', 'v1']],
  ['runner rollback --to', '', []],
  ['runner deploy shop --ref', '', ['v3', 'v2', 'feature/x', 'v1']],
  ['runner env unset shop', '', ['API_KEY', 'DATABASE_URL']],
  ['runner rollback shop', '--to=', ['--to=v2', '--to=feature/x', '--to=v1']],
  ['runner rollback shop --no-notify --to', '', ['v2', 'feature/x', 'v1']],
  ['runner rollback -- shop', '', []],
  ['runner rollback shop --instance', '', ['blue', 'green']],
  ['runner rollback blog --instance', '', []],
  ['runner audit emit DeployStarted --project shop --version', '', ['v3', 'v2', 'feature/x', 'v1']],
  ['runner audit emit --project shop --deploy-id', '', ['a1b2c3d4']],
  ['runner debug log shop --deploy', '', ['a1b2c3d4']],
  [
    'runner audit emit',
    '',
    [
      'DeployStarted',
      'DeploySuccess',
      'DeployFailure',
      'RollbackSuccess',
      'AppDown',
      'AppUp',
      'ApprovalWanted',
      'CertEnding',
      'CheckRecovered',
      'DeployWaiting',
      'HeadBehind',
      'JobFailed',
      'JobMissed',
      'JobRecovered',
      'JobSlow',
      'PlanApproved',
      'PlanExpired',
      'TagChanged',
      'TokenEnding',
      'TokenRenewed',
      'WatchEnded',
      'WatchFailed',
      'WatchPassed',
      'AppStarted',
      'AppStopped',
      'AppRestarted',
      'ContractRun',
      'TrafficHeld',
      'TrafficReleased',
      'PreviewReady',
      'PreviewFailed',
      'PreviewRemoved',
    ],
  ],
  ['runner list -o', '', ['human', 'json', 'yaml']],
  ['runner list --output', 'j', ['human', 'json', 'yaml']],
  ['runner list', '--output=', ['--output=human', '--output=json', '--output=yaml']],
  [
    'runner notify setup --channel',
    '',
    ['telegram', 'discord', 'slack', 'ntfy', 'email', 'webhook', 'both'],
  ],
  ['runner notify queue', '', ['list', 'show', 'retry', 'drop']],
  ['runner notify queue retry', '', ['mib0k3v1c-9f2e', 'mib0k3v1e-9f2e']],
  ['runner completion', '', ['bash', 'zsh', 'fish']],
  ['runner add --token-file', '', [':files']],
  ['runner add', '--token-file=', [':files']],
  ['runner list --root', '', [':folders']],
  ['runner add --branch', '', []],
  ['runner foo', '', [':foreign']],
  ['runner foo bar', '-', [':foreign']],
  ['runner-foo', '', [':foreign']],
  ['runner tokens nonsense', '', []],
];
