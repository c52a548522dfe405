import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asNobody, run, shell, start } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { line, logOf, logPath, newRoot, record, rootWithLog, unlinked } from './log.ts';

const isRoot = process.getuid?.() === 0;
const canMount = isRoot && spawnSync('unshare', ['-m', 'true']).status === 0;
const SHOP = ['emit', 'DeployStarted', '--project', 'shop', '--version', 'v1'];

function leftOut(reason: string): void {
  process.stdout.write(`(left out: ${reason})\n`);
}

test('an event that cannot be appended is refused and reported, and not echoed', async () => {
  const folder = newRoot();
  mkdirSync(logPath(folder), { recursive: true });
  const link = newRoot();
  mkdirSync(join(link, 'logs'), { recursive: true });
  symlinkSync('../elsewhere', logPath(link));
  const pipe = newRoot();
  mkdirSync(join(pipe, 'logs'), { recursive: true });
  spawnSync('mkfifo', [logPath(pipe)]);
  const file = newRoot();
  mkdirSync(file);
  writeFileSync(join(file, 'logs'), 'a file');
  for (const [root, why] of [
    [folder, 'it is a directory'],
    [link, 'it is a symbolic link'],
    [pipe, 'it is not a regular file'],
  ] as const) {
    mkdirSync(join(root, 'locks'));
    writeFileSync(join(root, 'locks/.audit.lock'), '');
    const before = Object.keys(tree(root));
    const { status, stdout, stderr } = await run('runner-audit', [...SHOP, '--json'], { root });
    const message = `cannot append to the audit log ${logPath(root)}: ${why}`;
    assert.is(stderr, `runner audit emit: ${message} (audit_unwritable)\n`);
    assert.equal(JSON.parse(stdout), { error: 'audit_unwritable', message });
    assert.is(status, 1);
    assert.equal(Object.keys(tree(root)), before);
  }
  const { status, stderr } = await run('runner-audit', SHOP, { root: file });
  assert.is(status, 1);
  assert.match(stderr, /^runner audit emit: cannot [^\n]+ \(audit_unwritable\)\n$/);
});

test('a log without write permission is reported, and nothing is echoed', async () => {
  if (!isRoot) return leftOut('running as another user needs root');
  const root = rootWithLog(line(record('v0')));
  const { status, stdout, stderr } = await shell(`${asNobody('runner-audit')} ${SHOP.join(' ')}`, {
    root,
  });
  assert.equal(
    [status, stdout, stderr],
    [
      1,
      '',
      `runner audit emit: cannot append to the audit log ${logPath(root)}: cannot make the folder ${root}/locks: permission denied (audit_unwritable)\n`,
    ],
  );
  assert.is(logOf(root), line(record('v0')));
});

test('appending needs write access to the log and its lock; without it the error names what is closed', async () => {
  if (!isRoot) return leftOut('running as another user needs root');
  const root = rootWithLog(line(record('v0')));
  const spool = join(root, 'spool/audit');
  mkdirSync(spool, { recursive: true });
  const kept = line(record('v-kept', { late: true }));
  writeFileSync(join(spool, '20260504093000000-a1b2c3d4-DeployFailure.jsonl'), kept);
  const emit = (gid: number, stdin = '') =>
    shell(`${asNobody('runner-audit', gid)} ${stdin === '' ? SHOP.join(' ') : 'emit'}`, {
      root,
      stdin,
    });
  const lock = join(root, 'locks/.audit.lock');
  mkdirSync(join(root, 'locks'), { mode: 0o755 });
  writeFileSync(lock, '');
  for (const path of [logPath(root), lock]) {
    chownSync(path, 0, 64_321);
    chmodSync(path, 0o660);
  }
  const refused = `runner audit emit: cannot append to the audit log ${logPath(root)}: cannot open the lock ${lock}: permission denied (audit_unwritable)\n`;
  // The folder above cannot be entered, then only the events that wait can be read and not removed.
  for (const mode of [0o700, 0o755]) {
    chmodSync(join(root, 'spool'), mode);
    for (const stdin of ['', line(record('v2'))]) {
      const before = logOf(root);
      const member = await emit(64_321, stdin);
      assert.equal([member.status, member.stderr], [0, '']);
      assert.is(logOf(root), before + member.stdout);
      const stranger = await emit(65_534, stdin);
      assert.equal([stranger.status, stranger.stdout, stranger.stderr], [1, '', refused]);
    }
  }
  // Who may does their work.
  assert.is((await run('runner-audit', SHOP, { root })).status, 0);
  assert.is(unlinked(logOf(root)).split(kept).length, 2);
});

