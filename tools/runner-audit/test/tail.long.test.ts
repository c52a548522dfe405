import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { run, shell, shellWord } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { line, logPath, newRoot, record, rootWithLog } from './log.ts';
import { follow, interrupted, lines, tail, versionsIn } from './tail.ts';

test('tail and list never show secrets of foreign writers', async () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const left = record(`v1-${secret}`, { error: `login ${secret}`, guards: [{ why: secret }] });
  const root = rootWithLog(line(left));
  for (const command of ['tail', 'list']) {
    for (const args of [[], ['--json'], ['-o', 'yaml']]) {
      const { status, stdout } = await run('runner-audit', [command, ...args], { root });
      assert.is(status, 0);
      assert.match(stdout, /\[REDACTED\]/);
      assert.not.ok(stdout.includes(secret), `${command} ${args}`);
    }
  }
});

test("a foreign record with an app's token or a chat's credentials is shown without them by tail and list", async () => {
  const root = newRoot();
  const token = 'our-own-t0ken-of-shop';
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  assert.is((await run('runner-add', args, { root, stdin: token })).status, 0);
  writeFileSync(join(root, 'config.yml'), 'telegram_bot_token: 4711:of-our-own\n', { mode: 0o600 });
  const left = {
    event: 'DeployFailure',
    app: 'shop',
    instance: token,
    version: `v1-${token}`,
    error: `login ${token} of-our-own`,
    [token]: 1,
    [`x ${token}`]: 2,
    more: { [token]: 3 },
  };
  rootWithLog(line(left) + line(record('v2')), '', root);
  for (const command of ['tail', 'list']) {
    for (const args of [[], ['--json'], ['-o', 'yaml']]) {
      const { status, stdout } = await run('runner-audit', [command, ...args], { root });
      assert.is(status, 0);
      assert.match(stdout, /v1-\[REDACTED\]/);
      for (const secret of [token, 'of-our-own'])
        assert.not.ok(stdout.includes(secret), `${command} ${args}`);
      if (args[0] === '--json') assert.is(stdout.split('\n')[1], JSON.stringify(record('v2')));
    }
  }
});

test('older records come from rotated files, compressed or not', async () => {
  const root = rootWithLog(lines('v5', 'v6'));
  rootWithLog(lines('v3', 'v4'), '.1', root);
  rootWithLog(lines('v1', 'v2'), '.2', root);
  writeFileSync(`${logPath(root)}.3.gz`, gzipSync(lines('v0')));
  rootWithLog('not a log', '.bak', root);
  assert.equal(versionsIn((await tail(root, '-n', '3', '--json')).stdout), ['v4', 'v5', 'v6']);
  assert.equal(versionsIn((await tail(root, '-n', '6', '--json')).stdout).length, 6);
  assert.equal(versionsIn((await tail(root, '--json')).stdout), [
    'v0',
    'v1',
    'v2',
    'v3',
    'v4',
    'v5',
    'v6',
  ]);
  const packed = newRoot();
  rootWithLog('', '.2.gz', packed);
  writeFileSync(`${logPath(packed)}.2.gz`, gzipSync(lines('v1', 'v2', 'v3')));
  assert.equal(versionsIn((await tail(packed, '-n', '2', '--json')).stdout), ['v2', 'v3']);
  const gone = rootWithLog(lines('v1'), '.1');
  assert.equal(versionsIn((await tail(gone, '--json')).stdout), ['v1']);
});

test('torn and foreign lines are skipped and counted', async () => {
  const torn = '{"timestamp":"2026-05-0';
  const root = rootWithLog(`${lines('v1')}${torn}\nnonsense\n\n[1]\n${lines('v2')}${torn}`);
  const { status, stdout, stderr } = await tail(root, '--json');
  assert.equal(versionsIn(stdout), ['v1', 'v2']);
  assert.is(stderr, 'runner audit tail: skipped 4 line(s) that are not records\n');
  assert.is(status, 0);
});

test('a log of one endless line, or of nothing, has no records', async () => {
  const endless = await tail(rootWithLog('x'.repeat(20_000_000)));
  assert.equal(
    [endless.status, endless.stdout, endless.stderr],
    [0, '', 'runner audit tail: skipped 1 line(s) that are not records\n'],
  );
  const empty = await tail(rootWithLog(''));
  assert.equal([empty.status, empty.stdout, empty.stderr], [0, '', '']);
});

for (const value of ['x', '-1', '1.5', '', '100001', '99999999999']) {
  test(`-n ${JSON.stringify(value)} is wrong usage`, async () => {
    const { status, stdout, stderr } = await tail(rootWithLog(lines('v1')), '-n', value);
    const sentence =
      value === ''
        ? "a value is required for '--lines <N>' but none was supplied"
        : `invalid value '${value}' for '--lines <N>': it must be a whole number up to 100000`;
    assert.equal([status, stdout, stderr], [2, '', `error: ${sentence}\n`]);
  });
}

