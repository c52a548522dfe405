import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { appendEvents, appendLines, lineOf } from '@runner/common/audit/append';
import type { DeployEvent } from '@runner/common/audit/events';
import { appendKept, keepForLater } from '@runner/common/audit/kept';
import { pathsOf } from '@runner/common/foundation/paths';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refusal, told } from '../cli/refusal.ts';
import { mountTiny } from '../files/faulty-disk.ts';
import { freshRoot, plant } from '../files/scratch.ts';

function event(number: number, more: Partial<DeployEvent> = {}): DeployEvent {
  return {
    timestamp: new Date(1_700_000_000_000 + number).toISOString(),
    event_type: 'DeployFailure',
    project: 'blog',
    instance: 'default',
    version: `v${number}`,
    deploy_id: String(number).padStart(8, '0'),
    ...more,
  };
}

/** Lines of a log as JSON; `undefined` for one that is not. */
function recordsIn(path: string): (Record<string, unknown> | undefined)[] {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    try {
      return JSON.parse(line) as Record<string, unknown>;
    } catch {
      return undefined;
    }
  });
}

/** A log without the places in its chain. */
const unlinked = (path: string) =>
  readFileSync(path, 'utf8').replace(/,"seq":\d+,"prev":"[0-9a-f]{32}"\}$/gm, '}');

const versions = (path: string) => recordsIn(path).map((record) => record?.version);

test('the first event makes the folder and the file, which others cannot write', () => {
  const paths = freshRoot();
  appendEvents(paths, [event(1)]);
  assert.is(unlinked(paths.auditLog), `${JSON.stringify(event(1))}\n`);
  assert.is(statSync(paths.auditLog).mode & 0o777, 0o640);
  assert.is(statSync(paths.logsDir).mode & 0o777, 0o750);
});

test('events are appended in their order, and what stood there before is not touched', () => {
  const paths = freshRoot();
  plant(paths.auditLog, '{"foreign":1}\nnot json\n\n', 0o600);
  appendLines(paths, [lineOf(event(1)), lineOf(event(2))]);
  appendLines(paths, []);
  appendLines(paths, [lineOf(event(3))]);
  assert.is(
    unlinked(paths.auditLog),
    `{"foreign":1}\nnot json\n\n${lineOf(event(1))}${lineOf(event(2))}${lineOf(event(3))}`,
  );
  assert.is(statSync(paths.auditLog).mode & 0o777, 0o600);
});

test('any event is one line that is safe for a terminal', () => {
  const line = lineOf(event(1, { error: 'a\nb\r\u001b[31m\u0000\u202e\u2028\u0085\ud800' }));
  assert.is(line.indexOf('\n'), line.length - 1);
  assert.not.match(line.slice(0, -1), /[^\x20-\x7e]/);
  assert.is(JSON.parse(line).error, 'a\nb\r\u001b[31m\u0000\u202e\u2028\u0085\ud800');
});

test('a log that root is the first to append to belongs to the user of its folder', () => {
  if (process.getuid?.() !== 0) return void process.stdout.write('(left out: needs root)\n');
  const paths = freshRoot();
  mkdirSync(paths.logsDir, { recursive: true });
  chownSync(paths.logsDir, 65_534, 65_533);
  appendEvents(paths, [event(1)]);
  const { uid, gid } = statSync(paths.auditLog);
  assert.equal([uid, gid], [65_534, 65_533]);
  // What was there keeps its owner, and a second name of a file of root's is not given away.
  chownSync(paths.auditLog, 0, 0);
  appendEvents(paths, [event(2)]);
  assert.is(statSync(paths.auditLog).uid, 0);
  plant(`${paths.root}/precious`, '');
  rmSync(paths.auditLog);
  linkSync(`${paths.root}/precious`, paths.auditLog);
  appendEvents(paths, [event(3)]);
  assert.is(statSync(`${paths.root}/precious`).uid, 0);
});

test('a torn tail does not swallow the next record', () => {
  for (const tail of ['{"timestamp":"2026-01-0', '{"a":1}', '\u0000\u0000\u0000', '{"a":1}\n{']) {
    const paths = freshRoot();
    plant(paths.auditLog, tail);
    appendEvents(paths, [event(1)]);
    assert.is(unlinked(paths.auditLog), `${tail}\n${lineOf(event(1))}`);
  }
});

