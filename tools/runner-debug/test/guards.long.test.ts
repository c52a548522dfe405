/** What `last-error` does not trust, as the user sees it. */
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { run, shell, shellWord } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
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

interface Spoilt {
  readonly what: string;
  readonly guard: string;
  /** The problem, with the path in place of PATH, and the command that fixes it. */
  readonly why: string;
  readonly fix: string;
  /** Spoils a good root; returns the path that is reported. */
  readonly spoil: (root: string) => string;
  readonly needsRoot?: boolean;
}

const open = (path: string, mode: number) => (root: string) => {
  chmodSync(join(root, path), mode);
  return join(root, path).replace(/\/$/, '');
};
const owned = (path: string) => (root: string) => {
  chownSync(join(root, path), STRANGER, STRANGER);
  return join(root, path).replace(/\/$/, '');
};
/** Gives the app a sealed token, and its folder and file these modes. */
const withToken = (folder: number, file: number) => (root: string) => {
  const path = join(root, 'state/shop.json');
  const state = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...state, state: { repohost_token: 'eyJ.a.b.c.d' } }));
  chmodSync(path, file);
  chmodSync(dirname(path), folder);
  return path;
};
const linked = (path: string) => (root: string) => {
  linkSync(join(root, path), join(root, 'other-name'));
  return join(root, path);
};

const WRITABLE = {
  guard: 'writable',
  why: 'PATH can be written by others',
  fix: 'chmod go-w PATH',
};
const OWNER = {
  guard: 'owner',
  why: `PATH belongs to another user (uid ${STRANGER})`,
  fix: 'chown root PATH',
  needsRoot: true,
};
const READABLE = {
  guard: 'readable',
  why: 'PATH has secrets that others can read',
  fix: 'chmod 600 PATH',
};
const HARD_LINK = {
  guard: 'hard_link',
  why: 'PATH has a second name (a hard link)',
  fix: 'cp -p PATH PATH.new && mv PATH.new PATH',
};
const SYMLINK = { guard: 'symlink', why: 'PATH is a symbolic link' };
const FLOW = 'notify: {channel: both, "discord_webhook": https://discord.com/api/webhooks/1/x}\n';

const SPOILT: readonly Spoilt[] = [
  { what: 'a log that all may write', ...WRITABLE, spoil: open(LOG, 0o646) },
  { what: 'a log that the group may write', ...WRITABLE, spoil: open(LOG, 0o660) },
  {
    what: 'a rotated log that all may write',
    ...WRITABLE,
    spoil(root) {
      writeLog(root, logText([failure('v0')]), '.1');
      return open(`${LOG}.1`, 0o666)(root);
    },
  },
  { what: 'a folder of logs that all may write', ...WRITABLE, spoil: open('logs', 0o777) },
  { what: 'a folder of logs like /tmp', ...WRITABLE, spoil: open('logs', 0o1777) },
  { what: 'a registry that all may write', ...WRITABLE, spoil: open('state', 0o757) },
  { what: "an app's state that all may write", ...WRITABLE, spoil: open('state/shop.json', 0o606) },
  {
    what: 'a configuration that all may write',
    ...WRITABLE,
    spoil(root) {
      writeFileSync(join(root, 'config.yml'), 'notify: {}\n');
      return open('config.yml', 0o622)(root);
    },
  },
  { what: 'a root that all may write', ...WRITABLE, spoil: open('', 0o777) },
  { what: 'a folder above the root that all may write', ...WRITABLE, spoil: open('..', 0o777) },
  { what: 'a log of another user', ...OWNER, spoil: owned(LOG) },
  { what: 'a folder of logs of another user', ...OWNER, spoil: owned('logs') },
  { what: "an app's state of another user", ...OWNER, spoil: owned('state/shop.json') },
  { what: 'a key of another user', ...OWNER, spoil: owned('mkey') },
  { what: 'a key that all may read', ...READABLE, spoil: open('mkey', 0o604) },
  { what: 'a key that the group may read', ...READABLE, spoil: open('mkey', 0o640) },
  { what: 'a configuration with secrets to read', ...READABLE, spoil: open('config.yml', 0o644) },
  {
    what: 'a configuration with secrets in one line',
    ...READABLE,
    spoil(root) {
      writeFileSync(join(root, 'config.yml'), FLOW);
      return open('config.yml', 0o644)(root);
    },
  },
  { what: 'a sealed token that all may read', ...READABLE, spoil: withToken(0o755, 0o604) },
  { what: 'a sealed token that the group may read', ...READABLE, spoil: withToken(0o750, 0o640) },
  { what: 'a log with a second name', ...HARD_LINK, spoil: linked(LOG) },
  { what: 'a state with a second name', ...HARD_LINK, spoil: linked('state/shop.json') },
  { what: 'a key with a second name', ...HARD_LINK, spoil: linked('mkey') },
  {
    what: 'logs that are elsewhere',
    ...SYMLINK,
    fix: 'rm PATH && mv TARGET PATH',
    spoil: moved('logs'),
  },
  {
    what: 'a log that is elsewhere',
    ...SYMLINK,
    fix: 'rm PATH && mv TARGET PATH',
    spoil: moved(LOG),
  },
  {
    what: 'a registry that is elsewhere',
    ...SYMLINK,
    fix: 'rm PATH && mv TARGET PATH',
    spoil: moved('state'),
  },
  {
    what: "an app's state that is elsewhere",
    ...SYMLINK,
    fix: 'rm PATH && mv TARGET PATH',
    spoil: moved('state/shop.json'),
  },
];

