/** Whom the folders and files of a root belong to. */
import { chmodSync, chownSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shell, shellWord } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { examined, type Finding, fixed, registered } from './patient.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;
const leftOut = (why: string) => void process.stdout.write(`(left out: ${why})\n`);

test('files of another user are reported with the fixing command', async () => {
  if (!isRoot) return leftOut('giving files away needs root');
  const root = await registered();
  for (const path of ['state/shop.json', 'locks']) {
    chownSync(join(root, path), NOBODY, NOBODY);
    const what = `${join(root, path)} belongs to another user (uid 65534)`;
    await fixed(root, `problem folders: ${what}`);
  }
});

test('files of root in the folder of another account are reported with the fixing command', async () => {
  if (!isRoot) return leftOut('giving files away needs root');
  const root = await registered();
  await shell(
    `chown -R ${NOBODY}:${NOBODY} "$RUNNER_ROOT" && mkdir "$RUNNER_ROOT/logs" && chown ${NOBODY} "$RUNNER_ROOT/logs"`,
    { root },
  );
  assert.equal((await examined(root)).troubles, []);
  for (const path of ['state/shop.json', 'mkey']) {
    chownSync(join(root, path), 0, 0);
    const what = `${join(root, path)} belongs to user 0, the root to user 65534`;
    await fixed(root, `problem folders: ${what}`);
  }
});

test('what a deploy needs and another user owns is reported, many files of a folder at once', async () => {
  if (!isRoot) return leftOut('giving files away needs root');
  const root = await registered();
  const made =
    'locks/jobs/shop/.book apps/shop/baseline.json apps/shop/instances/default/run/output.log';
  const other = 'secrets/gone.json plans/p-1.json apps/shop/instances/default/shared/upload';
  const logs =
    'logs/deploys/shop/1.log logs/deploys/shop/2.log logs/deploys/shop/3.log logs/jobs/4.log';
  const make = `cd "$RUNNER_ROOT" && for path in ${made} ${other} ${logs}; do mkdir -p "$(dirname $path)" && echo {} > $path; done
chmod -R go= . && chown -R ${NOBODY}:${NOBODY} . && chown 12345 apps/shop/instances/default/shared/upload`;
  assert.is((await shell(make, { root })).status, 0);
  assert.equal((await examined(root)).troubles, []);
  for (const path of `${made} locks/jobs plans secrets/gone.json`.split(' ')) {
    assert.is((await shell(`cd "$RUNNER_ROOT" && chown 0:0 ${path}`, { root })).status, 0);
    const what = `${join(root, path)} belongs to user 0, the root to user ${NOBODY}`;
    await fixed(root, `problem folders: ${what}`);
  }
  assert.is((await shell(`cd "$RUNNER_ROOT" && chown 0:0 ${logs}`, { root })).status, 0);
  const words = `${join(root, 'logs')} has files of user 0, the root belongs to user ${NOBODY}`;
  await fixed(root, `problem folders: ${words}`);
  const mixed = `cd "$RUNNER_ROOT" && chown 0:0 ${logs} && chown 12345 logs/jobs/4.log`;
  assert.is((await shell(mixed, { root })).status, 0);
  const { findings, troubles } = await examined(root);
  assert.equal(troubles, [
    `problem folders: ${words}`,
    `problem folders: ${words.replace('files of user 0', 'files of user 12345')}`,
  ]);
  for (const { fix } of findings) if (fix) assert.is((await shell(fix, { root })).status, 0);
  assert.equal((await examined(root)).troubles, []);
});

test('a folder of root is reported to the account that cannot enter it, with the fix', async () => {
  if (!isRoot) return leftOut('becoming another user needs root');
  const root = await registered();
  const made = 'apps/shop/releases/one/src logs/deploys spool/notify apps/shop/instances/default';
  const prepare = `cd "$RUNNER_ROOT" && mkdir -p ${made} && chmod -R go= . && chown -R 65534:65534 .`;
  assert.is((await shell(prepare, { root })).status, 0);
  chmodSync(dirname(root), 0o755);
  // As after `sudo runner`, which becomes the account before it looks.
  const doctor = `setpriv --reuid=65534 --regid=65534 --clear-groups '${process.execPath}' "$(command -v runner-doctor)" --offline --json`;
  const seen = async () => {
    const { findings } = JSON.parse((await shell(doctor, { root })).stdout);
    return (findings as Finding[]).filter(({ level }) => level === 'problem');
  };
  assert.equal(await seen(), []);
  for (const path of ['logs', 'spool', 'state', 'apps', 'apps/shop', 'apps/shop/releases/one']) {
    assert.is((await shell(`chown -R 0:0 "$RUNNER_ROOT/${path}"`, { root })).status, 0);
    const problems = await seen();
    assert.is(
      problems[0]?.message,
      `${join(root, path)} belongs to user 0, the root to user 65534`,
    );
    // Whatever stumbled over it names the same command, not the doctor again.
    assert.equal([...new Set(problems.map(({ fix }) => fix))].length, 1, path);
    const { status, stderr } = await shell(`${problems[0]?.fix}`, { root });
    assert.is(status, 0, stderr);
    assert.equal(await seen(), [], path);
  }
  chmodSync(join(root, 'logs'), 0o000);
  const [closed] = await seen();
  assert.is(closed?.message, `${join(root, 'logs')} is closed to its own user`);
  assert.is((await shell(`${closed?.fix}`, { root })).status, 0);
  assert.equal(await seen(), []);
});

test('another user sees whose root it is and the command with sudo, and nothing else', async () => {
  if (!isRoot) return leftOut('becoming another user needs root');
  const root = await registered();
  chmodSync(root, 0o755);
  const node = process.execPath;
  const doctor = `setpriv --reuid=65534 --regid=65534 --clear-groups '${node}' "$(command -v runner-doctor)"`;
  const message = `${root} belongs to user 0, but you are user 65534`;
  const fix = `sudo -u '#0' runner doctor --root ${shellWord(root)}`;
  const { stdout, status } = await shell(`${doctor} --json`, { root });
  const { findings, problems, skipped } = JSON.parse(stdout);
  assert.is(status, 1);
  assert.equal(findings, [{ check: 'folders', level: 'problem', message, fix, mend: fix }]);
  assert.equal([problems, skipped.length], [1, 17]);
  const shown = await shell(doctor, { root });
  assert.is(shown.stdout, `problem  folders  ${message}\n${' '.repeat(18)}${fix}\n`);
  assert.is(shown.status, 1);
});

test.run();