test('the log may be renamed or removed between two events', () => {
  const paths = freshRoot();
  appendEvents(paths, [event(1)]);
  spawnSync('mv', [paths.auditLog, `${paths.auditLog}.1`]);
  appendEvents(paths, [event(2)]);
  spawnSync('rm', ['-r', paths.logsDir]);
  appendEvents(paths, [event(3)]);
  assert.equal(versions(paths.auditLog), ['v3']);
});

function refusedAppend(root: string): string {
  const paths = pathsOf(root);
  return told(() => appendEvents(paths, [event(1)])).replace(root, 'ROOT');
}

test('a log that is not a regular file is refused', () => {
  const log = 'audit_unwritable: cannot append to the audit log ROOT/logs/deploy-events.jsonl:';
  const link = freshRoot();
  plant(join(link.root, 'target'), '');
  mkdirSync(link.logsDir);
  symlinkSync('../target', link.auditLog);
  assert.is(refusedAppend(link.root), `${log} it is a symbolic link`);
  assert.is(readFileSync(join(link.root, 'target'), 'utf8'), '');

  const folder = freshRoot();
  mkdirSync(folder.auditLog, { recursive: true });
  assert.is(refusedAppend(folder.root), `${log} it is a directory`);

  const fifo = freshRoot();
  mkdirSync(fifo.logsDir, { recursive: true });
  spawnSync('mkfifo', [fifo.auditLog]);
  assert.is(refusedAppend(fifo.root), `${log} it is not a regular file`);

  const file = freshRoot();
  plant(file.logsDir, 'a file where the folder should be');
  assert.match(refusedAppend(file.root), /^audit_unwritable: /);
});

test('a read-only file system is refused', () => {
  const paths = freshRoot();
  mkdirSync(paths.logsDir, { recursive: true });
  if (!mountTiny(paths.logsDir, 'size=64k,ro')) return;
  assert.match(refusedAppend(paths.root), /^audit_unwritable: .*: the file system is read-only$/);
});

test('an event that has to wait is kept whole and appended before the next one, oldest first', () => {
  const paths = freshRoot();
  keepForLater(paths, event(2, { error: 'x'.repeat(60_000) }));
  keepForLater(paths, event(1));
  keepForLater(paths, event(2, { event_type: 'RollbackSuccess', version: 'back' }));
  assert.is(readdirSync(paths.auditSpool).length, 3);
  assert.is(statSync(paths.auditSpool).mode & 0o777, 0o700);
  assert.not.ok(existsSync(paths.auditLog));
  appendEvents(paths, [event(3)]);
  assert.equal(versions(paths.auditLog), ['v1', 'v2', 'back', 'v3']);
  assert.equal(readdirSync(paths.auditSpool), []);
});

test('events wait as long as the log cannot be written', () => {
  const paths = freshRoot();
  mkdirSync(paths.auditLog, { recursive: true });
  keepForLater(paths, event(1));
  assert.is(refusal(() => appendKept(paths)).code, 'audit_unwritable');
  assert.is(refusal(() => appendEvents(paths, [event(2)])).code, 'audit_unwritable');
  assert.is(readdirSync(paths.auditSpool).length, 1);
});

test('what is no kept event does not hold up the others', () => {
  const paths = freshRoot();
  keepForLater(paths, event(1));
  plant(join(paths.auditSpool, '.half-written.tmp'), '{');
  plant(join(paths.auditSpool, '0.jsonl'), '');
  mkdirSync(join(paths.auditSpool, '1.jsonl'));
  symlinkSync('/etc/passwd', join(paths.auditSpool, '2.jsonl'));
  appendEvents(paths, [event(2)]);
  assert.equal(versions(paths.auditLog), ['v1', 'v2']);
  assert.equal(readdirSync(paths.auditSpool), [
    '.half-written.tmp',
    '0.jsonl',
    '1.jsonl',
    '2.jsonl',
  ]);
});

test('a large event that had to wait is appended as well', () => {
  const paths = freshRoot();
  keepForLater(paths, event(1, { reason: 'x'.repeat(3_000_000) }));
  appendKept(paths);
  assert.equal(versions(paths.auditLog), ['v1']);
});

test.run();