test('list and tail show waiting events while the log cannot be written', async () => {
  if (!isRoot) return leftOut('running as another user needs root');
  const root = rootWithLog(line(record('v1')));
  const spool = join(root, 'spool/audit');
  mkdirSync(spool, { recursive: true });
  for (const version of ['v2', 'v3'])
    writeFileSync(join(spool, `${version}.jsonl`), line(record(version, { late: true })));
  const before = tree(root, { modes: true });
  const read = (...args: string[]) =>
    shell(`${asNobody('runner-audit')} ${args.join(' ')} --json`, { root });
  for (const [args, versions] of [
    [['list'], 'v1 v2 v3'],
    [['list', '-n', '2'], 'v2 v3'],
    [['list', '-n', '1', '--project', 'shop'], 'v3'],
    [['list', '--project', 'blog'], ''],
    [['tail'], 'v1 v2 v3'],
    [['tail', '-n', '1'], 'v3'],
  ] as const) {
    const { status, stdout, stderr } = await read(...args);
    const found = stdout.split('\n').filter(Boolean);
    assert.is(found.map((each) => JSON.parse(each).version).join(' '), versions);
    const unknown = (args as readonly string[]).includes('blog')
      ? "runner audit list: no app called 'blog' is registered on this server\n"
      : '';
    const told = `${unknown}runner audit ${args[0]}: 2 event(s) wait in spool/audit until the log is writable; they are included\n`;
    assert.equal([status, stderr], [0, told]);
  }
  assert.equal(tree(root, { modes: true }), before);
  // Root can: they are in the log then.
  const { stdout, stderr } = await run('runner-audit', ['tail', '--json'], { root });
  assert.equal([stdout, stderr], [logOf(root), '']);
  assert.is(logOf(root).trimEnd().split('\n').length, 3);
});

test('on a full disk only events on disk are echoed; freed space makes it work again', async () => {
  if (!canMount) return leftOut('mounting needs root');
  const root = temporaryFolder('full');
  const events = Array.from({ length: 600 }, (_, index) => line(record(`v${index}`))).join('');
  const script = `mount -t tmpfs -o size=64k,mode=0755 none "$1"
     mkdir "$1/logs"
     cat > /dev/null <<X
X
     set +e
     runner-audit emit --root "$1" > "$2/echo" 2> "$2/told"; echo "status $?"
     mount -o remount,size=256k "$1"
     runner-audit ${SHOP.join(' ')} --root "$1" > "$2/after"; echo "status $?"
     cp "$1/logs/deploy-events.jsonl" "$2/log"`;
  const kept = temporaryFolder('kept');
  const { stdout } = await shell(
    `exec unshare -m sh -c '${script.replaceAll("'", "'\\''")}' sh '${root}' '${kept}'`,
    { stdin: events },
  );
  assert.is(stdout, 'status 1\nstatus 0\n');
  const { echo = '', told, after = '', log = '' } = tree(kept);
  assert.is(
    told,
    `runner audit emit: cannot append to the audit log ${logPath(root)}: no space left on the disk (audit_unwritable)\n`,
  );
  assert.ok(log.startsWith(echo));
  assert.ok(events.startsWith(echo));
  // The torn line is ended, so the event that came later is whole.
  assert.ok(log.endsWith(`\n${after}`));
  assert.is(after, line(JSON.parse(after)));
});