test('the content of records cannot control the terminal', async () => {
  const evil = 'x\u001b[2J\u009b1m\u202e\t';
  const fields = { event_type: evil, project: evil, instance: evil, deploy_id: evil, error: evil };
  const root = rootWithLog(line(record(evil, { ...fields, timestamp: evil })));
  const { stdout } = await tail(root);
  const shown = 'x\\x1b[2J\\x9b1m\\u202e\\t';
  assert.is(
    stdout,
    `${[shown, shown, `${shown}/${shown}`, shown, `[${shown}]`, shown].join(' ')}\n`,
  );
  assert.not.match((await tail(root, '--json')).stdout, /[\u001b\u009b\u202e]/);
  assert.not.match((await tail(root, '-o', 'yaml')).stdout, /[\u001b\u009b\u202e]/);
});

test('a closed reader is not a failure, and nothing is written', async () => {
  const root = rootWithLog(lines(...Array.from({ length: 5000 }, (_, index) => `v${index}`)));
  const before = tree(root, { modes: true });
  const { stdout, stderr } = await shell(
    '{ runner-audit tail -n 5000 --json; echo "status $?" >&2; } | head -1',
    { root },
  );
  assert.equal([versionsIn(stdout), stderr], [['v0'], 'status 0\n']);
  assert.equal(tree(root, { modes: true }), before);
});

test('-f exits with 143 on SIGTERM', async () => {
  const root = rootWithLog(lines('v1'));
  const { running, next } = follow(root, '-n', '0');
  const first = next();
  // Until it follows, a signal ends it as any other program.
  while (running.stderr() === '') {
    appendFileSync(logPath(root), `nonsense\n${lines('v2')}`);
    await after(50);
  }
  assert.is(await first, 'v2');
  running.kill('SIGTERM');
  assert.is((await running.done).status, 143);
});

test('-f waits for a log that does not exist yet', async () => {
  const root = newRoot();
  const { running, next } = follow(root);
  await after(300);
  rootWithLog(lines('v1'), '', root);
  assert.is(await next(), 'v1');
  // Until it follows, a signal ends it as any other program.
  appendFileSync(logPath(root), lines('v2'));
  assert.is(await next(), 'v2');
  await interrupted(running);
});

test('-f continues through rotation by renaming and loses nothing', async () => {
  const root = rootWithLog(lines('v1'));
  const { running, next } = follow(root);
  assert.is(await next(), 'v1');
  appendFileSync(logPath(root), lines('v2'));
  renameSync(logPath(root), `${logPath(root)}.1`);
  // A writer that had opened it before may still append.
  appendFileSync(`${logPath(root)}.1`, lines('v3'));
  assert.is(await next(), 'v2');
  assert.is(await next(), 'v3');
  appendFileSync(`${logPath(root)}.1`, lines('late'));
  rootWithLog(lines('v4'), '', root);
  assert.is(await next(), 'late');
  assert.is(await next(), 'v4');
  appendFileSync(logPath(root), lines('v5'));
  assert.is(await next(), 'v5');
  await interrupted(running);
});

test('-f loses nothing when the log is rotated several times between two looks at it', async () => {
  const root = rootWithLog(lines('v1'));
  const log = logPath(root);
  const { running, next } = follow(root);
  assert.is(await next(), 'v1');
  appendFileSync(log, lines('v2'));
  renameSync(log, `${log}.1`);
  writeFileSync(log, lines('v3'));
  for (const version of ['v4', 'v5']) {
    if (existsSync(`${log}.2`)) renameSync(`${log}.2`, `${log}.3`);
    renameSync(`${log}.1`, `${log}.2`);
    renameSync(log, `${log}.1`);
    writeFileSync(log, lines(version));
  }
  for (const version of ['v2', 'v3', 'v4', 'v5']) assert.is(await next(), version);
  // The one that is open is compressed by the second rotation, as the snippet that ships does.
  appendFileSync(log, lines('v6'));
  assert.is(await next(), 'v6');
  for (const suffix of ['.1', '.2', '.3']) rmSync(log + suffix);
  writeFileSync(`${log}.2.gz`, gzipSync(readFileSync(log)));
  rmSync(log);
  writeFileSync(`${log}.1`, lines('v7'));
  writeFileSync(log, lines('v8'));
  for (const version of ['v7', 'v8']) assert.is(await next(), version);
  assert.is(await interrupted(running), '');
});

test('-f starts again when the log was emptied', async () => {
  const root = rootWithLog(lines('v1', 'v2'));
  const { running, next } = follow(root);
  assert.equal([await next(), await next()], ['v1', 'v2']);
  writeFileSync(logPath(root), '');
  await after(500);
  appendFileSync(logPath(root), lines('v3'));
  assert.is(await next(), 'v3');
  await interrupted(running);
});

test('-f ends quietly once its reader has left', async () => {
  const root = rootWithLog(lines('v1'));
  const left = join(root, 'left');
  const script = `{ runner-audit tail -f --json; echo "status $?" >&2; } | { head -1; : > ${shellWord(left)}; }`;
  let hasEnded = false;
  const ended = shell(script, { root }).finally(() => {
    hasEnded = true;
  });
  await until(() => existsSync(left), 'the first record does not come');
  // It notices when it has something to say.
  await until(() => {
    if (!hasEnded) appendFileSync(logPath(root), lines('v2'));
    return hasEnded;
  }, 'it follows without a reader');
  const { stdout, stderr } = await ended;
  assert.equal([versionsIn(stdout), stderr], [['v1'], 'status 0\n']);
});

test.run();
