import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { list, variedRoot, versions } from './list.ts';
import { line, logPath, newRoot, record, rootWithLog } from './log.ts';

test('a person sees a table of at most 80 columns', async () => {
  const root = variedRoot();
  const { status, stdout, stderr } = await list(root);
  assert.is(
    stdout,
    `TIME (UTC)           EVENT          APP             VERSION  DEPLOY
2026-05-04 09:00:00  DeployStarted  shop            v1       a1b2c3d4
2026-05-04 09:01:00  DeploySuccess  shop/eu-1       v2       a1b2c3d4
2026-05-05 10:00:00  DeployFailure  shop            v3       -
2026-05-06 00:00:00  DeployStarted  shop-2          v4       ffff0000
2026-05-06 23:59:59  DeployStarted  shop/eu-1,us-1  v5       ffff0000
2026-05-07 00:00:00  DeployStarted  blog            v6       a1b2c3d4
`,
  );
  assert.equal([status, stderr], [0, '']);
  const long = {
    instance: 'prod-eu',
    version: '0123456789ab',
    event_type: 'RollbackSuccess',
  };
  const wide = await list(rootWithLog(line(record('v', { project: 'checkout', ...long }))));
  assert.ok(
    wide.stdout.split('\n').every((each) => each.length <= 80),
    wide.stdout,
  );
});

test('a line that is nested too deeply is no record to any reader', async () => {
  const levels = 100_000;
  const bad = `{"event":"DeployFailure","app":"shop","x":${'['.repeat(levels)}${']'.repeat(levels)}}\n`;
  const log = line(record('v1')) + bad;
  const root = rootWithLog(log);
  const reading = [
    ['runner-audit', 'list', '--json'],
    ['runner-audit', 'list', '-o', 'yaml'],
    ['runner-audit', 'tail', '--json'],
    ['runner-history', '--json', '-'],
    ['runner-stats', '--json', '-'],
    ['runner-notify', 'send', '--channel', 'discord', '--json', '--dry-run'],
  ] as const;
  for (const [tool, ...args] of reading) {
    const { stdout, stderr } = await run(tool, args, { root, stdin: log });
    const said = /skipped 1 line|line 2: it is not a JSON object/;
    assert.match(stderr, said, `${tool} ${args.join(' ')}: ${stderr.slice(0, 300)}`);
    assert.not.equal(stdout, '');
  }
});

test('a call of an agent is shown with its grant, its tool and how it went', async () => {
  const call = { event_type: 'AgentCall', grant: 'claude', tool: 'status', outcome: 'done' };
  const { stdout } = await list(rootWithLog(line(record('', { project: 'shop', ...call }))));
  assert.match(stdout, /AgentCall +shop +- +claude status: done$/m);
});

test('each filter works, alone and combined', async () => {
  const root = variedRoot();
  for (const [args, expected] of [
    [[], ['v1', 'v2', 'v3', 'v4', 'v5', 'v6']],
    [
      ['--project', 'shop'],
      ['v1', 'v2', 'v3', 'v5'],
    ],
    [['--project', 'shop-2'], ['v4']],
    [['--event', 'DeployFailure'], ['v3']],
    [['--event', 'RollbackSuccess'], []],
    [
      ['--instance', 'default'],
      ['v1', 'v3', 'v4', 'v6'],
    ],
    [
      ['--instance', 'eu-1'],
      ['v2', 'v5'],
    ],
    [['--instance', 'us-1'], ['v5']],
    [['--instance', 'eu-1,us-1'], ['v5']],
    [['--instance', 'us-1,eu-1'], ['v5']],
    [['--instance', 'eu-1,default'], []],
    [
      ['--deploy', 'ffff0000'],
      ['v4', 'v5'],
    ],
    [
      ['--since', '2026-05-06'],
      ['v4', 'v5', 'v6'],
    ],
    [
      ['--since', '2026-05-06T00:00:00.001Z'],
      ['v5', 'v6'],
    ],
    [
      ['--until', '2026-05-06'],
      ['v1', 'v2', 'v3', 'v4', 'v5'],
    ],
    [['--until', '2026-05-04 09:00'], ['v1']],
    [['--since', '2026-05-05T12:00:00+02:00', '--until', '2026-05-05T10:00Z'], ['v3']],
    [['--since', '2026-05-04T09:00:00z', '--until', '2026-05-04T09:00:59.999999'], ['v1']],
    [
      ['-n', '2'],
      ['v5', 'v6'],
    ],
    [['-n', '0'], []],
    [
      ['--lines', '100000', '--project', 'shop'],
      ['v1', 'v2', 'v3', 'v5'],
    ],
    [['-n', '1', '--project', 'shop', '--until', '2026-05-05'], ['v3']],
    [['--project', 'shop', '--deploy', 'ffff0000', '--instance', 'us-1'], ['v5']],
  ] as const) {
    assert.equal([args, await versions(root, ...args)], [args, expected]);
  }
});

