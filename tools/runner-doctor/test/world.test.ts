/** What the doctor finds around the root: the network, systemd, programs, the disk, and what was left. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, utimesSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSilent } from 'node:net';
import { dirname, join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { COMMIT, deployed, failures, INTERRUPTED, writeState } from '@runner/testing/app-states';
import { startCodeHost } from '@runner/testing/code-host';
import { run, shell } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { examined, mended, programs, put, registered, TOKEN } from './patient.ts';

const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;
const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;

test('with a code host that takes the token and has the same time, all is well', async () => {
  const host = await startCodeHost({ tokens: { [TOKEN]: { login: 'octo', scopes: ['repo'] } } });
  try {
    const root = await registered();
    const env = { RUNNER_CODE_HOST_API_URL: host.apiUrl };
    const { troubles, findings } = await examined(root, { env }, []);
    assert.equal(troubles, []);
    const told = Object.fromEntries(findings.map(({ check, message }) => [check, message]));
    assert.is(told.tokens, 'the token is taken by the code host');
    assert.is(told.clock, 'the code host answers, and this clock agrees with its own');
    assert.is(told.chats, 'no chat is set up: nobody is told');
  } finally {
    await host.close();
  }
});

test('--offline asks nobody, and says what was left out', async () => {
  const root = await registered();
  const env = { RUNNER_CODE_HOST_API_URL: `http://127.0.0.1:${await freePort()}` };
  const { stdout } = await run('runner-doctor', ['--offline', '--json'], { root, env });
  assert.equal(JSON.parse(stdout).skipped, ['tokens', 'chats', 'clock']);
  assert.equal((await examined(root, { env })).troubles, []);
});

test('a token that is refused or ends soon is told, and never shown', async () => {
  const soon = new Date(Date.now() + 3.5 * 86_400_000).toISOString();
  const expires = `${soon.slice(0, 10)} ${soon.slice(11, 19)} UTC`;
  const host = await startCodeHost({
    tokens: { [TOKEN]: { login: 'octo', scopes: null, expires } },
  });
  try {
    const root = await registered();
    const env = { RUNNER_CODE_HOST_API_URL: host.apiUrl };
    const ending = await examined(root, { env }, []);
    assert.is(ending.troubles.length, 1);
    assert.match(
      String(ending.troubles),
      /^warning tokens: the token tk_[0-9a-f]{4}…[0-9a-f]{4} of shop ends in 3 days$/,
    );
    host.revoke(TOKEN);
    const refused = await examined(root, { env }, []);
    assert.is(refused.troubles.length, 1);
    assert.match(
      String(refused.troubles),
      /^problem tokens: the code host refused the token tk_\S+ of 'shop' \(401: Bad credentials\)$/,
    );
    assert.is(
      refused.findings.find(({ level }) => level === 'problem')?.mend,
      'runner edit shop --token -',
    );
    assert.not.ok(JSON.stringify([ending, refused]).includes(TOKEN));
  } finally {
    await host.close();
  }
});

test('a code host that does not answer is told for the tokens and for itself', async () => {
  const root = await registered();
  const port = await freePort();
  const env = { RUNNER_CODE_HOST_API_URL: `http://127.0.0.1:${port}` };
  const { troubles } = await examined(root, { env }, []);
  const refused = `connection refused (connect ECONNREFUSED 127.0.0.1:${port})`;
  assert.is(troubles.length, 2);
  assert.match(
    troubles[0] ?? '',
    /^problem tokens: the token tk_\S+ of shop could not be tested: /,
  );
  assert.is(
    troubles[1],
    `problem clock: the code host http://127.0.0.1:${port} cannot be reached: ${refused}`,
  );
});

test('a code host that hangs holds it up no longer than its time limits', async () => {
  const root = await registered();
  const silent = createSilent(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', () => resolve()));
  const { port } = silent.address() as AddressInfo;
  try {
    const env = { RUNNER_CODE_HOST_API_URL: `http://127.0.0.1:${port}` };
    const { troubles } = await examined(root, { env, timeout: 40_000 }, []);
    assert.is(troubles.length, 2);
    for (const trouble of troubles) assert.match(trouble, /no complete answer within 10 s$/);
  } finally {
    silent.close();
  }
});

test("a clock that differs from the code host's is told, by how much and which way", async () => {
  const root = temporaryFolder('doctor');
  for (const [offset, expected] of [
    [-120, /^warning clock: this clock is (?:119|12[01]) s ahead of the code host's$/],
    [3_600, /^problem clock: this clock is 3(?:599|60[01]) s behind the code host's$/],
  ] as const) {
    const server = createServer((_, response) => {
      response.setHeader('date', new Date(Date.now() + offset * 1000).toUTCString());
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const { port } = server.address() as AddressInfo;
    const env = { RUNNER_CODE_HOST_API_URL: `http://127.0.0.1:${port}` };
    const { troubles } = await examined(root, { env }, []);
    server.close();
    server.closeAllConnections();
    assert.is(troubles.length, 1);
    assert.match(troubles[0] ?? '', expected);
  }
});

test('a chat that is half set up, or that cannot be reached, is told', async () => {
  const host = await startCodeHost({ tokens: {} });
  try {
    const root = temporaryFolder('doctor');
    const env = {
      RUNNER_CODE_HOST_API_URL: host.apiUrl,
      RUNNER_TELEGRAM_API_URL: `http://127.0.0.1:${await freePort()}`,
    };
    put(root, 'config.yml', 'notify:\n  telegram_chat_id: "-100123"\n');
    const half = await examined(root, { env }, []);
    assert.equal(half.troubles, ['warning chats: telegram lacks telegram_bot_token']);
    put(
      root,
      'config.yml',
      'notify:\n  telegram_chat_id: "-100123"\n  telegram_bot_token: "123:abcdefghijklmnopqrstuvwxyz"\n',
    );
    const silent = await examined(root, { env }, []);
    assert.is(silent.troubles.length, 1);
    assert.match(silent.troubles[0] ?? '', /^problem chats: telegram does not take messages/);
    assert.not.ok(JSON.stringify(silent).includes('abcdefghijkl'));
    put(root, 'config.yml', 'notify: {channel: smoke}\n');
    const broken = await examined(root, { env }, []);
    assert.ok(
      broken.troubles.some((each) =>
        each.startsWith('problem chats: the chats could not be asked: '),
      ),
    );
  } finally {
    await host.close();
  }
});

/** A systemctl that shows these states of the two timers. */
function systemctl(
  ...units: readonly (readonly [load: string, active: string, file: string])[]
): string {
  const names = ['runner-fetch.timer', 'runner-notify.timer'];
  const shown = units.map(
    ([load, active, file], index) =>
      `Id=${names[index]}\nLoadState=${load}\nActiveState=${active}\nUnitFileState=${file}\n`,
  );
  return `${programs({ systemctl: `cat <<'END'\n${shown.join('\n')}END` })}:${PATH}`;
}

