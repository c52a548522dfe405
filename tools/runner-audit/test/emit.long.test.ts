import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { CTRL_D, startOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { emit, record, SHOP } from './emit.ts';
import { line, logOf, logPath, newRoot, rootWithLog, unlinked } from './log.ts';

test('--error - reads the text from standard input, also an empty one', async () => {
  const text = 'make: *** [all] Error 2\n\r\u001b[31mred\u001b[0m\u0000\u202e\u2028\u0085\n';
  const args = ['DeployFailure', ...SHOP, '--error'];
  const read = await emit(newRoot(), [...args, '-'], { stdin: text });
  assert.is(JSON.parse(read.stdout).error, text);
  assert.not.match(read.stdout, /[^\x20-\x7e\n]/);
  assert.is(JSON.parse((await emit(newRoot(), [...args, '-'])).stdout).error, '');
  assert.is(JSON.parse((await emit(newRoot(), [...args, ''])).stdout).error, '');
});

test('a long error keeps its head and tail, and secrets of known shape do not enter the log', async () => {
  const root = newRoot();
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const text = `first line ${secret}\n${'x'.repeat(200_000)}\nlast line`;
  const { stdout } = await emit(root, ['DeployFailure', ...SHOP, '--error', '-'], { stdin: text });
  const { error, truncated } = JSON.parse(stdout);
  assert.is(truncated, true);
  assert.match(error, /^first line \[REDACTED\]\n/);
  assert.match(error, /\n… \d+ bytes left out …\n/);
  assert.match(error, /\nlast line$/);
  assert.ok(Buffer.byteLength(error) <= 65_536);
  assert.not.ok(logOf(root).includes(secret));
});

test('tokens of unknown shape and older master keys never enter the log', async () => {
  const root = newRoot();
  const token = 'our-own-t0ken-of-shop';
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  assert.is((await run('runner-add', args, { root, stdin: token })).status, 0);
  const older = Buffer.alloc(32, 'k').toString('base64url');
  appendFileSync(join(root, 'mkey'), `${older}\n`);
  const [key = ''] = readFileSync(join(root, 'mkey'), 'utf8').split('\n');
  const basic = Buffer.from(`x:${token}`).toString('base64');
  const error = `git: ${token}\nbasic ${basic}\n${key} ${older}\n${'x'.repeat(30_000)}${token}`;
  const option = ['DeployFailure', '--project', 'shop', '--version', `v1-${token}`, '--error', '-'];
  const one = await emit(root, option, { stdin: error });
  const given = record('v1', { cause: token, reason: `see ${older}`, more: [{ deep: token }] });
  const unknown = record('v1', { project: 'blog', error: `${key} stays secret, a1b2c3d4e5f6 not` });
  const stream = await emit(root, [], { stdin: `${line(given)}${line(unknown)}` });
  assert.equal([one.status, one.stderr, stream.status, stream.stderr], [0, '', 0, '']);
  const texts = one.stdout + stream.stdout + logOf(root);
  for (const secret of [token, key, older, basic.slice(8)]) assert.not.ok(texts.includes(secret));
  const [, second, third] = unlinked(logOf(root))
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each));
  const gone = { cause: '[REDACTED]', reason: 'see [REDACTED]', more: [{ deep: '[REDACTED]' }] };
  assert.equal(second, record('v1', gone));
  assert.is(third.error, '[REDACTED] stays secret, a1b2c3d4e5f6 not');
});

test("the chats' credentials in config.yml do not enter the log, from options or a stream", async () => {
  const root = newRoot();
  const hook = 'https://hooks.example.org/api/webhooks/42/mywebhooksecretvalue';
  const error = `POST ${hook}: short_secret_9 mywebhooksecretvalue`;
  mkdirSync(root);
  const config = `telegram_bot_token: "5550001:short_secret_9"\nnotify: {discord_webhook: "${hook}"}\n`;
  for (const text of [config, config.replace(/\{(.*)\}/, '\n  $1')]) {
    writeFileSync(join(root, 'config.yml'), text, { mode: 0o600 });
    const one = await emit(root, ['DeployFailure', ...SHOP, '--error', '-'], { stdin: error });
    const stream = await emit(root, [], { stdin: line(record('v1', { error, more: { error } })) });
    assert.equal([one.status, one.stderr, stream.status, stream.stderr], [0, '', 0, '']);
    const clean = 'POST [REDACTED]: [REDACTED] [REDACTED]';
    assert.is(JSON.parse(one.stdout).error, clean);
    const whole = record('v1', { error: clean, more: { error: clean } });
    assert.equal(JSON.parse(unlinked(stream.stdout)), whole);
    assert.not.match(logOf(root), /mywebhooksecretvalue|short_secret_9/);
  }
});

