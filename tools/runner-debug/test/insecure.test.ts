/** `last-error --insecure`: reading what is not trusted, loudly and on record. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, shellWord } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  giveTo,
  goodRoot,
  isRoot,
  LOG,
  lastError,
  lastErrorAs,
  leftOut,
  moved,
  SOMEBODY,
  STRANGER,
} from './guarded.ts';
import { failure, logPath, logText, rootWith, writeLog } from './log.ts';

const BANNER = '*** INSECURE: the security guards are bypassed; the audit log records this ***\n';
const recordsOf = (root: string) =>
  readFileSync(logPath(root), 'utf8')
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each) as Record<string, unknown>);

test('--insecure still reads, with a banner, and logs the bypass', async () => {
  const root = goodRoot();
  chmodSync(logPath(root), 0o666);
  chmodSync(join(root, 'mkey'), 0o604);
  for (const args of [[], ['--json'], ['-o', 'yaml']]) {
    const { status, stdout, stderr } = await lastError(root, ['--insecure', ...args]);
    assert.is(
      stderr,
      `${BANNER}*** bypassed: ${logPath(root)} can be written by others; to fix it: chmod go-w ${shellWord(logPath(root))} ***\n*** bypassed: ${join(root, 'mkey')} has secrets that others can read; to fix it: chmod 600 ${shellWord(join(root, 'mkey'))} ***\n`,
    );
    assert.match(stdout, 'v1');
    assert.is(status, 0);
  }
  const records = recordsOf(root);
  assert.is(records.length, 4);
  const { timestamp, deploy_id, seq, prev, ...rest } = records[3] as Record<string, unknown>;
  assert.equal(rest, {
    event_type: 'GuardBypassed',
    project: 'shop',
    instance: 'default',
    version: '',
    guards: [
      { guard: 'writable', path: logPath(root) },
      { guard: 'readable', path: join(root, 'mkey') },
    ],
    command: 'runner debug last-error',
    app: 'shop',
    // Of a uid without an account, `id` prints the number.
    user: spawnSync('id', ['-un'], { encoding: 'utf8' }).stdout.trim(),
    uid: process.getuid?.(),
    event: 'GuardBypassed',
  });
  assert.is(deploy_id, null);
  assert.equal([seq, String(prev).length], [3, 32]);
  assert.is(new Date(String(timestamp)).toISOString(), timestamp);
  const { stdout } = await run('runner-audit', ['list', '--event', 'GuardBypassed', '--json'], {
    root,
  });
  assert.is(stdout.split('\n').length, 4);
});

test('--insecure is recorded even if no guard trips, with the user behind sudo', async () => {
  const root = goodRoot();
  const env = { SUDO_USER: 'ana' };
  const { status, stdout, stderr } = await lastError(root, ['--insecure', '--json'], { env });
  assert.is(stderr, `${BANNER}*** no guard tripped: --insecure is not needed ***\n`);
  assert.is(JSON.parse(stdout).version, 'v1');
  assert.is(status, 0);
  const { guards, sudo_user } = recordsOf(root)[1] as Record<string, unknown>;
  assert.equal([guards, sudo_user], [[], 'ana']);
});

test('a bypass that cannot be recorded is refused, and nothing is shown', async () => {
  const link = goodRoot();
  const path = moved(LOG)(link);
  const refused = await lastError(link, ['--insecure']);
  const message = `--insecure is refused because it cannot be recorded: cannot append to the audit log ${path}: it is a symbolic link`;
  assert.ok(refused.stderr.startsWith(BANNER));
  assert.ok(refused.stderr.endsWith(`\nrunner debug last-error: ${message} (audit_unwritable)\n`));
  assert.equal([refused.status, refused.stdout], [1, '']);
  if (!isRoot) return leftOut('running as another user needs root');
  const root = goodRoot();
  chmodSync(logPath(root), 0o666);
  giveTo(root, SOMEBODY);
  chownSync(logPath(root), STRANGER, STRANGER);
  chmodSync(logPath(root), 0o644);
  const rest = () => Object.entries(tree(root)).filter(([path]) => !path.startsWith('locks/'));
  const before = rest();
  const other = await lastErrorAs(SOMEBODY, root, '--insecure', '--json');
  const why = `--insecure is refused because it cannot be recorded: cannot append to the audit log ${logPath(root)}: permission denied`;
  assert.equal(JSON.parse(other.stdout), { error: 'audit_unwritable', message: why });
  assert.is(other.status, 1);
  assert.equal(rest(), before);
});

test('--insecure is recorded for an unknown app, too', async () => {
  const root = goodRoot();
  const unknown = await run('runner-debug', ['last-error', 'nope', '--insecure'], { root });
  assert.ok(unknown.stderr.startsWith(BANNER));
  assert.match(unknown.stderr, /\nrunner debug last-error: [^\n]+ \(app_not_found\)\n$/);
  const { event_type, app } = recordsOf(root).at(-1) ?? {};
  assert.equal([event_type, app], ['GuardBypassed', 'nope']);
});

test('without a log, --insecure is recorded too, and there is nothing to show', async () => {
  const root = rootWith('shop');
  const config = join(root, 'config.yml');
  writeFileSync(config, `notify: {telegram_bot_token: '123456:${'A'.repeat(35)}'}\n`);
  chmodSync(config, 0o644);
  assert.match((await lastError(root)).stderr, /\(guard_tripped\)\n$/);
  assert.not.ok(existsSync(logPath(root)));
  const { status, stdout, stderr } = await lastError(root, ['--insecure']);
  assert.equal([status, stdout], [1, '']);
  const bypassed = `*** bypassed: ${config} has secrets that others can read; to fix it: chmod 600 ${shellWord(config)} ***\n`;
  assert.is(
    stderr,
    `${BANNER}${bypassed}runner debug last-error: there is no audit log yet: ${logPath(root)} (log_not_found)\n`,
  );
  assert.equal(
    recordsOf(root).map(({ event_type, app, guards }) => ({ event_type, app, guards })),
    [
      {
        event_type: 'GuardBypassed',
        app: 'shop',
        guards: [{ guard: 'readable', path: config }],
      },
    ],
  );
});

test('without a log and the app, --insecure creates nothing', async () => {
  const root = rootWith('shop');
  const mistyped = join(root, 'mistyped');
  const none = await run('runner-debug', ['last-error', 'shop', '--insecure'], { root: mistyped });
  assert.match(none.stderr, /^runner debug last-error: [^\n]+ \(app_not_found\)\n$/);
  assert.is(existsSync(mistyped), false);
});

test('--insecure shows no secret and lets nothing drive the terminal', async () => {
  const root = rootWith('shop');
  const error = `\u001b[2Jfetch https://x-access-token:hunter2hunter2@github.com`;
  writeLog(root, logText([failure('v1', { error })]));
  chmodSync(logPath(root), 0o666);
  const { stdout, stderr } = await lastError(root, ['--insecure']);
  assert.match(stdout, '\\x1b[2Jfetch https://[REDACTED]@github.com');
  assert.not.match(stdout + stderr, /\u001b|hunter2/);
});

test.run();