for (const { what, guard, why, fix, spoil, needsRoot } of SPOILT) {
  test(`${what} is not trusted, and the command printed with it fixes it`, async () => {
    if (needsRoot && !isRoot) return leftOut('giving files away needs root');
    // A folder of its own above the root, which may be spoilt as well.
    const root = join(temporaryFolder('guards'), 'above', 'root');
    mkdirSync(dirname(root));
    renameSync(goodRoot(), root);
    assert.is((await lastError(root)).status, 0);
    const path = spoil(root);
    const target = guard === 'symlink' ? realpathSync(path) : '';
    const fill = (text: string) =>
      text.replaceAll('PATH', shellWord(path)).replaceAll('TARGET', shellWord(target));
    const plain = why.replaceAll('PATH', path).replaceAll('TARGET', target);
    const before = tree(root, { modes: true });
    const { status, stdout, stderr } = await lastError(root, ['--json']);
    const message = `not to be trusted: ${plain}: run ${fill(fix)}`;
    assert.is(stderr, `runner debug last-error: ${message} (guard_tripped)\n`);
    assert.equal(JSON.parse(stdout), {
      guards: [{ guard, path, why: plain, fix: fill(fix), mend: fill(fix) }],
      error: 'guard_tripped',
      message,
    });
    assert.is(status, 1);
    assert.equal(tree(root, { modes: true }), before);
    await shell(fill(fix));
    const fixed = await lastError(root);
    assert.equal([fixed.status, fixed.stderr], [0, '']);
    assert.match(fixed.stdout, /^Last DeployFailure for shop:\n {2}version: {4}v1\n/);
  });
}

test('a root that is reached through a link is not trusted; the report uses the path as given', async () => {
  const root = goodRoot();
  const folder = temporaryFolder('guards');
  symlinkSync(dirname(root), join(folder, 'link'));
  const above = join(folder, 'link', basename(root));
  symlinkSync(root, join(folder, 'root'));
  for (const [given, link] of [
    [join(folder, 'root'), join(folder, 'root')],
    [above, join(folder, 'link')],
  ] as const) {
    for (const [asked, fix] of [
      [await lastError(given), `export RUNNER_ROOT=${shellWord(root)}`],
      [
        await lastError(root, ['--root', given]),
        `runner debug last-error shop --root ${shellWord(root)}`,
      ],
    ] as const) {
      assert.is(
        asked.stderr,
        `runner debug last-error: not to be trusted: ${link} is a symbolic link: run ${fix} (guard_tripped)\n`,
      );
      assert.is(asked.status, 1);
      const fixed = await shell(`${fix} && runner debug last-error shop`, { root });
      assert.equal([fixed.status, fixed.stderr], [0, '']);
    }
  }
});

test('all problems are reported together, outermost first, one command per line', async () => {
  const root = goodRoot();
  chmodSync(root, 0o775);
  chmodSync(join(root, 'mkey'), 0o666);
  writeFileSync(join(root, "mkey's twin"), '');
  const odd = join(temporaryFolder('guards'), "it's $HOME");
  renameSync(root, odd);
  chmodSync(logPath(odd), 0o666);
  const { stdout, stderr } = await lastError(odd, ['--json']);
  const { guards, message } = JSON.parse(stdout) as {
    guards: { guard: string; why: string; fix: string }[];
    message: string;
  };
  assert.equal(
    guards.map(({ guard }) => guard),
    ['writable', 'writable', 'writable', 'readable'],
  );
  assert.is(message, 'not to be trusted: 4 guards tripped, see above');
  assert.is(
    stderr,
    [...guards.map(({ why, fix }) => `${why}: run ${fix}`), `${message} (guard_tripped)`]
      .map((each) => `runner debug last-error: ${each}\n`)
      .join(''),
  );
  const commands = stderr.split('\n').flatMap((each) => each.split(': run ')[1] ?? []);
  for (const fix of commands) assert.is((await shell(fix)).stderr, '');
  assert.is((await lastError(odd)).status, 0);
});