test('a timer that is not installed, not active, not enabled or has failed is told', async () => {
  const root = await registered();
  const good = ['loaded', 'active', 'enabled'] as const;
  const fetch = 'new commits are not deployed by themselves';
  const flush = 'messages that wait are sent only by the next deploy';
  for (const [units, troubles, mend] of [
    [[good, good], [], undefined],
    [
      [['not-found', 'inactive', ''], good],
      [`warning timers: runner-fetch.timer is not installed: ${fetch}`],
      'systemctl enable --now runner-fetch.timer',
    ],
    [
      [good, ['loaded', 'inactive', 'enabled']],
      [`warning timers: runner-notify.timer is inactive: ${flush}`],
      'systemctl enable --now runner-notify.timer',
    ],
    [
      [['loaded', 'active', 'disabled'], good],
      ['warning timers: runner-fetch.timer runs, but not after the next boot'],
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
    assert.is(told.findings.find(({ level }) => level !== 'ok')?.mend, mend);
  }
  const checked = (minutes: number) =>
    writeState(root, 'shop', {
      last_checked: new Date(Date.now() - minutes * 60_000).toISOString(),
    });
  checked(130);
  assert.equal((await examined(root, { env: { PATH: systemctl(good, good) } })).troubles, [
    'warning timers: the timers are active, but no app was looked at for 2 h',
  ]);
  checked(50);
  assert.equal((await examined(root, { env: { PATH: systemctl(good, good) } })).troubles, []);
  const none = `${programs({ systemctl: 'echo "System has not been booted with systemd" >&2; exit 1' })}:${PATH}`;
  assert.equal((await examined(root, { env: { PATH: none } })).troubles, []);
});

test('git that is old, very old or missing is told, and so is a missing flock or tar', async () => {
  const root = await registered();
  const empty = programs({});
  symlinkSync(process.execPath, join(empty, 'node'));
  const missing = await examined(root, { env: { PATH: empty } });
  assert.equal(missing.troubles, [
    'problem programs: git is missing, or does not answer',
    'problem programs: flock is missing',
    'problem programs: sh is missing',
    'problem programs: tar is missing',
  ]);
  for (const [version, trouble] of [
    ['2.30.2', 'warning programs: git 2.30 reads the settings of its user: 2.32 does not'],
    ['2.20.1', 'problem programs: git 2.20 is too old: 2.24 or newer is needed'],
  ]) {
    const path = `${programs({ git: `echo git version ${version}` })}:${PATH}`;
    assert.equal((await examined(root, { env: { PATH: path } })).troubles, [trouble]);
  }
});

test('a disk that is nearly full, or has few inodes, is told', async () => {
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
        '1 token is stored; the master key is a credential that systemd gives to its services alone',
      mend: null,
    },
  ]);
});

