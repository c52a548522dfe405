/** Shared files in a backup, whatever their names are and whatever an app does meanwhile. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { RECIPIENT } from '@runner/testing/age-key';
import { Canary, exchanging } from '@runner/testing/exchange';
import { run, shell, shellWord } from '@runner/testing/run';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entriesOf } from './entries.ts';
import { backUp, IN_ROOT, identity, makeRoot } from './shared.ts';

test('a folder replaced by a link to the root while a file in it is read leads nowhere', async () => {
  const { root, shared } = await makeRoot();
  writeFileSync(join(root, 'config.yml'), 'notify: {}\n', { mode: 0o600 });
  const [folder, link] = [join(shared, 'd'), join(shared, 'e')];
  mkdirSync(folder);
  for (const name of ['a-big', 'config.yml', 'mkey', 'secrets', 'state'])
    writeFileSync(join(folder, name), 'x');
  truncateSync(join(folder, 'a-big'), 300e6);
  symlinkSync('../../../../..', link);
  utimesSync(join(folder, 'a-big'), 1_000_000, new Date());
  let isExchanged = false;
  const timer = setInterval(() => {
    if (isExchanged || statSync(join(folder, 'a-big')).atimeMs === 1e9) return;
    renameSync(folder, join(shared, 'd2'));
    renameSync(link, folder);
    isExchanged = true;
  }, 1);
  const { status, stderr, to } = await backUp(root);
  clearInterval(timer);
  assert.equal([status, isExchanged], [0, true], stderr);
  const entries = await entriesOf(to);
  const mkey = readFileSync(join(root, 'mkey'));
  assert.ok(entries.some(({ path, bytes }) => path === 'mkey' && bytes.equals(mkey)));
  const stolen = entries.filter(({ path, bytes }) => path !== 'mkey' && bytes.equals(mkey));
  assert.equal(stolen, []);
  assert.not.ok(entries.some(({ path }) => path.startsWith(`${IN_ROOT}/d/state/`)));
});

test('while folders are exchanged for links at every level, nothing outside is read', async () => {
  const { root, shared } = await makeRoot();
  const canary = new Canary(['file', 'other']);
  const pairs = ['', 'x/', 'x/y/', 'x/y/z/'].map((above, level) => {
    const folder = join(shared, above, `d${level}`);
    mkdirSync(join(folder, 'inner'), { recursive: true });
    for (const name of ['file', 'other', 'inner/file']) writeFileSync(join(folder, name), 'ours');
    symlinkSync(canary.folder, `${folder}-link`);
    return { folder, link: `${folder}-link`, target: canary.folder };
  });
  for (let n = 0; n < 200; n += 1) writeFileSync(join(shared, 'x', `${n}`), 'ours');
  const wanted = Number(process.env.EXCHANGES ?? 10_000);
  let exchanges = 0;
  for (let round = 0; round < 3 || exchanges < wanted; round += 1) {
    const attack = exchanging(pairs, round % 3 === 0 ? 0 : 20);
    const { status, stderr, to } = await backUp(root);
    exchanges += await attack.stop();
    assert.is(status, 0, stderr);
    for (const { path, bytes } of await entriesOf(to))
      assert.not.ok(bytes.includes('outside'), `${path} is of another folder`);
  }
  process.stdout.write(`(${exchanges} exchanges)\n`);
  assert.is(canary.changes(), '');
});

test('names keep their bytes: line breaks, bytes that are not UTF-8, the longest', async () => {
  const { root, shared } = await makeRoot();
  const usual = ['nl\nx', 'cr\rx', 'ls\u2028x', 'ps\u2029x', '-rf', ' ', '\x1b]0;x\x07', '...'];
  const fixed = [...usual.map((name) => Buffer.from(name)), Buffer.from('latin\xe9', 'latin1')];
  const byte = fc.integer({ min: 1, max: 255 }).filter((each) => each !== 0x2f);
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 255 }).map((each) => Buffer.from(each));
  const any = fc.oneof(bytes, fc.array(byte, { minLength: 200, maxLength: 255 }).map(Buffer.from));
  const isName = (name: Buffer) =>
    !name.includes(0) && !name.includes('/') && !/^\.\.?$/.test(`${name}`);
  const names = [...fixed, ...fc.sample(any.filter(isName), 200)];
  const at = (folder: string, ...below: Buffer[]) =>
    Buffer.concat([Buffer.from(folder), ...below.flatMap((name) => [Buffer.from('/'), name])]);
  for (const [n, name] of names.entries()) {
    const folder = Buffer.concat([Buffer.from('f'), name.subarray(0, 200)]);
    mkdirSync(at(shared, folder), { recursive: true });
    writeFileSync(at(shared, folder, name), `${n}`);
    rmSync(at(shared, Buffer.from(`l${n}`)), { force: true });
    symlinkSync(at('..', name), at(shared, Buffer.from(`l${n}`)));
  }
  const { status, stderr, to } = await backUp(root);
  assert.equal([status, stderr], [0, '']);
  const fresh = join(root, '../fresh');
  const restored = await run('runner-restore', [to, '--identity', identity], { root: fresh });
  assert.equal([restored.status, restored.stderr], [0, '']);
  const listed = (folder: string) =>
    spawnSync('find', [folder, '-printf', '%P %y %l %m\\0'], { encoding: 'latin1' })
      .stdout.split('\0')
      .sort();
  assert.equal(listed(join(fresh, IN_ROOT)), listed(shared));
  for (const [n, name] of names.entries()) {
    const folder = Buffer.concat([Buffer.from('f'), name.subarray(0, 200)]);
    const [one, other] = [shared, join(fresh, IN_ROOT)].map((each) =>
      readFileSync(at(each, folder, name), 'utf8'),
    );
    assert.is(one, other, `${n}`);
  }
});

test('files that grow, vanish and appear during a backup do not make it larger than it announces', async () => {
  const { root, shared } = await makeRoot();
  for (let n = 0; n < 400; n += 1) writeFileSync(join(shared, `${n}`), 'x'.repeat(10_000));
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
    for (let n = 0; n < 400; n += 1) appendFileSync(join(shared, `${n}`), 'y'.repeat(1_000));
    for (let n = 0; n < 10; n += 1)
      rmSync(join(shared, `${(turns * 10 + n) % 400}`), { force: true });
    writeFileSync(join(shared, `new-${turns}`), 'z'.repeat(10_000));
  }, 1);
  const { status, stderr, to } = await backUp(root);
  clearInterval(timer);
  assert.equal([status, stderr], [0, '']);
  assert.ok(turns > 0);
  const [manifest, ...entries] = await entriesOf(to);
  const { bytes, entries: count } = JSON.parse(String(manifest?.bytes));
  assert.ok(entries.reduce((sum, { size }) => sum + size, 0) <= bytes);
  assert.ok(entries.length <= count);
  const fresh = join(root, '../fresh');
  assert.is((await run('runner-restore', [to, '--identity', identity], { root: fresh })).status, 0);
});

test('a backup whose reader stops early fails; one piped to its end succeeds', async () => {
  const { root, shared } = await makeRoot();
  writeFileSync(join(shared, 'upload'), randomBytes(2_000_000));
  const pipe = (reader: string) =>
    `runner backup --with-shared --recipient ${RECIPIENT} --to - | ${reader} >/dev/null; echo "\${PIPESTATUS[0]}"`;
  for (const [reader, status, said] of [
    ['head -c 30', '1', /^runner backup: the backup is incomplete: .+ \(output_failed\)\n$/],
    ['cat', '0', /^$/],
  ] as const) {
    const ended = await shell(`exec bash -c ${shellWord(pipe(reader))}`, { root });
    assert.is(ended.stdout.trim(), status);
    assert.match(ended.stderr, said);
  }
});

test.run();