test('a disk that fails while the event is flushed is reported in words, and nothing is echoed', async () => {
  const root = newRoot();
  const hook = join(temporaryFolder('hook'), 'hook.cjs');
  writeFileSync(
    hook,
    "require('node:fs').fdatasyncSync = () => { throw Object.assign(new Error('x'), { code: 'EIO' }); };",
  );
  const env = { NODE_OPTIONS: `--require=${JSON.stringify(hook)}` };
  const { status, stdout, stderr } = await run('runner-audit', SHOP, { root, env });
  assert.is(
    stderr,
    `runner audit emit: cannot append to the audit log ${logPath(root)}: the disk reports an error (EIO) (audit_unwritable)\n`,
  );
  assert.equal([status, stdout], [1, '']);
});

test('an echo that cannot be written is reported; the event is on the disk', async () => {
  const root = newRoot();
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = await run('runner-audit', SHOP, { root, fds: { 1: full } });
  assert.is(
    stderr,
    'runner audit emit: cannot write to standard output: no space left on the disk (output_failed)\n',
  );
  assert.is(status, 1);
  assert.is(JSON.parse(logOf(root)).version, 'v1');
});

test('a reader that leaves early loses nothing but its echo', async () => {
  const root = newRoot();
  const count = 20_000;
  const script = `seq ${count} | sed 's/.*/{"event":"DeployStarted","app":"shop","version":"v&"}/' | { runner-audit emit; echo "status $?" >&2; } | head -1`;
  const { stdout, stderr } = await shell(script, { root });
  assert.is(JSON.parse(stdout).version, 'v1');
  assert.is(stderr, 'status 0\n');
  const lines = logOf(root).trimEnd().split('\n');
  assert.is(lines.length, count);
  assert.is(JSON.parse(lines.at(-1) ?? '').version, `v${count}`);
});

test('an event is on the disk before it is echoed, while the input stays open', async () => {
  const root = newRoot();
  const running = start('runner-audit', ['emit'], { root });
  const echoes = running.stdout[Symbol.asyncIterator]();
  for (const version of ['v1', 'v2', 'v3']) {
    running.stdin.write(line(record(version)));
    const { value } = await echoes.next();
    assert.is(unlinked(value), JSON.stringify({ ...record(version), source: 'emit' }));
    assert.ok(logOf(root).endsWith(`${value}\n`));
  }
  running.stdin.end();
  assert.is((await running.done).status, 0);
});

test('concurrent writers tear and lose no line', async () => {
  const root = newRoot();
  const writers = Array.from({ length: 8 }, (_, writer) => {
    const events = Array.from({ length: 300 }, (_, index) =>
      line(record(`v${writer}.${index}`, { error: 'x'.repeat(index * 20) })),
    );
    return run('runner-audit', ['emit'], { root, stdin: events.join('') });
  });
  const ended = await Promise.all(writers);
  assert.ok(ended.every(({ status, stderr }) => status === 0 && stderr === ''));
  // Who looks while another one writes may take its line for a torn one, and end it once more.
  const written = logOf(root).split('\n').filter(Boolean);
  const records = written.map((each) => JSON.parse(each));
  assert.is(records.length, 2400);
  assert.is(new Set(records.map(({ version }) => version)).size, 2400);
});

test('an event that a deploy had to keep is appended before the new one', async () => {
  const root = rootWithLog('');
  mkdirSync(join(root, 'spool/audit'), { recursive: true });
  const kept = line(record('v0'));
  writeFileSync(join(root, 'spool/audit/20260504093000000-a1b2c3d4-DeployFailure.jsonl'), kept);
  const { status, stdout } = await run('runner-audit', SHOP, { root });
  assert.is(status, 0);
  assert.is(unlinked(logOf(root)), kept + unlinked(stdout));
  assert.is(JSON.parse(stdout).seq, 2);
  assert.not.ok(Object.keys(tree(root)).some((path) => path.endsWith('DeployFailure.jsonl')));
});

test.run();
