/** The gauges, and what the alert rules and the dashboard of the documentation name. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const END = '2030-01-01T00:00:00.000Z';

function makeRoot(): string {
  const root = temporaryFolder('root');
  for (const folder of ['state', 'logs', 'apps/shop'])
    mkdirSync(join(root, folder), { recursive: true });
  const current = {
    version: 'v1',
    commit: '1'.repeat(40),
    release: '20260504093000-111111111111',
    deployed_at: '2026-05-04T09:30:12.345Z',
    deploy_id: 'a1b2c3d4',
    start: 'process',
  };
  const state = {
    version: 1,
    app: 'shop',
    repo: 'acme/shop',
    branch: 'main',
    created_at: END,
    updated_at: END,
    state: { repohost_token_ends: END },
    instances: { default: { current, previous: [], broken: { since: END, reason: 'x' } } },
    failures: null,
    held: null,
    deploying: null,
    last_checked: null,
    behind_since: new Date(Date.now() - 3_600_000).toISOString(),
    certificates: {
      'shop.example.org': { ends: END, at: END },
      'b.example': { ends: null, at: END },
    },
    database_backups: [
      {
        at: '2026-05-04T09:30:12.000Z',
        deploy_id: 'a',
        database: 'b',
        variable: 'c',
        migrations: [],
      },
    ],
  };
  writeFileSync(join(root, 'state/shop.json'), JSON.stringify(state), { mode: 0o600 });
  writeFileSync(join(root, 'logs/last-backup'), '2026-05-04T09:30:12.000Z\n');
  return root;
}

/** Each line is a comment of a metric or a sample with labels in quotes and a number. */
const LINE =
  /^(?:# (?:HELP [a-z_]+ \S.*|TYPE [a-z_]+ gauge)|[a-z_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*"(?:,(?=[a-z])|(?=\})))+\})? -?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;

test('the gauges are in the text format of Prometheus, and hold what the state says', async () => {
  const root = makeRoot();
  const { status, stdout, stderr } = await run('runner-status', ['--prometheus', '--offline'], {
    root,
  });
  assert.equal([status, stderr], [0, '']);
  for (const line of stdout.trimEnd().split('\n')) assert.match(line, LINE);
  const value = (name: string) =>
    stdout
      .split('\n')
      .flatMap((line) => (line.startsWith(`${name}`) ? [line.slice(name.length)] : []));
  const seconds = Date.parse(END) / 1000;
  assert.equal(value('runner_app_up'), ['{app="shop",instance="default"} 0']);
  assert.equal(value('runner_app_token_end_timestamp_seconds'), [`{app="shop"} ${seconds}`]);
  assert.equal(value('runner_app_certificate_end_timestamp_seconds'), [
    `{app="shop",domain="shop.example.org"} ${seconds}`,
  ]);
  const behind = Number(value('runner_app_head_behind_seconds')[0]?.split(' ')[1]);
  assert.ok(behind >= 3_600 && behind < 3_700, String(behind));
  assert.equal(value('runner_last_backup_timestamp_seconds'), [' 1777887012']);
  assert.equal(value('runner_unreadable_apps'), [' 0']);
  writeFileSync(join(root, 'state/bad.json'), '{');
  const bad = await run('runner-status', ['--prometheus', '--offline'], { root });
  assert.match(bad.stdout, '\nrunner_unreadable_apps 1\n');
  assert.match(bad.stderr, 'state_malformed');
  const shown = await run('runner-status', ['shop'], { root });
  assert.match(shown.stdout, /certificates: {2}shop\.example\.org until 2030-01-01/);
});

test('the rule NoBackup is also for a server that has never made a backup, which has no gauge of one', async () => {
  const root = makeRoot();
  rmSync(join(root, 'logs/last-backup'));
  const { stdout } = await run('runner-status', ['--prometheus', '--offline'], { root });
  assert.not.match(stdout, /^runner_last_backup_timestamp_seconds/m);
  assert.match(stdout, /^runner_unreadable_apps 0$/m);
  const rules = readFileSync(join(distFolder(), '../docs/monitoring/alerts.yml'), 'utf8');
  const unless = 'runner_unreadable_apps unless on (instance) runner_last_backup_timestamp_seconds';
  assert.match(rules, `or (${unless})`);
});

test('every metric of the alert rules and the dashboard is printed', async () => {
  const root = makeRoot();
  const texts = await Promise.all([
    run('runner-status', ['--prometheus', '--offline'], { root }),
    run('runner-stats', ['--prometheus'], { root }),
  ]);
  const names = new Set(
    texts.flatMap(({ stdout }) => [...stdout.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)),
  );
  for (const file of ['alerts.yml', 'dashboard.json']) {
    const text = readFileSync(join(distFolder(), '../docs/monitoring', file), 'utf8');
    const used = [...text.matchAll(/\brunner_[a-z_]+/g)].map(([name]) => name);
    assert.ok(used.length > 5);
    assert.equal(
      used.filter((name) => !names.has(name)),
      [],
    );
  }
});

test.run();