test('files without secrets can be readable, and a folder such as /tmp can be above the root', async () => {
  for (const text of [
    'notify: {}\n',
    'telegram_bot_token: ""\ndiscord_webhook:\n',
    "notify: {telegram_bot_token: '', discord_webhook: null}\n",
    '# telegram_bot_token: 1:x\nmax_deploy_retries: 3 # discord_webhook: y\n',
  ]) {
    const root = goodRoot();
    writeFileSync(join(root, 'config.yml'), text);
    chmodSync(join(root, 'config.yml'), 0o644);
    chmodSync(logPath(root), 0o644);
    assert.equal([text, (await lastError(root)).stderr], [text, '']);
  }
  for (const [folder, file] of [
    [0o700, 0o644],
    [0o710, 0o604],
    [0o755, 0o600],
  ] as const) {
    const kept = goodRoot();
    withToken(folder, file)(kept);
    assert.is((await lastError(kept)).stderr, '', `${folder.toString(8)} ${file.toString(8)}`);
  }
  const above = temporaryFolder('guards');
  chmodSync(above, 0o1777);
  const root = join(above, 'root');
  renameSync(goodRoot(), root);
  assert.is((await lastError(root)).status, 0);
});

test('keys are looked for where the other commands find them', async () => {
  const root = goodRoot();
  const folder = temporaryFolder('guards');
  const mkey = join(folder, 'runner-mkey');
  writeFileSync(mkey, '', { mode: 0o644 });
  chmodSync(join(root, 'mkey'), 0o644);
  const named = await lastError(root, [], { env: { RUNNER_MKEY_FILE: mkey } });
  assert.ok(named.stderr.includes(`run chmod 600 ${shellWord(mkey)} (`), named.stderr);
  const relative = await lastError(root, [], {
    env: { RUNNER_MKEY_FILE: 'runner-mkey' },
    cwd: folder,
  });
  assert.is(relative.stderr, named.stderr);
  // systemd guards its copies by their folder and shows other modes.
  const credential = await lastError(root, [], { env: { CREDENTIALS_DIRECTORY: folder } });
  assert.equal([credential.status, credential.stderr], [0, '']);
});

test('an unknown app is reported before untrusted files, a missing log after them', async () => {
  const root = goodRoot();
  chmodSync(root, 0o777);
  const unknown = await run('runner-debug', ['last-error', 'nope'], { root });
  assert.match(unknown.stderr, /\(app_not_found\)\n$/);
  const fresh = rootWith('shop');
  chmodSync(fresh, 0o777);
  assert.match((await lastError(fresh)).stderr, /\(guard_tripped\)\n$/);
});

/** Runs a command that was printed for the user: as root only when it says sudo. */
async function obey(uid: number, fix: string, root: string): Promise<void> {
  const bin = temporaryFolder('bin');
  const become = 'exec setpriv --reuid="$user" --regid="$user" --clear-groups "$@"';
  const sudo = `#!/bin/sh\nif [ "$1" = -u ]; then user=\${2#?}; shift 2; ${become}; fi\nexec "$@"\n`;
  writeFileSync(join(bin, 'sudo'), sudo, { mode: 0o755 });
  for (const part of fix.split(' && ')) {
    if (/^(?:export|unset) /.test(part)) continue;
    const script = `PATH=${shellWord(bin)}:$PATH; user=${uid}; ${part.startsWith('sudo ') ? part : `set -- ${part}; ${become}`}`;
    const { status, stderr } = await shell(script, { root });
    assert.equal([status, stderr], [0, ''], part);
  }
}

test('a tree can belong to a user and be read by root; other and mixed owners are not trusted', async () => {
  if (!isRoot) return leftOut('running as another user needs root');
  const root = goodRoot();
  giveTo(root, SOMEBODY);
  const own = await lastErrorAs(SOMEBODY, root);
  assert.equal([own.status, own.stderr], [0, '']);
  assert.is((await lastError(root)).status, 0);
  const path = logPath(root);
  for (const [uid, fix] of [
    [SOMEBODY, `sudo chown ${SOMEBODY} ${shellWord(path)}`],
    [0, `chown ${SOMEBODY} ${shellWord(path)}`],
  ] as const) {
    chownSync(path, STRANGER, STRANGER);
    chmodSync(path, 0o644);
    const foreign = await lastErrorAs(uid, root);
    assert.is(
      foreign.stderr,
      `runner debug last-error: not to be trusted: ${path} belongs to another user (uid ${STRANGER}): run ${fix} (guard_tripped)\n`,
    );
    await obey(uid, fix, root);
    assert.equal((await lastErrorAs(uid, root)).stderr, '');
  }
  // What belongs to root is trusted by everybody.
  chownSync(path, 0, 0);
  assert.is((await lastErrorAs(SOMEBODY, root)).status, 0);
});

