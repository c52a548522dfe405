import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { holderOf, requireLock, takeLock } from '@runner/common/files/lock';
import { shellWord } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refusal, told } from '../cli/refusal.ts';
import { outputOf, role, roleArgs, startRole } from './processes.ts';
import { plant, scratch } from './scratch.ts';

const fresh = () => join(scratch(), 'locks', 'x.lock');

/** A child that holds the lock from its first output on, until it is killed. */
async function startHolder(path: string, ...args: string[]) {
  return startedHolder(startRole('hold', [path, ...args]));
}

async function startedHolder(child: ChildProcess) {
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  const ended = once(child, 'close');
  return {
    child,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

test('a lock is held until it is released, also against its own process', () => {
  const path = fresh();
  const lock = takeLock(path, 0);
  assert.ok(lock);
  assert.is(takeLock(path, 0), undefined);
  lock?.release();
  const again = takeLock(path, 0);
  assert.ok(again);
  again?.release();
  assert.is(statSync(path).mode & 0o777, 0o600);
});

test('two locks do not know of each other', () => {
  const [one, two] = [takeLock(fresh(), 0), takeLock(fresh(), 0)];
  assert.ok(one && two);
  one?.release();
  two?.release();
});

test('a refusal names the holder of the lock, its purpose and its start', async () => {
  const path = fresh();
  const holder = await startHolder(path, 'deploy blog');
  const failure = refusal(() => requireLock(path, "the app 'blog'", 0));
  assert.is(
    failure.message,
    `the app 'blog' is busy: held by process ${holder.child.pid} (deploy blog since 2026-01-01T00:00:00.000Z)`,
  );
  assert.equal([failure.code, failure.status], ['locked', 75]);
  await holder.kill();
  assert.is(holderOf(path).pid, holder.child.pid);
});

test('a refusal does not name an earlier holder of the lock', async () => {
  const path = fresh();
  plant(path, '{"pid":2147483647,"command":"deploy of yesterday"}\n');
  const [folder, go] = [scratch(), join(scratch(), 'go')];
  // Says that the refusal has come, when the refused one has not yet looked who holds the lock.
  const flock = `#!/bin/sh\nPATH=\${PATH#*:} flock "$@"\nstatus=$?\n: > ${shellWord(go)}\nexit $status\n`;
  writeFileSync(join(folder, 'flock'), flock, { mode: 0o755 });
  const holder = await startedHolder(startRole('late', [path, go]));
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  try {
    const told = await outputOf(startRole('refused', [path], env));
    assert.is(told, `it is busy: held by process ${holder.child.pid} (late)`);
  } finally {
    await holder.kill();
  }
});

test('the content of a lock file is only information: odd content changes nothing', () => {
  for (const content of ['', '{', 'null', '[1]', '7', '{"pid":null}', 'x'.repeat(100_000)]) {
    const path = fresh();
    plant(path, content);
    assert.is(holderOf(path).command, undefined);
    const lock = takeLock(path, 0, { pid: 1, command: 'x' });
    assert.ok(lock);
    assert.is(holderOf(path).command, 'x');
    lock?.release();
  }
  assert.equal(holderOf(join(scratch(), 'none')), {});
  const path = fresh();
  const lock = takeLock(path, 0);
  for (const earlier of ['{"pid":null}', '{"pid":2147483647,"command":"deploy of yesterday"}']) {
    writeFileSync(path, earlier);
    assert.is(
      told(() => requireLock(path, 'it', 0)),
      'locked: it is busy',
    );
  }
  lock?.release();
});

test('a lock is free as soon as its holder was killed', async () => {
  const path = fresh();
  const holder = await startHolder(path);
  assert.is(takeLock(path, 0), undefined);
  await holder.kill();
  const lock = takeLock(path, 0);
  assert.ok(lock);
  lock?.release();
});

test('a daemon that the holder started does not keep the lock', async () => {
  const path = fresh();
  const pidFile = join(scratch(), 'pid');
  const holder = await startHolder(path, 'x', pidFile);
  const daemon = Number(readFileSync(pidFile, 'utf8'));
  try {
    await holder.kill();
    process.kill(daemon, 0);
    const lock = takeLock(path, 0);
    assert.ok(lock);
    lock?.release();
  } finally {
    process.kill(daemon, 'SIGKILL');
  }
});

test('a waiting process gets a released lock, and gives up at its time limit', async () => {
  const path = fresh();
  const holder = await startHolder(path);
  const started = performance.now();
  assert.is(takeLock(path, 1), undefined);
  // It can only take longer: no load makes a second shorter.
  assert.ok(performance.now() - started >= 900);
  await holder.kill();
  const lock = takeLock(path, 120);
  assert.ok(lock);
  lock?.release();

  const own = takeLock(path, 0);
  const waiter = startRole('wait', [path]);
  await once(waiter.stdout as NonNullable<typeof waiter.stdout>, 'data');
  own?.release();
  assert.is((await outputOf(waiter)).trim(), 'got it');
});

test('four contenders never hold the lock at the same time', async () => {
  const folder = scratch();
  const inside = join(folder, 'inside');
  mkdirSync(inside);
  const contenders = ['a', 'b', 'c', 'd'].map((name) =>
    startRole('contend', [join(folder, 'x.lock'), inside, name]),
  );
  const sections = (await Promise.all(contenders.map(outputOf))).map((text) => text.trim());
  assert.equal(sections, ['30', '30', '30', '30']);
  assert.equal(readdirSync(inside), []);
});

test('without the command flock the lock is unavailable, which says what to install', () => {
  const path = process.env.PATH;
  process.env.PATH = scratch();
  try {
    assert.is(
      told(() => takeLock(fresh(), 0)),
      'lock_unavailable: the command flock is missing: install util-linux',
    );
  } finally {
    process.env.PATH = path;
  }
});

test('why flock cannot lock is said, as on a file system without locks', () => {
  const path = process.env.PATH;
  const folder = scratch();
  plant(
    join(folder, 'flock'),
    '#!/bin/sh\necho "flock: 3: No locks available" >&2; exit 71\n',
    0o755,
  );
  process.env.PATH = `${folder}:${path}`;
  try {
    assert.match(
      told(() => takeLock(fresh(), 0)),
      /^lock_unavailable: cannot lock .*\.lock: flock: 3: No locks available$/,
    );
  } finally {
    process.env.PATH = path;
  }
});

test('a lock that is not a file is refused', () => {
  const folder = scratch();
  plant(join(folder, 'target'), 'x');
  symlinkSync('target', join(folder, 'link'));
  mkdirSync(join(folder, 'dir'));
  plant(join(folder, 'file'), 'x');
  const said = (name: string) =>
    told(() => takeLock(join(folder, name), 0)).replaceAll(folder, 'DIR');
  assert.is(said('link'), 'not_writable: cannot open the lock DIR/link: it is a symbolic link');
  assert.is(said('dir'), 'not_writable: cannot open the lock DIR/dir: it is a directory');
  assert.match(said('file/x.lock'), /^not_writable: /);
  assert.is(readFileSync(join(folder, 'target'), 'utf8'), 'x');
});

/** Holds the lock, and writes itself into it no sooner than the file `go` is there. */
function late(): void {
  const [path = '', go = ''] = roleArgs;
  const fd = openSync(path, 'r+');
  spawnSync('flock', ['-x', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
  writeSync(1, 'held\n');
  const timer = setInterval(() => {
    if (!existsSync(go)) return;
    clearInterval(timer);
    writeFileSync(path, JSON.stringify({ pid: process.pid, command: 'late' }));
    setInterval(() => {}, 60_000);
  }, 20);
}

function refused(): void {
  writeSync(1, refusal(() => requireLock(roleArgs[0] as string, 'it', 0)).message);
}

/** Holds the lock until it is killed; with a third argument, starts a daemon that outlives it. */
function hold(): void {
  const [path = '', command = 'x', pidFile] = roleArgs;
  requireLock(path, 'it', 0, { pid: process.pid, command, since: '2026-01-01T00:00:00.000Z' });
  if (pidFile !== undefined) {
    const daemon = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    writeFileSync(pidFile, String(daemon.pid));
    daemon.unref();
  }
  writeSync(1, 'held\n');
  setInterval(() => {}, 60_000);
}

function wait(): void {
  writeSync(1, ' \n');
  const lock = takeLock(roleArgs[0] as string, 120);
  writeSync(1, lock ? 'got it\n' : 'gave up\n');
}

/** Enters the section thirty times; a process inside leaves a file there, which must be the only one. */
function contend(): void {
  const [path = '', inside = '', name = ''] = roleArgs;
  let entered = 0;
  for (let round = 0; round < 30; round += 1) {
    const lock = requireLock(path, 'it', 300);
    writeFileSync(join(inside, name), '');
    if (readdirSync(inside).join() === name) entered += 1;
    rmSync(join(inside, name));
    lock.release();
  }
  writeSync(1, `${entered}\n`);
}

const roles: Record<string, () => void> = { hold, late, refused, wait, contend };
if (role !== undefined) roles[role]?.();
else test.run();
