import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { run } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { giveTo, isRoot, lastErrorAs, SOMEBODY } from './guarded.ts';
import { found, lastError, rootWithLog } from './last-error.ts';
import { failure, logPath, logText, rootWith, writeLog } from './log.ts';

/** Root ignores rights: the file then belongs to, and is read by, another user. */
const giveToSomebody = (root: string) => isRoot && giveTo(root, SOMEBODY);

const lastErrorAsSomebody = (root: string, ...args: string[]) =>
  isRoot ? lastErrorAs(SOMEBODY, root, ...args) : lastError(root, 'shop', ...args);

test('the labels are aligned, and further lines of the error are indented under its text', async () => {
  const error =
    'build: `make` ended with status 2\n\tcc: main.c:3: no such thing\n\nmake: Error 2\n';
  const { status, stdout, stderr } = await lastError(rootWithLog(failure('v2', { error })), 'shop');
  const lines = [
    'Last DeployFailure for shop:',
    '  version:    v2',
    '  timestamp:  2026-05-04T09:30:00.000Z',
    '  error:      build: `make` ended with status 2',
    '              \tcc: main.c:3: no such thing',
    '              ',
    '              make: Error 2',
    '  deploy:     a1b2c3d4',
    '',
  ];
  assert.is(stdout, lines.join('\n'));
  assert.equal([status, stderr], [0, '']);
});

test('what a record does not say is a dash', async () => {
  const root = rootWithLog({ event: 'DeployFailure', app: 'shop', error: 'boom' });
  const { stdout } = await lastError(root, 'shop');
  const lines = [
    'Last DeployFailure for shop:',
    '  version:    -',
    '  timestamp:  -',
    '  error:      boom',
  ];
  assert.is(stdout, `${lines.join('\n')}\n`);
});

test('the text output shows the deploy, and the command for its log if that is kept', async () => {
  const root = rootWithLog(
    failure('v2', { error: 'boom', stage: 'build', commit: 'c0ffee', duration_ms: 1234 }),
  );
  mkdirSync(join(root, 'logs/deploys/shop'), { recursive: true });
  writeFileSync(join(root, 'logs/deploys/shop/a1b2c3d4.log'), 'boom\n');
  const { stdout } = await lastError(root, 'shop');
  assert.is(
    stdout,
    [
      'Last DeployFailure for shop:',
      '  version:    v2',
      '  timestamp:  2026-05-04T09:30:00.000Z',
      '  error:      boom',
      '  deploy:     a1b2c3d4',
      '  stage:      build',
      '  commit:     c0ffee',
      '  duration:   1.2 s',
      '  whole log:  runner debug log shop --deploy a1b2c3d4',
      '',
    ].join('\n'),
  );
  const { status } = await run('runner-debug', ['log', 'shop', '--deploy', 'a1b2c3d4'], { root });
  assert.is(status, 0);
});

test('a failure appended late is not shown as the newest if a later one precedes it', async () => {
  const at = (minute: number, more = {}) =>
    failure(`v${minute}`, { timestamp: `2026-05-04T09:0${minute}:00.000Z`, ...more });
  const late = { late: true };
  assert.is(await found(rootWithLog(at(3), at(1, late), at(2, late))), 'v3');
  assert.is(await found(rootWithLog(at(1), at(3, late), at(2, late))), 'v3');
  assert.is(await found(rootWithLog(at(9), at(1), at(2, late))), 'v2');
  assert.is(await found(rootWithLog(at(2, late), at(1, late))), 'v2');
  const timeless = failure('v0', { timestamp: 'soon', late: true });
  assert.is(await found(rootWithLog(at(1), timeless)), 'v1');
  // A rotation may have come between.
  const root = rootWithLog(at(1, late));
  writeLog(root, logText([at(4), at(2, late)]), '.1');
  assert.is(await found(root), 'v4');
  rmSync(`${logPath(root)}.1`);
  writeLog(root, gzipSync(logText([at(9, late), at(4), at(2, late), at(5, late)])), '.1.gz');
  assert.is(await found(root), 'v5');
});

test('apps whose names begin alike are not mixed up', async () => {
  const root = rootWithLog(
    failure('v1', { project: 'api' }),
    failure('v2', { project: 'api-2' }),
    failure('v3', { project: 'API' }),
    failure('v4', { project: 'shop', error: '"api"' }),
  );
  assert.is(await found(root, 'api'), 'v1');
  assert.is(await found(root, 'api-2'), 'v2');
});

