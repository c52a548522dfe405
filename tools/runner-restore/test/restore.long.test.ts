import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { IDENTITY, RECIPIENT } from '@runner/testing/age-key';
import { isKilled } from '@runner/testing/killing';
import { run } from '@runner/testing/run';
import { contentOf, temporaryFolder, tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const TOKEN = 'our-own-t0ken-of-shop';
const isRoot = process.getuid?.() === 0;

const folder = temporaryFolder('backup');
const root = join(folder, 'old');
const file = join(folder, 'backup.age');
const identity = join(folder, 'key.txt');
const passphrase = join(folder, 'passphrase');

async function ok(tool: string, args: readonly string[], at = root, stdin = ''): Promise<string> {
  const { status, stdout, stderr } = await run(tool, args, { root: at, stdin });
  assert.is(status, 0, stderr);
  return stdout;
}

const put = (path: string, text: string | Uint8Array, mode = 0o600) => {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text, { mode });
};

const restore = (into: string, from = file, key = ['--identity', identity]) =>
  run('runner-restore', [from, ...key], { root: into });

const shared = 'apps/shop/instances/default/shared';

test.before(async () => {
  put(identity, `# a comment\n${IDENTITY}\n`);
  put(passphrase, 'correct horse battery staple\n');
  const add = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  await ok('runner-add', add, root, TOKEN);
  await ok(
    'runner-env',
    ['set', 'shop', 'DATABASE_URL', '--file', '-'],
    root,
    'postgres://u:a1b2c3d4e5f6@db/x',
  );
  put(join(root, 'config.yml'), 'notify: {}\n');
  const event = ['--project', 'shop', '--version', 'v1'];
  await ok('runner-audit', ['emit', 'RollbackSuccess', ...event]);
  const log = join(root, 'logs/deploy-events.jsonl');
  put(`${log}.1`, readFileSync(log), 0o640);
  rmSync(log);
  await ok('runner-audit', ['emit', 'RollbackSuccess', ...event]);
  const [state] = [join(root, 'state/shop.json')];
  const deployed = {
    version: 'v1',
    commit: 'a'.repeat(40),
    release: 'r',
    deployed_at: '',
    deploy_id: 'a1b2c3d4',
  };
  const held = { instances: { default: { current: deployed, previous: [] } } };
  writeFileSync(state, JSON.stringify({ ...JSON.parse(readFileSync(state, 'utf8')), ...held }));
  put(join(root, shared, 'uploads/ä/long'.padEnd(160, 'x'), 'file'), 'uploaded', 0o640);
  put(join(root, shared, 'empty'), '');
  symlinkSync('uploads', join(root, shared, 'link'));
  await ok('runner-backup', ['--to', file, '--recipient', RECIPIENT, '--with-shared']);
});

test('a restored root has the same configuration, keys, secrets, log and shared files', async () => {
  const anchor = (await ok('runner-audit', ['anchor'])).trim();
  const fresh = join(folder, 'fresh');
  const { status, stdout, stderr } = await restore(fresh);
  assert.equal([status, stderr], [0, '']);
  assert.match(
    stdout,
    /^Restored .*\nApps: shop v1\n(Units .*\n)?Next: runner doctor, then runner fetch --deploy\n$/,
  );
  const relevant = (at: string) =>
    Object.entries(tree(at, { modes: true })).filter(
      ([path]) => !/^(locks|state|restored-units|logs\/last-backup)|\/$/.test(path),
    );
  assert.equal(relevant(fresh), relevant(root));
  assert.match(await ok('runner-tokens', ['list'], fresh), /^Tokens \(1\):\n-+\ntk_/);
  assert.match(await ok('runner-env', ['list', 'shop'], fresh), 'DATABASE_URL');
  assert.match(
    await ok('runner-audit', ['verify', '--anchor', anchor], fresh),
    /^whole: 2 records/,
  );
  const { instances, repo, restored } = JSON.parse(
    readFileSync(join(fresh, 'state/shop.json'), 'utf8'),
  );
  assert.equal([instances, repo], [{}, 'acme/shop']);
  const ran = { version: 'v1', commit: 'a'.repeat(40) };
  assert.equal(restored, { instances: { default: ran } });
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.not.ok(readFileSync(file, 'latin1').includes('acme'));
});

