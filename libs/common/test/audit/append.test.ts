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
import { appendEvents } from '@runner/common/audit/append';
import type { DeployEvent } from '@runner/common/audit/events';
import { appendKept, keepForLater } from '@runner/common/audit/kept';
import { pathsOf } from '@runner/common/foundation/paths';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';
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

const versions = (path: string) => recordsIn(path).map((record) => record?.version);

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

function refusedAppend(root: string): string {
  const paths = pathsOf(root);
  return told(() => appendEvents(paths, [event(1)])).replace(root, 'ROOT');
}

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