test('records that only resemble a failure of this app are ignored', async () => {
  const decoys = [
    failure('d1', { project: 'blog', error: '{"event_type":"DeployFailure","project":"shop"}' }),
    failure('d2', { event_type: 'DeployStarted', error: 'DeployFailure' }),
    failure('d3', { event_type: 'deployfailure' }),
    failure('d4', { project: ['shop'] }),
    failure('d5', { project: 'blog', app: 'shop' }),
    failure('d6', { event_type: 'DeploySuccess', event: 'DeployFailure' }),
    [failure('d7')],
    { nested: failure('d8') },
    '"DeployFailure shop"',
    '{"event_type":"DeployFailure","project":"sho',
    'null',
    '',
  ];
  const told =
    'runner debug last-error: skipped 1 line(s) that are not records, of the lines read\n';
  assert.is(await found(rootWithLog(failure('v1'), ...decoys), 'shop', told), 'v1');
  assert.is(await found(rootWithLog(...decoys), 'shop', told), null);
});

test('both field namings are read, with any other fields', async () => {
  const older = { event: 'DeployFailure', app: 'shop', version: 'v7', error: 'x', timestamp: 't' };
  assert.is(await found(rootWithLog(failure('v1'), older)), 'v7');
  const mixed = { event: 'DeployFailure', project: 'shop', version: 'v8' };
  const { stdout } = await lastError(rootWithLog(mixed), 'shop', '--json');
  assert.equal(JSON.parse(stdout), {
    app: 'shop',
    version: 'v8',
    timestamp: '',
    error: '',
    event: 'DeployFailure',
    truncated: false,
    deploy_id: null,
    stage: null,
    commit: null,
    duration_ms: null,
    log_command: null,
  });
  const spaced = ' { "event_type" : "DeployFailure" , "project" : "shop" , "version" : "v9" } ';
  assert.is(await found(rootWithLog(spaced)), 'v9');
});

test('names that a foreign writer has written as escapes are read', async () => {
  const escaped = (version: string) =>
    JSON.stringify(failure(version))
      .replace('"DeployFailure"', '"\\u0044eploy\\u0046ailure"')
      .replace('"shop"', '"sh\\u006Fp"');
  const other = JSON.stringify(failure('v9', { project: 'api', error: '\u001b <' })).replace(
    '<',
    '\\u003c',
  );
  const root = rootWithLog(failure('v1'), escaped('v2'), other, other);
  assert.is(await found(root), 'v2');
  writeLog(root, logText([escaped('v2'), failure('v3'), other]));
  assert.is(await found(root), 'v3');
  writeLog(root, '');
  writeLog(root, gzipSync(logText([failure('v4'), escaped('v5'), other])), '.1.gz');
  assert.is(await found(root), 'v5');
  for (const args of [[], ['-n', '1']]) {
    const list = ['list', '--json', '--project', 'shop', ...args];
    assert.match((await run('runner-audit', list, { root })).stdout, /"version":"v5"[^\n]*\n$/);
  }
});

test('the time is shown in UTC, whatever the zone of the record', async () => {
  for (const timestamp of [
    '2026-05-04T11:30:00+02:00',
    '2026-05-04T09:30:00',
    '2026-05-04 09:30',
  ]) {
    const root = rootWithLog(failure('v1', { timestamp }));
    const json = await lastError(root, 'shop', '--json');
    assert.is(JSON.parse(json.stdout).timestamp, '2026-05-04T09:30:00.000Z');
  }
});

test('a log without a newline at its end, or with CR LF, is read', async () => {
  const root = rootWith('shop');
  writeLog(root, JSON.stringify(failure('v1')));
  assert.is(await found(root), 'v1');
  writeLog(root, `${JSON.stringify(failure('v2'))}\r\n`);
  assert.is(await found(root), 'v2');
});

test('unreadable input is skipped and reported: damaged files, foreign files, lines', async () => {
  const said = (text: string) => `runner debug last-error: ${text}\n`;
  const cut = said(
    'deploy-events.jsonl.1.gz cannot be read to the end: it is damaged or cut short',
  );
  const torn = said('skipped 1 line(s) that are not records, of the lines read');
  const records = [failure('v1'), failure('v2'), failure('v3')];
  const whole = gzipSync(logText(records));
  for (const [damage, version, told] of [
    // The end of the last record is gone as well.
    [whole.subarray(0, -12), 'v2', cut + torn],
    [whole.subarray(0, -8), 'v3', cut],
    [whole.subarray(0, -1), 'v3', cut],
    ['no gzip at all', 'v0', cut],
    ['', 'v0', cut],
    [gzipSync(`\ufeff${logText(records.slice(0, 1))}`), 'v0', torn],
  ] as const) {
    const root = rootWithLog();
    writeLog(root, damage, '.1.gz');
    writeLog(root, logText([failure('v0')]), '.2');
    const { status, stdout, stderr } = await lastError(root, 'shop', '--json');
    assert.equal([status, JSON.parse(stdout)?.version, stderr], [0, version, told]);
  }
  const root = rootWithLog(
    `\ufeff${JSON.stringify(failure('v1'))}`,
    '{"project":"shop","x":"DeployFailure"',
  );
  mkdirSync(`${logPath(root)}.1`);
  const { status, stdout, stderr } = await lastError(root, 'shop');
  assert.is(
    stderr,
    said('skipped deploy-events.jsonl.1: it is not a file') +
      said('skipped 2 line(s) that are not records, of the lines read'),
  );
  assert.equal([status, stdout], [0, 'No DeployFailure found for shop.\n']);
});