test('no match is not a failure; a missing log is log_not_found', async () => {
  const root = rootWithLog('');
  const human = await list(root);
  assert.equal([human.status, human.stdout, human.stderr], [0, 'No such events.\n', '']);
  for (const args of [['--json'], ['-o', 'yaml'], ['--json', '-n', '3']]) {
    const { status, stdout, stderr } = await list(root, ...args);
    assert.equal([status, stdout, stderr], [0, '', '']);
  }
  const nowhere = newRoot();
  const { status, stdout, stderr } = await list(nowhere, '--json');
  const message = `there is no audit log yet: ${logPath(nowhere)}`;
  assert.equal(JSON.parse(stdout), { error: 'log_not_found', message });
  assert.is(stderr, `runner audit list: ${message} (log_not_found)\n`);
  assert.is(status, 1);
});

for (const [args, sentence] of [
  [['--since', 'tomorrow'], badTime('since', 'tomorrow')],
  [['--since', '2026-02-30'], badTime('since', '2026-02-30')],
  [['--until', '2026-05-04T25:00Z'], badTime('until', '2026-05-04T25:00Z')],
  [['--until', '2x'], badTime('until', '2x')],
  [['--until', '-2h'], badTime('until', '-2h')],
  [['--since', '1h', '--until', '2h'], "'--since 1h' is later than '--until 2h'"],
  [['-n', 'all'], "invalid value 'all' for '--lines <N>': it must be a whole number up to 100000"],
  [
    ['-n', '100001'],
    "invalid value '100001' for '--lines <N>': it must be a whole number up to 100000",
  ],
  [
    ['--event', 'DeploySuccess,Party'],
    "invalid value 'Party' for '--event <EVENT>' [possible values: DeployStarted, DeploySuccess, DeployFailure, RollbackSuccess, AppDown, AppUp, ApprovalWanted, CertEnding, CheckRecovered, DeployWaiting, HeadBehind, JobFailed, JobMissed, JobRecovered, JobSlow, PlanApproved, PlanExpired, TagChanged, TokenEnding, TokenRenewed, WatchEnded, WatchFailed, WatchPassed, AppStarted, AppStopped, AppRestarted, ContractRun, TrafficHeld, TrafficReleased, PreviewReady, PreviewFailed, PreviewRemoved, GuardBypassed, AgentCall]",
  ],
  [['shop'], "unexpected argument 'shop' found"],
] as const) {
  test(`wrong usage: list ${args.join(' ')}`, async () => {
    const { status, stdout, stderr } = await list(newRoot(), ...args);
    assert.equal([status, stdout, stderr], [2, '', `error: ${sentence}\n`]);
  });
}

function badTime(option: string, value: string): string {
  return `invalid value '${value}' for '--${option} <TIME>': it must be a time such as 2026-05-04T09:30Z, a date, or how long ago: 30m, 2h, 7d`;
}

test.run();
