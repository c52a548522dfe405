/** Who looks after a root, timers or cron, and what rotates its logs. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeState } from '@runner/testing/app-states';
import { executable, shell, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { examined, type Finding, programs, registered } from './patient.ts';

const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;
const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;

/** A systemctl that shows these units, a crontab in a file, and the account asked for. */
function serverWith(units: readonly string[]): string {
  const tab = join(temporaryFolder('cron'), 'tab');
  const crontab = `[ "$1" = - ] && cat >'${tab}.new' && exec mv '${tab}.new' '${tab}'\nexec cat '${tab}'`;
  const systemctl = `cat <<'END'\n${units.join('\n\n')}\nEND`;
  return `${programs({ systemctl, crontab })}:${PATH}`;
}

const timer = (name: string, load: string, active: string, file: string) =>
  `Id=runner-${name}.timer\nLoadState=${load}\nActiveState=${active}\nUnitFileState=${file}`;

test('where no timer serves the root, a line for cron is printed, and fixes it', async () => {
  // cron ends a line at a bare %.
  const root = join(temporaryFolder('root'), '100%');
  renameSync(await registered(), root);
  const elsewhere = [
    'ExecStart={ path=/usr/lib/runner/bin/runner-fetch ; argv[]=/usr/lib/runner/bin/runner-fetch --root /opt/runner --deploy --quiet ; ignore_errors=no }\nUser=runner\nId=runner-fetch.service\nLoadState=loaded\nActiveState=inactive\nUnitFileState=static',
    timer('fetch', 'loaded', 'active', 'enabled'),
    timer('notify', 'loaded', 'active', 'enabled'),
  ];
  const absent = [
    timer('fetch', 'not-found', 'inactive', ''),
    timer('notify', 'not-found', 'inactive', ''),
  ];
  for (const [units, why] of [
    [elsewhere, 'is for another root'],
    [absent, 'is not installed'],
  ] as const) {
    const env = { PATH: serverWith(units) };
    const told = await examined(root, { env });
    assert.equal(told.troubles, [
      `warning timers: runner-fetch.timer ${why}: new commits are not deployed automatically`,
      `warning timers: runner-notify.timer ${why}: waiting messages are sent only by the next deploy`,
    ]);
    for (const { fix } of told.findings.filter(({ level }) => level !== 'ok'))
      assert.is((await shell(`${fix}`, { root, env })).status, 0, `${fix}`);
    assert.equal((await examined(root, { env })).troubles, []);
    const { stdout } = await shell('crontab -l', { root, env });
    assert.equal(
      stdout.trimEnd().split('\n'),
      ['runner-fetch --deploy --quiet', 'runner-notify flush'].map((line) => {
        const [tool = '', ...args] = line.split(' ');
        const typed = [shellWord(executable(tool)), ...args, '--root', shellWord(root)];
        return `* * * * * ${typed.join(' ').replaceAll('%', '\\%')}`;
      }),
    );
  }
});

test('without systemd, cron is advised for jobs where an app has some', async () => {
  const root = await registered();
  const env = { PATH: `${programs({ systemctl: 'exit 1' })}:${PATH}` };
  const advice = async () => {
    const { findings } = await examined(root, { env });
    return findings.find(({ check }) => check === 'timers')?.message;
  };
  const words = 'systemd is not running here: use cron to run runner fetch --deploy';
  assert.is(await advice(), words);
  mkdirSync(join(root, 'apps/shop'), { recursive: true });
  writeFileSync(join(root, 'apps/shop/jobs.json'), '{"of":"","jobs":{}}');
  assert.is(await advice(), `${words} and runner jobs run --due`);
  const long = new Date(Date.now() - 5 * 3_600_000).toISOString();
  writeState(root, 'shop', { last_checked: long });
  assert.is(await advice(), 'systemd is not running here, and no app has been checked for 5 h');
});