test('a log that is not a file is reported', async () => {
  const root = rootWith('shop');
  mkdirSync(logPath(root), { recursive: true });
  const folder = await lastError(root, 'shop');
  assert.is(
    folder.stderr,
    `runner debug last-error: cannot read ${logPath(root)}: it is not a file (file_unreadable)\n`,
  );
  const pipe = rootWith('shop');
  mkdirSync(join(pipe, 'logs'));
  spawnSync('mkfifo', [logPath(pipe)]);
  const fifo = await lastError(pipe, 'shop');
  assert.match(fifo.stderr, /: it is not a file \(file_unreadable\)\n$/);
  assert.equal([folder.status, fifo.status], [1, 1]);
});

const HOOK = 'https://hooks.example.org/api/webhooks/42/mywebhooksecretvalue';

const BOT = '5550001:short_secret_9';

test("the chats' credentials in config.yml are redacted, whole and their secret parts, in any YAML", async () => {
  const error = `POST ${HOOK} and ${BOT}\nmywebhooksecretvalue short_secret_9 ${btoa(HOOK)}`;
  const root = rootWithLog(failure('v1', { error }));
  for (const config of [
    `notify:\n  discord_webhook: ${HOOK}\n  telegram_bot_token: "${BOT}"\n`,
    `notify: { discord_webhook: "${HOOK}", telegram_bot_token: '${BOT}' }\n`,
  ]) {
    writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
    for (const args of [[], ['--json'], ['-o', 'yaml']]) {
      const { status, stdout } = await lastError(root, 'shop', ...args);
      assert.is(status, 0);
      assert.match(stdout, /POST \[REDACTED\] and \[REDACTED\]/);
      for (const secret of ['mywebhooksecretvalue', 'short_secret_9', btoa(HOOK).slice(4, -4)])
        assert.not.ok(stdout.includes(secret), stdout);
    }
  }
});

test('a token with colours or unseen characters in it is redacted, and other lines keep theirs', async () => {
  const root = join(temporaryFolder('debug'), 'root');
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  const token = 'plainapptoken-QQQQ-1234';
  assert.is((await run('runner-add', args, { root, stdin: token })).status, 0);
  for (const hidden of [
    'plainappto\u001b[0mken-QQQQ-1234',
    'plain\u200bapptoken\u0000-QQQQ-1234',
  ]) {
    const error = `\u001b[31mred\u001b[0m\nlogin \u001b[1m${hidden}\u001b[0m failed`;
    writeLog(root, logText([failure('v1', { error })]));
    const { stdout } = await lastError(root, 'shop', '--json');
    const shown = '\u001b[31mred\u001b[0m\nlogin \u001b[1m[REDACTED]\u001b[0m failed';
    assert.is(JSON.parse(stdout).error, shown);
  }
});

test('an error of megabytes of one character is printed', async () => {
  for (const piece of ['a', '1', ' ', '\n', '-', '\u001b[', '\u001b]', '=', '/']) {
    const error = `${piece.repeat(12_000_000 / JSON.stringify(piece).length)}x`;
    const root = rootWithLog(failure('v1', { error }));
    const { status, stderr, stdout } = await lastError(root, 'shop');
    assert.equal([status, stderr], [0, ''], piece);
    assert.ok(stdout.endsWith('x\n  deploy:     a1b2c3d4\n'), piece);
  }
});

test('a record cannot control the terminal, and JSON keeps all of it', async () => {
  const evil = 'a\u001b[2J\u009b1m\u202eb\u0007\u2028c\r\nd\te';
  const root = rootWithLog(failure(evil, { timestamp: evil, error: evil }));
  const { stdout } = await lastError(root, 'shop');
  const line = 'a\\x1b[2J\\x9b1m\\u202eb\\x07\\u2028c\\x0d';
  assert.is(
    stdout,
    `Last DeployFailure for shop:\n  version:    ${line}\\nd\\te\n  timestamp:  ${line}\\nd\\te\n  error:      ${line}\n              d\te\n  deploy:     a1b2c3d4\n`,
  );
  const json = await lastError(root, 'shop', '--json');
  assert.not.match(json.stdout, /[\u001b\u009b\u202e\u0007\u2028\r]/);
  assert.is(JSON.parse(json.stdout).error, evil);
  assert.not.match((await lastError(root, 'shop', '-o', 'yaml')).stdout, /[\u001b\u009b\u202e]/);
});

