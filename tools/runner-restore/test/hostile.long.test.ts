/** Backups that were made to write elsewhere, to fill the disk, or to reach the terminal. */
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { restore } from '@runner/backup/restore';
import { END, headerOf } from '@runner/backup/tar';
import { Failure } from '@runner/common/foundation/failure';
import { processIo } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import { IDENTITY } from '@runner/testing/age-key';
import { Canary, exchanging } from '@runner/testing/exchange';
import { randomOf } from '@runner/testing/random';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { archiveOf, type Made, made, manifest, sealed } from './archive.ts';
import { file, folder, link, restored, root, SHARED, top } from './hostile.ts';

const canary = new Canary(['file', 'pwned']);

const REFUSED: Record<
  string,
  { readonly entries: readonly Made[]; readonly why: string | RegExp }
> = {
  'a link among the units': {
    entries: [link('units/etc', canary.folder), made('units/etc/pwned', 'x')],
    why: 'it has the link units/etc',
  },
  'a file below a link': {
    entries: [link(`${SHARED}/l`, canary.folder), made(`${SHARED}/l/pwned`, 'x')],
    why: `it has ${SHARED}/l/pwned below the link ${SHARED}/l`,
  },
  'a file below a shared folder that is a link': {
    entries: [link(SHARED, canary.folder), made(`${SHARED}/pwned`, 'x')],
    why: `it has ${SHARED}/pwned below the link ${SHARED}`,
  },
  'a folder in the place of a link': {
    entries: [link(`${SHARED}/l`, canary.folder), folder(`${SHARED}/l`, 0o777)],
    why: `it has ${SHARED}/l twice`,
  },
  'a file twice': {
    entries: [made('mkey', 'x'), made('mkey', 'y')],
    why: 'it has mkey twice',
  },
  'a file in the place of a folder': {
    entries: [made(`${SHARED}/a/b`, 'x'), made(`${SHARED}/a`, 'y')],
    why: `it has ${SHARED}/a twice`,
  },
  'a link in the place of a folder': {
    entries: [made(`${SHARED}/a/b`, 'x'), link(`${SHARED}/a`, canary.folder)],
    why: `it has ${SHARED}/a twice`,
  },
  'a folder outside of shared': {
    entries: [folder('units/etc', 0o777)],
    why: 'it has the folder units/etc',
  },
  'a path that leads up': {
    entries: [made(`${SHARED}/../../../../../../pwned`, 'x')],
    why: `it has ${SHARED}/../../../../../../pwned, which no root has`,
  },
  'an absolute path': {
    entries: [made('/etc/pwned')],
    why: 'it has /etc/pwned, which no root has',
  },
  'a path with a zero byte': {
    entries: [made(`${SHARED}/a\0b${'x'.repeat(100)}`)],
    why: new RegExp(`it has ${SHARED}/a\\\\x00bx+, which no root has`),
  },
  'a path whose names are empty': {
    entries: [made('units//x')],
    why: 'it has units//x, which no root has',
  },
  'more bytes than it announces': {
    entries: [manifest({ bytes: 3, entries: 9 }), made('mkey', 'four')],
    why: 'it has more bytes than it announces',
  },
  'more entries than it announces': {
    entries: [manifest({ bytes: 9, entries: 1 }), made('mkey'), made('config.yml')],
    why: 'it has more entries than it announces',
  },
  'a negative size': {
    entries: [manifest({ bytes: -1 })],
    why: 'its manifest has no valid size',
  },
  'a date that controls the terminal': {
    entries: [manifest({ created: '2026\x1b]0;PWNED\x07' })],
    why: 'its manifest has no valid date',
  },
  'a folder with contents': {
    entries: [{ ...folder(SHARED), size: 1 }],
    why: 'a header is malformed',
  },
};