test('shared files keep their modes, times, owners and groups by name; a file loses setuid and setgid', async () => {
  if (!isRoot) return;
  const [old, fresh] = [join(folder, 'modes'), join(folder, 'modes-fresh')];
  await ok('runner-add', ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'], old, TOKEN);
  const media = join(shared, 'media');
  put(join(old, media, 'program'), '');
  put(join(old, media, 'foreign'), '');
  for (const [name, mode, uid] of [
    ['program', 0o6755, 33],
    ['foreign', 0o640, 4_242],
    ['', 0o3775, 33],
    ['..', 0o755, 0],
  ] as const) {
    const path = join(old, media, name);
    chownSync(path, uid, 33);
    chmodSync(path, mode);
    utimesSync(path, 1_000_000, 1_000_000);
  }
  const to = join(folder, 'modes.age');
  await ok('runner-backup', ['--to', to, '--recipient', RECIPIENT, '--with-shared'], old);
  const { status, stdout } = await restore(fresh, to);
  assert.is(status, 0);
  assert.match(stdout, '\nNot set on shared files: user 4242\n');
  const seen = (name: string) => {
    const { mode, uid, gid, mtimeMs } = statSync(join(fresh, media, name));
    return [(mode & 0o7777).toString(8), uid, gid, mtimeMs / 1000];
  };
  assert.equal(seen(''), ['3775', 33, 33, 1_000_000]);
  assert.equal(seen('..'), ['755', 0, 33, 1_000_000]);
  assert.equal(seen('program'), ['755', 33, 33, 1_000_000]);
  assert.equal(seen('foreign'), ['640', 0, 33, 1_000_000]);
});

test('a root with foreign files is refused and stays as it was', async () => {
  for (const name of ['data', 'x', 'apps/shop']) {
    const place = join(folder, `foreign-${name.replace('/', '')}`);
    mkdirSync(join(place, name === 'x' ? '' : name), { recursive: true });
    if (name === 'x') put(join(place, name), '');
    const before = contentOf(place);
    const { status, stderr } = await restore(place);
    assert.is(status, 1);
    assert.match(stderr, `it has ${name}: restore into an empty one (root_in_use)`);
    assert.equal(contentOf(place), before);
    assert.not.ok(existsSync(join(place, 'locks')));
  }
});

test('a passphrase opens the backup it was made with; standard output and input carry one', async () => {
  const key = ['--passphrase-file', passphrase];
  const made = await run('runner-backup', ['--to', '-', ...key], { root });
  assert.equal([made.status, made.stderr], [0, '']);
  const fresh = join(folder, 'piped');
  const given = await run('runner-restore', ['-', ...key], {
    root: fresh,
    stdin: made.stdoutBytes,
  });
  assert.equal([given.status, given.stderr], [0, '']);
  assert.not.ok(existsSync(join(fresh, 'apps')), 'shared folders were not asked for');
  const wrong = join(folder, 'wrong');
  put(wrong, 'correct horse battery stable');
  const sealed = join(folder, 'sealed.age');
  put(sealed, made.stdoutBytes);
  const refused = await restore(join(folder, 'none'), sealed, ['--passphrase-file', wrong]);
  assert.equal(
    [refused.status, refused.stdout, refused.stderr],
    [
      1,
      '',
      'runner restore: the backup cannot be read: the passphrase does not open it (backup_unreadable)\n',
    ],
  );
  assert.not.ok(existsSync(join(folder, 'none')));
});

test("Debian's age opens the file, and tar lists it", () => {
  const opened = spawnSync('age', ['--decrypt', '--identity', identity, file], {
    maxBuffer: 1e9,
  });
  if (opened.error) return void process.stdout.write('(left out: age is not installed)\n');
  assert.is(opened.status, 0, opened.stderr.toString());
  const listed = spawnSync('tar', ['tzf', '-'], { input: opened.stdout }).stdout.toString();
  for (const name of [
    'backup.json',
    'mkey',
    'state/shop.json',
    'secrets/shop.json',
    `${shared}/link`,
  ])
    assert.ok(listed.split('\n').includes(name), listed);
});

test('a file that was cut or changed anywhere is refused with one sentence, and nothing is written', async () => {
  const whole = readFileSync(file);
  const bad = join(folder, 'bad.age');
  const place = join(folder, 'nothing');
  const at = (share: number) => Math.floor((whole.length - 1) * share);
  const flipped = (share: number) => {
    const bytes = Buffer.from(whole);
    bytes[at(share)] = (bytes[at(share)] as number) ^ 1;
    return bytes;
  };
  const damages = [
    ...[0, 0.05, 0.5, 0.99, 1].map((share) => whole.subarray(0, at(share))),
    ...[0, 0.02, 0.1, 0.5, 0.9, 1].map(flipped),
    Buffer.concat([whole, Buffer.from('more')]),
    Buffer.from('not a backup\n'),
  ];
  for (const bytes of damages) {
    put(bad, bytes);
    const { status, stdout, stderr } = await restore(place, bad);
    assert.equal([status, stdout], [1, '']);
    assert.match(
      stderr,
      /^runner restore: the backup cannot be read: [^\n]+ \(backup_unreadable\)\n$/,
    );
    assert.not.ok(existsSync(place));
  }
});

test('a backup that is missing is named before a passphrase is asked for', async () => {
  const { status, stdout, stderr } = await restore(root, join(folder, 'missing.age'), []);
  assert.equal([status, stdout], [1, '']);
  assert.match(
    stderr,
    /^runner restore: cannot read [^\n]+missing\.age: [^\n]+ \(file_unreadable\)\n$/,
  );
});

test('a root that is in use is left alone; a freshly installed one is filled, and belongs to its owner', async () => {
  const before = contentOf(root);
  const { status, stderr } = await restore(root);
  assert.is(status, 1);
  assert.match(
    stderr,
    /is in use, it has config\.yml: restore into an empty one \(root_in_use\)\n$/,
  );
  assert.equal(contentOf(root), before);
  const installed = join(folder, 'installed');
  for (const name of ['apps', 'logs', 'state', 'spool/audit', 'spool/notify'])
    mkdirSync(join(installed, name), { recursive: true });
  chmodSync(installed, 0o750);
  if (isRoot) chownSync(installed, 65_534, 65_534);
  assert.is((await restore(installed)).status, 0);
  if (!isRoot) return;
  for (const name of [
    'locks/registry.lock',
    'locks',
    'mkey',
    'state',
    'state/shop.json',
    'secrets',
    'logs/deploy-events.jsonl',
  ])
    assert.is(statSync(join(installed, name)).uid, 65_534, name);
  // What belonged to the owner of the root that was backed up; others keep theirs.
  assert.is(statSync(join(installed, shared, 'empty')).uid, 65_534);
});

test('a restore that is killed leaves a root without an app or a whole one, and can be repeated', async () => {
  const place = join(folder, 'killed');
  const args = [file, '--identity', identity];
  for (let at = 1, killed = true; killed; at += 1 + Math.floor(Math.random() * 6)) {
    killed = await isKilled({ tool: 'runner-restore', args }, { call: at }, place);
    const { stdout } = await run('runner-list', ['--json', '--offline'], { root: place });
    const apps = existsSync(place) ? JSON.parse(stdout).apps.length : 0;
    if (killed && apps === 0) assert.is((await restore(place)).status, 0, `killed at call ${at}`);
    assert.is((await run('runner-tokens', ['list'], { root: place })).status, 0, `call ${at}`);
    assert.match(await ok('runner-audit', ['verify'], place), /^whole: 2 records/);
    rmSync(place, { recursive: true });
  }
});

test('a backup that cannot be made says so, and leaves no file', async () => {
  for (const [args, status, why] of [
    [['--recipient', 'age1nonsense'], 2, /is not an age recipient/],
    [[], 2, /stdin is not a terminal: use --passphrase-file/],
    [['--recipient', RECIPIENT, '--to', '/nonexistent/x'], 2, /cannot be used multiple times/],
  ] as const) {
    const made = await run('runner-backup', ['--to', join(folder, 'no.age'), ...args], { root });
    assert.is(made.status, status);
    assert.match(made.stderr, why);
    assert.not.ok(existsSync(join(folder, 'no.age')));
  }
});

test('an app whose state a newer runner wrote is restored, and reported as not usable', async () => {
  const old = join(folder, 'newer');
  await ok('runner-add', ['--repo', 'acme/blog', '--branch', 'main', '--public'], old);
  put(join(old, 'state/later.json'), JSON.stringify({ version: 99, app: 'later' }));
  const backup = join(folder, 'newer.age');
  await ok('runner-backup', ['--to', backup, '--recipient', RECIPIENT], old);
  const { status, stdout } = await restore(join(folder, 'newer-restored'), backup);
  assert.is(status, 0);
  assert.match(stdout, /^Apps: blog, later$/m);
  assert.match(stdout, /^Not usable yet: .*later.*newer/m);
});

test('requests that were held on the old server are not said to be held on the new one', async () => {
  const old = join(folder, 'holding');
  await ok('runner-add', ['--repo', 'acme/shop', '--branch', 'main', '--public'], old);
  const path = join(old, 'state/shop.json');
  const [since, until] = [new Date().toISOString(), new Date(Date.now() + 600_000).toISOString()];
  const traffic_hold = { since, by: 'ada', until, instances: ['default'], page: false };
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), traffic_hold }));
  const [backup, into] = [join(folder, 'holding.age'), join(folder, 'holding-restored')];
  await ok('runner-backup', ['--to', backup, '--recipient', RECIPIENT], old);
  assert.match(await ok('runner-status', ['shop'], old), 'requests wait until');
  assert.is((await restore(into, backup)).status, 0);
  assert.not.match(await ok('runner-status', ['shop'], into), 'requests wait until');
  const ended = await ok('runner-hold-traffic', ['shop', '--end'], into);
  assert.is(ended, 'shop: no request was held\n');
});

test.run();