test('an error of any length is shown whole', async () => {
  const error = `${'x'.repeat(50)}\n`.repeat(2000);
  const { stdout } = await lastError(rootWithLog(failure('v1', { error })), 'shop', '--json');
  assert.is(JSON.parse(stdout).error, error);
});

test('colours are used when asked for, and only for the heading', async () => {
  const root = rootWithLog(failure('v1'));
  const { stdout } = await lastError(root, 'shop', '--color', 'always');
  assert.match(stdout, /^\u001b\[1mLast DeployFailure for shop:\u001b\[22m\n {2}version: {4}v1\n/);
});

test('nothing is written, and a read-only log is enough', async () => {
  const root = rootWithLog(failure('v1'));
  chmodSync(logPath(root), 0o440);
  writeFileSync(join(root, 'config.yml'), 'notify: [');
  const before = tree(root, { modes: true });
  assert.is(await found(root), 'v1');
  assert.equal(tree(root, { modes: true }), before);
});

test('an unknown app is reported before a missing log', async () => {
  const root = rootWith('shop');
  for (const [app, code, message] of [
    [
      'nope',
      'app_not_found',
      "no app called 'nope' is registered on this server; registered: shop",
    ],
    [
      '../shop',
      'app_not_found',
      "no app called '../shop' is registered on this server; registered: shop",
    ],
    ['', 'app_not_found', 'the name of the app is empty'],
    [
      '__proto__',
      'app_not_found',
      "no app called '__proto__' is registered on this server; registered: shop",
    ],
    ['shop', 'log_not_found', `there is no audit log yet: ${logPath(root)}`],
  ] as const) {
    const { status, stdout, stderr } = await lastError(root, app, '--json');
    assert.is(stderr, `runner debug last-error: ${message} (${code})\n`);
    assert.equal(JSON.parse(stdout), { error: code, message });
    assert.is(status, 1);
  }
  writeLog(root, logText([failure('v1', { project: 'gone' })]));
  assert.match((await lastError(root, 'gone')).stderr, /\(app_not_found\)\n$/);
});

test('a failure waiting in spool/audit is found while the log cannot be written', async () => {
  const at = (minute: number, more = {}) =>
    failure(`v${minute}`, { timestamp: `2026-05-04T09:0${minute}:00.000Z`, ...more });
  const root = rootWithLog(at(1));
  const spool = join(root, 'spool/audit');
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  for (const record of [at(3, { late: true }), at(2, { late: true })])
    writeFileSync(join(spool, `${record.version}.jsonl`), `${JSON.stringify(record)}\n`);
  writeFileSync(join(spool, 'odd.jsonl'), 'no record');
  chmodSync(logPath(root), 0o440);
  giveToSomebody(root);
  const rest = () =>
    Object.entries(tree(root, { modes: true })).filter(([path]) => !path.startsWith('locks/'));
  const before = rest();
  const { status, stdout, stderr } = await lastErrorAsSomebody(root, '--json');
  assert.equal([status, JSON.parse(stdout).version], [0, 'v3']);
  assert.is(
    stderr,
    'runner debug last-error: 2 event(s) wait in spool/audit until the log is writable; they are included\n',
  );
  assert.equal(rest(), before);
  // They are believed no more than the log is.
  chmodSync(spool, 0o777);
  assert.match((await lastErrorAsSomebody(root)).stderr, /spool\/audit can be written by others/);
  chmodSync(spool, 0o700);
  chmodSync(logPath(root), 0o640);
  const written = await lastErrorAsSomebody(root, '--json');
  assert.equal([JSON.parse(written.stdout).version, written.stderr], ['v3', '']);
  assert.is(readFileSync(logPath(root), 'utf8').trimEnd().split('\n').length, 3);
});

test('secrets in a record are redacted', async () => {
  const github = `ghp_${'a1B2'.repeat(9)}`;
  const bot = '123456789:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbotte';
  const error = `fetch https://x-access-token:hunter2hunter2@github.com failed\n${github}\nPOST https://api.telegram.org/bot${bot}/sendMessage\nAuthorization: Bearer abcdefghijklmnopqrstuvwxyz`;
  const root = rootWithLog(failure('v1', { error }));
  for (const args of [[], ['--json'], ['-o', 'yaml']]) {
    const { stdout } = await lastError(root, 'shop', ...args);
    for (const secret of [github, bot, 'hunter2hunter2', 'abcdefghijklmnopqrstuvwxyz']) {
      assert.not.ok(stdout.includes(secret), `${secret} in ${args.join(' ')}`);
    }
    assert.is(stdout.split('[REDACTED]').length, 5, stdout);
  }
});

test.run();