for (const [what, { entries, why }] of Object.entries(REFUSED)) {
  test(`${what} is refused, and nothing is written`, async () => {
    const all = entries[0]?.path === 'backup.json' ? entries : [manifest(), ...entries];
    const { status, stdout, stderr } = await restored([archiveOf(all)]);
    assert.equal([status, stdout], [1, '']);
    const said = stderr.replace('runner restore: the backup cannot be read: ', '');
    if (typeof why === 'string') assert.is(said, `${why} (backup_unreadable)\n`);
    else assert.match(said, why);
    assert.not.ok(existsSync(root));
    assert.is(canary.changes(), '');
  });
}

test('a small file that inflates without an end is refused', async () => {
  function* bomb() {
    yield archiveOf([manifest({ bytes: 0, entries: 0 })]).subarray(0, -END.length);
    for (let n = 0; n < 500; n += 1) yield Buffer.alloc(1_048_576);
  }
  const { status, stderr } = await restored(bomb());
  assert.is(status, 1);
  assert.match(stderr, 'it continues after its end (backup_unreadable)');
  assert.not.ok(existsSync(root));
});

test('in the root of another user nothing outside is written, whatever that user exchanges', async () => {
  if (process.geteuid?.() !== 0) return void process.stdout.write('(left out: needs root)\n');
  const outside = new Canary(['state', 'apps', 'shop']);
  const place = join(top, 'foreign');
  mkdirSync(place);
  chownSync(place, 65_534, 65_534);
  const files = Array.from({ length: 300 }, (_, n) => made(`${SHARED}/d/${n}`, 'ours'));
  const archive = archiveOf([manifest(), made('state/shop.json', '{}'), ...files]);
  const pairs = ['.restore', '.restore/apps', `.restore/${SHARED}`, `.restore/${SHARED}/d`].map(
    (path, n) => ({
      folder: join(place, path),
      link: join(place, `lost+found/${n}`),
      target: outside.folder,
    }),
  );
  let exchanges = 0;
  const wanted = Number(process.env.EXCHANGES ?? 10_000);
  for (let round = 0; round < 5 || (exchanges < wanted && round < wanted); round += 1) {
    spawnSync('rm', ['-rf', place]);
    mkdirSync(join(place, 'lost+found'), { recursive: true });
    chownSync(place, 65_534, 65_534);
    for (const { link: path, target } of pairs) symlinkSync(target, path);
    const attack = exchanging(pairs.slice(round % 4, (round % 4) + 1), round % 3 ? 50 : 0);
    await restored([archive], place);
    exchanges += await attack.stop();
    assert.is(outside.changes(), '', `round ${round}`);
  }
  process.stdout.write(`(${exchanges} exchanges)\n`);
});

test('a list of moves that leads out of the root removes nothing there', async () => {
  const outside = new Canary(['file']);
  const place = join(top, 'killed');
  mkdirSync(join(place, '.restore/state'), { recursive: true });
  mkdirSync(join(place, 'lost+found'));
  symlinkSync(outside.folder, join(place, 'lost+found/link'));
  const list = [`../${outside.folder.split('/').at(-1)}`, outside.folder, 'lost+found/link/inner'];
  writeFileSync(join(place, '.restore-placing.json'), JSON.stringify(list));
  await restored([archiveOf([manifest()])], place);
  assert.is(outside.changes(), '');
});

