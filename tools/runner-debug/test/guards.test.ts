/** What `last-error` does not trust, as whoever finds it sees it. */
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
import { run, shell } from '@runner/testing/run';
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
  /** What is told, with the path in place of PATH, and the command that mends it. */
  readonly why: string;
  readonly mend: string;
  /** Spoils a good root; returns the path that is told. */
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
  mend: 'chmod go-w PATH',
};
const OWNER = {
  guard: 'owner',
  why: `PATH belongs to another user (uid ${STRANGER})`,
  mend: 'chown root PATH',
  needsRoot: true,
};
const READABLE = {
  guard: 'readable',
  why: 'PATH holds secrets that others may read',
  mend: 'chmod 600 PATH',
};
const HARD_LINK = {
  guard: 'hard_link',
  why: 'PATH has another name (a hard link)',
  mend: 'cp -p PATH PATH.new && mv PATH.new PATH',
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
  { what: 'a root of another user', ...OWNER, spoil: owned('') },
  { what: 'a folder of another user above the root', ...OWNER, spoil: owned('..') },
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
    mend: 'rm PATH && mv TARGET PATH',
    spoil: moved('logs'),
  },
  {
    what: 'a log that is elsewhere',
    ...SYMLINK,
    mend: 'rm PATH && mv TARGET PATH',
    spoil: moved(LOG),
  },
  {
    what: 'a registry that is elsewhere',
    ...SYMLINK,
    mend: 'rm PATH && mv TARGET PATH',
    spoil: moved('state'),
  },
  {
    what: "an app's state that is elsewhere",
    ...SYMLINK,
    mend: 'rm PATH && mv TARGET PATH',
    spoil: moved('state/shop.json'),
  },
];

for (const { what, guard, why, mend, spoil, needsRoot } of SPOILT) {
  test(`${what} is not trusted, and what mends it is told and does so`, async () => {
    if (needsRoot && !isRoot) return leftOut('giving files away needs root');
    // A folder of its own above the root, which may be spoilt as well.
    const root = join(temporaryFolder('guards'), 'above', 'root');
    mkdirSync(dirname(root));
    renameSync(goodRoot(), root);
    assert.is((await lastError(root)).status, 0);
    const path = spoil(root);
    const target = guard === 'symlink' ? realpathSync(path) : '';
    const fill = (text: string) => text.replaceAll('PATH', path).replaceAll('TARGET', target);
    const before = tree(root, { modes: true });
    const { status, stdout, stderr } = await lastError(root, ['--json']);
    const message = `not to be trusted: ${fill(why)}: run ${fill(mend)}`;
    assert.is(stderr, `runner debug last-error: ${message} (guard_tripped)\n`);
    assert.equal(JSON.parse(stdout), {
      guards: [{ guard, path, why: fill(why), mend: fill(mend) }],
      error: 'guard_tripped',
      message,
    });
    assert.is(status, 1);
    assert.equal(tree(root, { modes: true }), before);
    await shell(fill(mend));
    const mended = await lastError(root);
    assert.equal([mended.status, mended.stderr], [0, '']);
    assert.match(mended.stdout, /^Last DeployFailure for shop:\n {2}version: {4}v1\n/);
  });
}

test('a root that is reached through a link is not trusted; its real path is told', async () => {
  const root = goodRoot();
  const folder = temporaryFolder('guards');
  symlinkSync(dirname(root), join(folder, 'link'));
  const above = join(folder, 'link', basename(root));
  symlinkSync(root, join(folder, 'root'));
  for (const [given, link] of [
    [join(folder, 'root'), join(folder, 'root')],
    [above, join(folder, 'link')],
  ] as const) {
    const { status, stderr } = await lastError(given);
    assert.is(
      stderr,
      `runner debug last-error: not to be trusted: ${link} is a symbolic link: run export RUNNER_ROOT=${root} (guard_tripped)\n`,
    );
    assert.is(status, 1);
    assert.is((await lastError('', ['--root', root])).status, 0);
  }
});

test('all that trips is told at once, from the outside inwards', async () => {
  const root = goodRoot();
  chmodSync(root, 0o775);
  chmodSync(join(root, 'mkey'), 0o666);
  writeFileSync(join(root, "mkey's twin"), '');
  const odd = join(temporaryFolder('guards'), "it's $HOME");
  renameSync(root, odd);
  chmodSync(logPath(odd), 0o666);
  const { stdout, stderr } = await lastError(odd, ['--json']);
  const { guards } = JSON.parse(stdout) as { guards: { guard: string; mend: string }[] };
  assert.equal(
    guards.map(({ guard }) => guard),
    ['writable', 'writable', 'writable', 'readable'],
  );
  assert.is(stderr.split('\n').length, 2);
  for (const { mend } of guards) assert.is((await shell(mend)).stderr, '');
  assert.is((await lastError(odd)).status, 0);
});

test('what holds no secret may be read, and a folder such as /tmp may be above the root', async () => {
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
  assert.ok(named.stderr.includes(`run chmod 600 ${mkey} (`), named.stderr);
  const relative = await lastError(root, [], {
    env: { RUNNER_MKEY_FILE: 'runner-mkey' },
    cwd: folder,
  });
  assert.is(relative.stderr, named.stderr);
  // systemd guards its copies by their folder and shows other modes.
  const credential = await lastError(root, [], { env: { CREDENTIALS_DIRECTORY: folder } });
  assert.equal([credential.status, credential.stderr], [0, '']);
});

test('an app that is not registered is told before what is not trusted, the missing log after', async () => {
  const root = goodRoot();
  chmodSync(root, 0o777);
  const unknown = await run('runner-debug', ['last-error', 'nope'], { root });
  assert.match(unknown.stderr, /\(app_not_found\)\n$/);
  const fresh = rootWith('shop');
  chmodSync(fresh, 0o777);
  assert.match((await lastError(fresh)).stderr, /\(guard_tripped\)\n$/);
});

test('a user may own the tree, and root may read it; others and mixed owners are not trusted', async () => {
  if (!isRoot) return leftOut('running as another user needs root');
  const root = goodRoot();
  giveTo(root, SOMEBODY);
  const own = await lastErrorAs(SOMEBODY, root);
  assert.equal([own.status, own.stderr], [0, '']);
  assert.is((await lastError(root)).status, 0);
  chownSync(logPath(root), STRANGER, STRANGER);
  chmodSync(logPath(root), 0o644);
  const path = logPath(root);
  const foreign = await lastErrorAs(SOMEBODY, root);
  assert.is(
    foreign.stderr,
    `runner debug last-error: not to be trusted: ${path} belongs to another user (uid ${STRANGER}): run chown ${SOMEBODY} ${path} (guard_tripped)\n`,
  );
  assert.ok((await lastError(root)).stderr.includes(`run chown ${SOMEBODY} ${path}`));
  // What belongs to root is trusted by everybody.
  chownSync(logPath(root), 0, 0);
  assert.is((await lastErrorAs(SOMEBODY, root)).status, 0);
  giveTo(root, STRANGER);
  for (const name of ['state', 'state/shop.json']) chmodSync(join(root, name), 0o755);
  const stranger = await lastErrorAs(SOMEBODY, root);
  assert.match(stranger.stderr, /belongs to another user .*\(guard_tripped\)\n$/);
});

test.run();