test('the timer of the digest is missed only where the digest is wanted', async () => {
  const root = await registered();
  const good = ['fetch', 'notify', 'tokens'].map((name) =>
    timer(name, 'loaded', 'active', 'enabled'),
  );
  const digest = timer('digest', 'loaded', 'inactive', 'disabled');
  const env = { PATH: serverWith([...good, digest]) };
  assert.equal((await examined(root, { env })).troubles, []);
  writeFileSync(join(root, 'config.yml'), 'notify: { digest: true }\n', { mode: 0o600 });
  const { troubles, findings } = await examined(root, { env });
  assert.equal(troubles, [
    'warning timers: runner-digest.timer is inactive: the weekly digest of notify.digest is not sent',
  ]);
  assert.is(
    findings.find(({ level }) => level !== 'ok')?.fix,
    'systemctl enable --now runner-digest.timer',
  );
});

test('the timer of jobs is missed only where an app has jobs', async () => {
  const root = await registered();
  const good = ['fetch', 'notify', 'tokens'].map((name) =>
    timer(name, 'loaded', 'active', 'enabled'),
  );
  const env = { PATH: serverWith([...good, timer('jobs', 'loaded', 'inactive', 'disabled')]) };
  assert.equal((await examined(root, { env })).troubles, []);
  mkdirSync(join(root, 'apps/shop'), { recursive: true });
  writeFileSync(join(root, 'apps/shop/jobs.json'), '{"of":"","jobs":{}}\n', { mode: 0o640 });
  const { troubles } = await examined(root, { env });
  assert.equal(troubles, [
    'warning timers: runner-jobs.timer is inactive: jobs begin only when runner fetch --deploy looks for them',
  ]);
});

test('a root that belongs to another user than the one of the timers is reported', async () => {
  const root = await registered();
  const units = [
    `ExecStart={ argv[]=/x/runner-fetch --root ${root} --deploy --quiet ; }\nUser=nobody\nId=runner-fetch.service\nLoadState=loaded\nActiveState=inactive\nUnitFileState=static`,
    timer('fetch', 'loaded', 'active', 'enabled'),
    timer('notify', 'loaded', 'active', 'enabled'),
  ];
  const { troubles, findings } = await examined(root, { env: { PATH: serverWith(units) } });
  const uid = process.getuid?.();
  assert.equal(troubles, [
    `problem timers: the timers run as nobody, but ${root} belongs to user ${uid}`,
  ]);
  const fix = findings.find(({ level }) => level !== 'ok')?.fix;
  assert.is(fix, `chown -R --from=${uid} nobody: ${shellWord(root)}`);
});

test('a log that nothing rotates is reported with the command that rotates it', async () => {
  if (!canMount || spawnSync('logrotate', ['--version']).error !== undefined) {
    process.stdout.write('(left out: mounting needs root, and logrotate)\n');
    return;
  }
  const root = await registered();
  const script = `set -e
mount -t tmpfs none /etc/logrotate.d
mkdir -m 0750 "$RUNNER_ROOT/logs"
look() { runner-doctor --offline --json --root "$RUNNER_ROOT"; }
head -c 2000000 /dev/zero >"$RUNNER_ROOT/logs/deploy-events.jsonl"
chmod 640 "$RUNNER_ROOT/logs/deploy-events.jsonl"
printf '/opt/runner/logs/fetch.log {\n}\n' >/etc/logrotate.d/runner
look >before || :
sh -c "$(node -p 'JSON.parse(require("fs").readFileSync("before")).findings.find((f) => f.level !== "ok").fix')"
look >after
logrotate --state "$PWD/state" --force /etc/logrotate.d/runner-*
ls "$RUNNER_ROOT/logs"`;
  const cwd = temporaryFolder('rotation');
  const done = await shell(`exec unshare -m sh -c '${script.replaceAll("'", "'\\''")}'`, {
    root,
    cwd,
  });
  assert.is(done.status, 0, done.stderr);
  assert.is(done.stdout, 'deploy-events.jsonl.1\n');
  const logs = (file: string) =>
    JSON.parse(readFileSync(join(cwd, file), 'utf8'))
      .findings.filter(({ check }: { check: string }) => check === 'logs')
      .map(({ level, message }: Finding) => `${level} ${message}`);
  const log = join(root, 'logs/deploy-events.jsonl');
  assert.equal(logs('before'), [`warning ${log} has grown to 1 MiB: nothing rotates it`]);
  assert.match(logs('after').join(), /^ok \/etc\/logrotate\.d\/runner-.* rotates the logs$/);
});

test.run();
