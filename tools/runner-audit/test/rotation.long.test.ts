/** The snippet that ships, with the real logrotate, while eight programs write. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkoutFolder, run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { line, logPath, newRoot, record, unlinked } from './log.ts';

const WRITERS = 8;
const EVENTS = 120;
/** So many events are written between two rotations. */
const APART = 100;

/** Why the real logrotate cannot be used here; undefined when it can. */
function missing(): string | undefined {
  if (process.getuid?.() !== 0) return 'logrotate trusts only a configuration of root';
  return spawnSync('logrotate', ['--version']).error ? 'logrotate is not installed' : undefined;
}

/** The snippet for another root, as a file that logrotate trusts. */
function snippetFor(root: string): string {
  const text = readFileSync(join(checkoutFolder(), 'packaging/logrotate/runner'), 'utf8');
  const path = join(temporaryFolder('logrotate'), 'runner');
  const own = text.replace('    su runner runner\n', '');
  writeFileSync(path, own.replace(/\/opt\/runner(\S+)/g, `"${root}$1"`), { mode: 0o644 });
  return path;
}

/** Rotates whether or not it is time. */
function rotate(snippet: string): Promise<string> {
  const state = join(dirname(snippet), 'state');
  return new Promise((resolve, reject) => {
    const child = spawn('logrotate', ['--force', '--state', state, snippet]);
    let told = '';
    child.stderr.on('data', (chunk) => {
      told += chunk;
    });
    child.on('error', reject);
    child.on('close', (status) => resolve(status === 0 ? told : `status ${status}\n${told}`));
  });
}

/** Writes events one after the other, each when the one before was echoed. */
async function write(root: string, writer: number, written: () => void): Promise<void> {
  const running = start('runner-audit', ['emit'], { root });
  const echoes = running.stdout[Symbol.asyncIterator]();
  for (let number = 0; number < EVENTS; number += 1) {
    const deploy_id = `${writer}${String(number).padStart(7, '0')}`;
    const more = { event_type: 'RollbackSuccess', deploy_id, source: 'test' };
    const text = line(record(`v${writer}.${number}`, more));
    running.stdin.write(text);
    const { value } = await echoes.next();
    assert.is(unlinked(`${value}\n`), text);
    written();
  }
  running.stdin.end();
  const { status, stderr } = await running.done;
  assert.equal([status, stderr], [0, '']);
}

test('rotating by the snippet that ships loses no record of eight writers', async () => {
  const reason = missing();
  if (reason !== undefined) return void process.stdout.write(`(left out: ${reason})\n`);
  const root = newRoot();
  mkdirSync(join(root, 'logs'), { recursive: true });
  const snippet = snippetFor(root);
  let count = 0;
  let told = Promise.resolve('');
  const written = () => {
    count += 1;
    if (count % APART === 0) told = told.then(async (before) => before + (await rotate(snippet)));
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(root, writer, written)));
  assert.is(await told, '');
  assert.is(await rotate(snippet), '');

  const names = readdirSync(join(root, 'logs'));
  assert.ok(
    names.some((name) => name.endsWith('.2.gz')),
    names.join(' '),
  );
  assert.ok(
    names.every((name) => /^deploy-events\.jsonl(\.\d+(\.gz)?)?$/.test(name)),
    names.join(' '),
  );
  const { stdout, stderr } = await run('runner-audit', ['list', '--json'], { root });
  assert.is(stderr, '');
  const versions = stdout
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each).version);
  assert.is(versions.length, WRITERS * EVENTS);
  assert.is(new Set(versions).size, WRITERS * EVENTS);
  // Of one writer they stand in their order, through all files.
  for (let writer = 0; writer < WRITERS; writer += 1) {
    const own = versions.filter((version) => version.startsWith(`v${writer}.`));
    assert.equal(
      own,
      Array.from({ length: EVENTS }, (_, number) => `v${writer}.${number}`),
    );
  }
  assert.is((await run('runner-audit', ['verify'], { root })).status, 0);
});

test('a small log is left alone until it has grown', async () => {
  const reason = missing();
  if (reason !== undefined) return void process.stdout.write(`(left out: ${reason})\n`);
  const root = newRoot();
  mkdirSync(join(root, 'logs'), { recursive: true });
  writeFileSync(logPath(root), line(record('v1')));
  const snippet = snippetFor(root);
  const state = join(dirname(snippet), 'state');
  const never = `logrotate state -- version 2\n"${logPath(root)}" 2020-1-1-0:0:0\n`;
  writeFileSync(state, never);
  assert.is(spawnSync('logrotate', ['--state', state, snippet]).status, 0);
  assert.equal(readdirSync(join(root, 'logs')), ['deploy-events.jsonl']);
  writeFileSync(logPath(root), line(record('v1', { error: 'x'.repeat(1_100_000) })));
  writeFileSync(state, never);
  assert.is(spawnSync('logrotate', ['--state', state, snippet]).status, 0);
  assert.equal(readdirSync(join(root, 'logs')), ['deploy-events.jsonl.1']);
});

test.run();
