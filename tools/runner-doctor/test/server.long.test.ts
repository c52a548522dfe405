/** What the doctor finds on the server: timers, programs, the disk, a credential of systemd. */
import { spawnSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeState } from '@runner/testing/app-states';
import { shell } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { examined, programs, registered } from './patient.ts';

const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;
const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;

/** A systemctl that shows these states of the timers. */
function systemctl(
  ...units: readonly (readonly [load: string, active: string, file: string])[]
): string {
  const names = ['runner-fetch.timer', 'runner-notify.timer', 'runner-tokens.timer'];
  const shown = units.map(
    ([load, active, file], index) =>
      `Id=${names[index]}\nLoadState=${load}\nActiveState=${active}\nUnitFileState=${file}\n`,
  );
  return `${programs({ systemctl: `cat <<'END'\n${shown.join('\n')}END` })}:${PATH}`;
}

test('a timer that is not installed, not active, not enabled or has failed is reported', async () => {
  const root = await registered();
  const good = ['loaded', 'active', 'enabled'] as const;
  const fetch = 'new commits are not deployed automatically';
  const flush = 'waiting messages are sent only by the next deploy';
  for (const [units, troubles, fix] of [
    [[good, good], [], undefined],
    [
      [good, ['loaded', 'inactive', 'enabled']],
      [`warning timers: runner-notify.timer is inactive: ${flush}`],
      'systemctl enable --now runner-notify.timer',
    ],
    [
      [good, good, ['loaded', 'inactive', 'disabled']],
      ['warning timers: runner-tokens.timer is inactive: expiring tokens are not announced'],
      'systemctl enable --now runner-tokens.timer',
    ],
    [
      [['loaded', 'active', 'disabled'], good],
      [
        'warning timers: runner-fetch.timer is running but not enabled: it will not start at the next boot',
      ],
      'systemctl enable --now runner-fetch.timer',
    ],
    [
      [['loaded', 'failed', 'enabled'], good],
      [`problem timers: runner-fetch.timer has failed: ${fetch}`],
      'systemctl restart runner-fetch.timer',
    ],
  ] as const) {
    const env = { PATH: systemctl(...units) };
    const told = await examined(root, { env });
    assert.equal(told.troubles, troubles);
    assert.is(told.findings.find(({ level }) => level !== 'ok')?.fix, fix);
  }
  const checked = (minutes: number) =>
    writeState(root, 'shop', {
      last_checked: new Date(Date.now() - minutes * 60_000).toISOString(),
    });
  checked(130);
  assert.equal((await examined(root, { env: { PATH: systemctl(good, good) } })).troubles, [
    'warning timers: the timers are active, but no app has been checked for 2 h',
  ]);
  checked(50);
  assert.equal((await examined(root, { env: { PATH: systemctl(good, good) } })).troubles, []);
  const none = `${programs({ systemctl: 'echo "System has not been booted with systemd" >&2; exit 1' })}:${PATH}`;
  assert.equal((await examined(root, { env: { PATH: none } })).troubles, []);
});

test('git that is old, very old or missing is reported, as is a missing flock or tar', async () => {
  const root = await registered();
  const empty = programs({});
  symlinkSync(process.execPath, join(empty, 'node'));
  const missing = await examined(root, { env: { PATH: empty } });
  assert.equal(missing.troubles, [
    'problem programs: git is missing or does not run',
    'problem programs: flock is missing',
    'problem programs: sh is missing',
    'problem programs: tar is missing',
  ]);
  for (const [version, trouble] of [
    ['2.30.2', "warning programs: git 2.30 reads its user's settings; 2.32 does not"],
    ['2.20.1', 'problem programs: git 2.20 is too old: 2.24 or newer is needed'],
  ]) {
    const path = `${programs({ git: `echo git version ${version}` })}:${PATH}`;
    assert.equal((await examined(root, { env: { PATH: path } })).troubles, [trouble]);
  }
});

test('a disk that is nearly full or has few inodes left is reported', async () => {
  if (!canMount) {
    process.stdout.write('(left out: mounting needs root)\n');
    return;
  }
  const root = temporaryFolder('doctor');
  const script = `mount -t tmpfs -o size=8m,nr_inodes=100,mode=0755 none "$1" && exec runner-doctor --offline --json --root "$1"`;
  const { stdout, status } = await shell(`exec unshare -m sh -c '${script}' sh '${root}'`);
  assert.is(status, 1);
  const disk = JSON.parse(stdout).findings.filter(
    ({ check }: { check: string }) => check === 'disk',
  );
  assert.equal(
    disk.map(({ message }: { message: string }) => message.replace(/\d+/, 'N')),
    [`only N MiB are free on the disk of ${root}`, `only N inodes are free on the disk of ${root}`],
  );
});

test('a master key that is a credential of systemd is not missing', async () => {
  if (!canMount) {
    process.stdout.write('(left out: mounting needs root)\n');
    return;
  }
  const root = await registered();
  rmSync(join(root, 'mkey'));
  const script =
    'mount -t tmpfs none /etc && mkdir /etc/credstore && : >/etc/credstore/runner-mkey';
  const { stdout, status } = await shell(
    `exec unshare -m sh -c '${script} && exec runner-doctor --offline --json --root "$1"' sh '${root}'`,
  );
  assert.is(status, 0);
  const keys = JSON.parse(stdout).findings.filter(
    ({ check }: { check: string }) => check === 'keys',
  );
  assert.equal(keys, [
    {
      check: 'keys',
      level: 'ok',
      message:
        '1 token is stored; the master key is a systemd credential that only its services receive',
      fix: null,
      mend: null,
    },
  ]);
});

test('a sandbox without a folder in memory, in which no command starts, is a problem', async () => {
  const root = await registered();
  const doctor = 'RUNNER_SANDBOX=auto exec runner-doctor --offline --json --root "$1"';
  const findingOf = async (before: string) => {
    const { stdout } = await shell(`exec unshare -m sh -c '${before} ${doctor}' sh '${root}'`);
    const { findings } = JSON.parse(stdout);
    return findings.find(({ check }: { check: string }) => check === 'sandbox');
  };
  if (!canMount || (await findingOf('')).level !== 'ok') {
    process.stdout.write('(left out: needs root and bubblewrap)\n');
    return;
  }
  const closed = 'for at in /dev/shm /run; do mount -t tmpfs -o ro none $at; done;';
  const { level, message } = await findingOf(closed);
  assert.equal([level, message.slice(0, 29)], ['problem', 'a folder in memory is needed:']);
});

test.run();