test('nothing is taken from another user: in a root of theirs the command is run as they', async () => {
  if (!isRoot) return leftOut('running as another user needs root');
  // Of STRANGER, with a home around it; another time only the folder itself, or what root left in it.
  for (const [uid, spoil] of [
    [SOMEBODY, () => {}],
    [SOMEBODY, (root: string) => chownSync(dirname(root), 0, 0)],
    [0, (root: string) => chownSync(join(root, 'state'), 0, 0)],
  ] as const) {
    const home = temporaryFolder('home');
    const root = join(home, 'root');
    renameSync(goodRoot(), root);
    giveTo(root, STRANGER);
    chownSync(home, STRANGER, STRANGER);
    spoil(root);
    const before = tree(home, { modes: true });
    const { status, stdout, stderr } = await lastErrorAs(uid, root, '--json');
    const fix = `sudo -u '#${STRANGER}' runner debug last-error shop --root ${shellWord(root)}`;
    const { guards } = JSON.parse(stdout) as { guards: { fix: string; guard: string }[] };
    assert.equal([...new Set(guards.map((each) => each.fix))], [fix]);
    // One command for all of them stands in one line.
    assert.match(
      stderr,
      new RegExp(
        `^runner debug last-error: not to be trusted: .+ belongs to another user \\(uid ${STRANGER}\\), and \\d+ more like it: run ${fix} \\(guard_tripped\\)\n$`,
      ),
    );
    assert.is(status, 1);
    await obey(uid, fix, root);
    assert.equal(tree(home, { modes: true }), before);
  }
  // A root folder that was given away: the rest is root's.
  const given = goodRoot();
  chownSync(given, STRANGER, STRANGER);
  const { stderr } = await lastError(given);
  const fix = `sudo -u '#${STRANGER}' runner debug last-error shop --root ${shellWord(given)}`;
  assert.ok(
    stderr.includes(`${given} belongs to another user (uid ${STRANGER}): run ${fix} (`),
    stderr,
  );
  await obey(0, fix, given);
});

test("out of another user's folder the root is moved, and the key is copied", async () => {
  if (!isRoot) return leftOut('giving files away needs root');
  for (const uid of [0, SOMEBODY]) {
    for (const args of [[], ['--root']] as const) {
      const place = temporaryFolder('guards');
      const root = join(place, 'of-a-stranger', 'deep', 'root');
      mkdirSync(dirname(root), { recursive: true });
      writeFileSync(join(place, 'root'), 'the name is taken');
      renameSync(goodRoot(), root);
      giveTo(root, uid);
      chownSync(dirname(dirname(root)), STRANGER, STRANGER);
      const { stdout } = await lastErrorAs(
        uid,
        root,
        '--json',
        ...args.flatMap((each) => [each, root]),
      );
      const [{ path, fix } = { path: '', fix: '' }, ...others] = JSON.parse(stdout).guards;
      assert.equal([path, others], [dirname(dirname(root)), []]);
      const now = shellWord(join(place, 'root-2'));
      const then =
        args.length === 0
          ? `export RUNNER_ROOT=${now}`
          : `runner debug last-error shop --root ${now}`;
      assert.is(fix, `${uid === 0 ? '' : 'sudo '}mv ${shellWord(root)} ${now} && ${then}`);
      await obey(uid, fix, root);
      assert.equal((await lastErrorAs(uid, join(place, 'root-2'))).stderr, '');
    }
  }
  const root = goodRoot();
  const key = join(temporaryFolder('guards'), 'mkey');
  renameSync(join(root, 'mkey'), key);
  chownSync(key, STRANGER, STRANGER);
  const env = { RUNNER_MKEY_FILE: key };
  for (const fix of [
    `install -m 600 ${shellWord(key)} ${shellWord(`${root}/mkey`)} && unset RUNNER_MKEY_FILE`,
    'unset RUNNER_MKEY_FILE',
  ]) {
    const { stdout } = await lastError(root, ['--json'], { env });
    assert.is(JSON.parse(stdout).guards[0].fix, fix);
    await obey(0, fix, root);
    assert.equal((await lastError(root)).stderr, '');
  }
});

test.run();