test('texts of megabytes of one character are taken, from options and in a stream', async () => {
  const root = newRoot();
  for (const piece of ['a', '1', ' ', '\n', '-', '\u001b[', '\u001b]', '=']) {
    const error = `${piece.repeat(12_000_000 / JSON.stringify(piece).length)}x`;
    const stdin = [record('v1'), record('v2', { error }), record('v3')].map(line).join('');
    const stream = await emit(root, [], { stdin });
    const shown = stream.stdout.split('\n').filter(Boolean);
    assert.equal([stream.status, stream.stderr, shown.length], [0, '', 3], piece);
    const one = await emit(root, ['DeployFailure', ...SHOP, '--error', '-'], { stdin: error });
    assert.equal([one.status, one.stderr], [0, ''], piece);
  }
});

test('either naming is taken, and both are written', async () => {
  const given = { event: 'DeploySuccess', app: 'shop', version: 'v1', deploy_id: 'a1b2c3d4' };
  const root = newRoot();
  const { stdout } = await emit(root, [], { stdin: line(given) });
  const { event_type, project, event, app } = JSON.parse(stdout);
  assert.equal(
    [event_type, project, event, app],
    ['DeploySuccess', 'shop', 'DeploySuccess', 'shop'],
  );
  const both = { ...record('v1'), event: 'DeployStarted', app: 'shop' };
  assert.is((await emit(root, [], { stdin: line(both) })).status, 0);
});

test('fields that are not known are kept', async () => {
  const given = record('v1', { build: { number: 7 }, tags: ['a'], __proto: 1 });
  const { stdout } = await emit(newRoot(), [], { stdin: line(given) });
  assert.equal(JSON.parse(unlinked(stdout)), given);
  const proto = '{"event":"DeployStarted","app":"shop","version":"v1","__proto__":{"x":1}}\n';
  assert.match((await emit(newRoot(), [], { stdin: proto })).stdout, '"__proto__":{"x":1}');
});

test('numbers that JavaScript would change stay as they are: on disk, echoed, listed, and as YAML', async () => {
  const root = newRoot();
  const ids =
    '"run_id":9007199254740993,"all":[-12345678901234567890,1000000000000000000000,1e400,1.000000000000000000001],"text":"x: 9007199254740993"';
  const stdin = `{"event":"DeployStarted","app":"shop","version":"v1",${ids}}\n`;
  const { stdout } = await emit(root, [], { stdin });
  assert.match(stdout, ids);
  assert.is(logOf(root), stdout);
  const list = (...args: string[]) => run('runner-audit', ['list', ...args], { root });
  assert.match((await list('--json')).stdout, ids);
  assert.match((await list('-o', 'yaml')).stdout, /^run_id: 9007199254740993$/m);
  assert.is((await run('runner-audit', ['verify'], { root })).status, 0);
  const number = { stdin: '{"event":"DeployStarted","app":"shop","version":9007199254740993}' };
  assert.match((await emit(root, [], number)).stderr, 'needs a text in version');
});

test('the last line needs no newline, and lines may end in CR LF', async () => {
  const root = newRoot();
  const stdin = `${JSON.stringify(record('v1'))}\r\n${JSON.stringify(record('v2'))}`;
  const { stdout, status } = await emit(root, [], { stdin });
  assert.is(unlinked(stdout), line(record('v1')) + line(record('v2')));
  assert.is(status, 0);
});