/** One change of an archive: entries added, doubled, moved, retyped, renamed, cut, sizes changed. */
function mutated(entries: readonly Made[], random: () => number): Buffer {
  const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;
  const all = [...entries];
  const paths = [
    ...all.map(({ path }) => path),
    '..',
    '',
    '/',
    `${SHARED}/\x1b[31m`,
    `${SHARED}/l/x`,
  ];
  const other = (): Made => {
    const { path } = pick(all);
    const type = pick(['file', 'link', 'folder'] as const);
    const target = pick([canary.folder, '..', '/', '', 'x'.repeat(5_000), '\x1b]0;x\x07']);
    const places = [path, `${path}/x`, pick(paths), path.slice(0, Math.floor(random() * 40))];
    const mode = pick([0, 0o777, 0o7777]);
    return {
      ...made(pick(places), 'mutated'),
      mode,
      ...(type !== 'file' && { type, target, size: 0, bytes: Buffer.alloc(0) }),
    };
  };
  for (let n = 1 + Math.floor(random() * 4); n > 0; n -= 1) {
    const at = Math.floor(random() * all.length);
    const entry = all[at] as Made;
    const change = Math.floor(random() * 7);
    if (change === 0) all.splice(at, 0, other());
    else if (change === 1) all.splice(at, 0, pick(all));
    else if (change === 2) all.splice(at, 1, pick(all));
    else if (change === 3) all[at] = { ...entry, type: pick(['file', 'link', 'folder'] as const) };
    else if (change === 4) all[at] = { ...entry, path: pick(paths) };
    else if (change === 5) all[at] = { ...entry, size: pick([0, 1, 511, 2 ** 33, 1e15, 2 ** 60]) };
    else
      all[at] = {
        ...entry,
        owner: '\x1b[31m',
        bytes: Buffer.from(pick(['', '{}', '\x1b', '{"version":1}'])),
      };
  }
  const bytes = archiveOf(all);
  for (let n = Math.floor(random() * 4); n > 0; n -= 1)
    bytes[Math.floor(random() * Math.min(bytes.length, 8_192))] = Math.floor(random() * 256);
  return random() < 0.1 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes;
}

test('changed archives are refused in one sentence or restored, never anything else', async () => {
  const valid = [
    manifest({ bytes: 5_000, entries: 50 }),
    ...[made('config.yml', 'notify: {}\n'), made('mkey', 'x'), made('state/shop.json', '{}')],
    ...[made('logs/deploy-events.jsonl', '{}\n'), made('units/etc/systemd/system/x.service', '')],
    ...[folder(SHARED), folder(`${SHARED}/d`, 0o2750), made(`${SHARED}/d/${'x'.repeat(120)}`, 'x')],
    ...[link(`${SHARED}/l`, canary.folder), made(`${SHARED}/é\n`, 'y')],
  ];
  const { MUTATIONS = '120', MUTATION_SEED } = process.env;
  const seed = Number(MUTATION_SEED ?? Math.floor(Math.random() * 1e9));
  const random = randomOf(seed);
  const around = readdirSync(top).sort();
  const io = processIo();
  for (let n = 0; n < Number(MUTATIONS); n += 1) {
    const bytes = mutated(valid, random);
    const note = `seed ${seed}, change ${n}`;
    if (n % 40 === 0) {
      const { status, stdout, stderr } = await restored([bytes]);
      assert.ok(status === 0 || status === 1, `${note}: ${stderr}`);
      assert.not.match(stdout + stderr, /[\x00-\x09\x0b-\x1f\x7f-\x9f]/, note);
    } else {
      writeFileSync(file, await sealed([bytes]));
      const outcome = await restore(
        io,
        pathsOf(root),
        { file, line: '' },
        { identity: IDENTITY },
      ).catch((e) => e);
      const isExpected = !(outcome instanceof Error) || outcome instanceof Failure;
      assert.ok(isExpected, `${note}: ${outcome instanceof Error ? outcome.stack : ''}`);
    }
    spawnSync('rm', ['-rf', root]);
    assert.equal(readdirSync(top).sort(), around, note);
    assert.is(canary.changes(), '', note);
  }
});

test('a header of a header is refused', async () => {
  const extended = headerOf(made(`${SHARED}/${'x'.repeat(200)}`)).subarray(0, 1_024);
  const { status, stderr } = await restored([
    archiveOf([manifest()]).subarray(0, -END.length),
    ...[extended, extended, END],
  ]);
  assert.is(status, 1);
  assert.match(stderr, 'a header is too long');
});

test.run();