test('what dead deploys and commands left is told', async () => {
  const root = temporaryFolder('doctor');
  writeState(root, 'dead', { deploying: INTERRUPTED });
  writeState(root, 'stuck', { failures: failures(3) });
  writeState(root, 'gone', { instances: { default: { current: deployed('v1'), previous: [] } } });
  writeState(root, 'fine');
  mkdirSync(join(root, 'apps/fine/releases/.tmp-0a1b2c3d'), { recursive: true });
  const stray = put(root, 'state/.fine.json.0123456789ab.tmp', '');
  utimesSync(stray, 0, 0);
  put(root, 'state/.fine.json.0123456789ac.tmp', '');
  const { troubles, findings } = await examined(root);
  assert.equal(troubles, [
    'warning deploys: a deploy of dead died during health: the next one cleans up',
    `warning deploys: ${root}/apps/fine/releases/.tmp-0a1b2c3d was left by a deploy that died`,
    `problem deploys: ${root}/apps/gone/instances/default/current is missing, but v1 should run`,
    'warning deploys: automatic deploys of stuck are blocked: the same commit failed 3 times',
    `warning deploys: ${stray} was left by a command that died`,
  ]);
  assert.equal(
    findings.filter(({ level }) => level !== 'ok').map(({ mend }) => mend),
    [
      'runner deploy dead',
      `rm -rf ${root}/apps/fine/releases/.tmp-0a1b2c3d`,
      'runner deploy gone',
      'runner debug last-error stuck',
      `rm ${stray}`,
    ],
  );
});

test('current has to lead to the release that the state names', async () => {
  const root = temporaryFolder('doctor');
  const { release } = deployed('v1') as { release: string };
  writeState(root, 'shop', { instances: { default: { current: deployed('v1'), previous: [] } } });
  const instance = join(root, 'apps/shop/instances/default');
  mkdirSync(instance, { recursive: true });
  symlinkSync(`../../releases/${release}`, join(instance, 'current'));
  assert.equal((await examined(root)).troubles, [
    `problem deploys: ${instance}/current leads to a release that is gone`,
  ]);
  mkdirSync(join(root, 'apps/shop/releases', release), { recursive: true });
  assert.equal((await examined(root)).troubles, []);
  writeState(root, 'shop', {
    instances: {
      default: { current: deployed('v1', { release: 'another', commit: COMMIT }), previous: [] },
    },
  });
  assert.equal((await examined(root)).troubles, [
    `problem deploys: ${instance}/current does not lead to another, which the state names`,
  ]);
});

test('events that could not be written are told, and the command that is named appends them', async () => {
  const root = await registered();
  const { stdout } = await run(
    'runner-audit',
    ['emit', 'DeployStarted', '--project', 'shop', '--version', 'v1'],
    { root },
  );
  put(root, 'spool/audit/20260504-a1b2c3d4-DeployFailure.jsonl', stdout);
  await mended(root, 'problem spool: 1 event could not be written to the audit log');
  assert.is(readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8'), stdout + stdout);
});

test('messages that wait for long, and those that were given up, are told', async () => {
  const root = await registered();
  const old = put(root, 'spool/notify/mib0k3v1c-9f2e.telegram.json', '{}');
  put(root, 'spool/notify/mib0k3v1d-9f2e.telegram.json', '{}');
  put(root, 'spool/notify/telegram.json', '{}');
  assert.equal((await examined(root)).troubles, []);
  utimesSync(old, 0, 0);
  put(root, 'spool/notify/dead/mib0k3v1e-9f2e.discord.json', '{}');
  assert.equal((await examined(root)).troubles, [
    'warning spool: 1 message waited for more than an hour',
    'warning spool: 1 message could not be delivered and was given up',
  ]);
});

test('a log that has grown large is told', async () => {
  const root = await registered();
  const log = put(root, 'logs/deploy-events.jsonl', '', 0o640);
  assert.equal((await examined(root)).troubles, []);
  truncateSync(log, 64 * 1_048_576);
  const { troubles } = await examined(root);
  assert.is(troubles.length, 1);
  assert.match(troubles[0] ?? '', /^warning logs: \S+deploy-events\.jsonl has grown to 64 MiB: /);
});

test.run();