test('a line too long for an event is reported, and the lines after it are logged', async () => {
  const root = newRoot();
  const huge = JSON.stringify(record('v2', { build: 'x'.repeat(17_000_000) }));
  const large = JSON.stringify(record('v3', { build: 'x'.repeat(2_000_000) }));
  const stdin = `${line(record('v1'))}${huge}\n${large}\n${line(record('v4'))}${huge}`;
  const { status, stdout, stderr } = await emit(root, [], { stdin });
  assert.is(unlinked(stdout), line(record('v1')) + line(record('v4')));
  assert.is(logOf(root), stdout);
  assert.is(
    stderr,
    [
      'line 2: the event is longer than 16777216 bytes',
      'line 3: the event is longer than 1048576 bytes',
      'line 5: the event is longer than 16777216 bytes',
    ]
      .map((text) => `runner audit emit: ${text} (event_invalid)\n`)
      .join(''),
  );
  assert.is(status, 1);
});

test('an error of megabytes in a line is cut like any other', async () => {
  const stdin = line(record('v1', { event_type: 'DeployFailure', error: 'é\n'.repeat(1_000_000) }));
  const { status, stdout } = await emit(newRoot(), [], { stdin });
  const { error, truncated } = JSON.parse(stdout);
  assert.equal([status, truncated], [0, true]);
  assert.ok(Buffer.byteLength(error) <= 65_536 && Buffer.byteLength(error) > 60_000);
});

test('a long integer beside a text of megabytes stays as it is', async () => {
  for (const error of ['a'.repeat(12_000_000), '"'.repeat(7_000_000)]) {
    const given = line(record('v1', { error })).replace('}\n', ',"ns":1700000000000000001}\n');
    const { status, stdout, stderr } = await emit(newRoot(), [], { stdin: given });
    assert.equal([status, stderr], [0, '']);
    assert.match(stdout, '"ns":1700000000000000001');
  }
});

test('-o yaml echoes a document for each event; the log is still JSON', async () => {
  const root = newRoot();
  const stdin = line(record('v1')) + line(record('v2'));
  const { stdout } = await emit(root, ['-o', 'yaml'], { stdin });
  const prevs = logOf(root)
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each).prev);
  const document = (version: string, seq: number) =>
    `---\ntimestamp: "2026-05-04T09:30:00.000Z"\nevent_type: DeployStarted\nproject: shop\ninstance: default\nversion: ${version}\ndeploy_id: a1b2c3d4\nevent: DeployStarted\napp: shop\nsource: make\nseq: ${seq}\nprev: "?${prevs[seq - 1]}"?\n`;
  assert.match(stdout, new RegExp(`^${document('v1', 1)}${document('v2', 2)}$`));
  assert.is(unlinked(logOf(root)), stdin);
  const one = await emit(root, ['DeployStarted', ...SHOP, '-o', 'yaml']);
  assert.match(one.stdout, /^---\n/);
  const json = await emit(root, ['DeployStarted', ...SHOP, '--json']);
  assert.is(json.stdout, line(JSON.parse(json.stdout)));
});

test('a torn line of a killed writer is ended, and existing content and its mode are unchanged', async () => {
  const torn = ['{"timestamp":"2026-05-04T09:30:00.000Z","event_ty', '\u0000\u0000', '{"a":1}\n{'];
  for (const tail of [...torn, '{"foreign":1}\nnot json\n\n{"a":1}']) {
    const root = rootWithLog(`${line(record('v1'))}${tail}`);
    chmodSync(logPath(root), 0o600);
    const { stdout } = await emit(root, ['DeployStarted', ...SHOP]);
    assert.is(logOf(root), `${line(record('v1'))}${tail}\n${stdout}`);
    assert.is(statSync(logPath(root)).mode & 0o777, 0o600);
  }
});

test('what reads the terminal says so', async () => {
  for (const [tool, args, what] of [
    ['runner-audit', ['emit'], 'records'],
    ['runner-notify', ['send'], 'records'],
    ['runner-debug', ['extract'], 'a log'],
  ] as const) {
    const session = startOnTerminal(tool, args, { root: temporaryFolder('audit') });
    await session.expect(`reading ${what} from the terminal; end with Ctrl-D`);
    session.type(CTRL_D);
    assert.equal(await session.done, { status: 0, signal: undefined });
  }
});

test.run();
