import {
  baselineOf,
  createExtractor,
  createShapeReader,
  extractError,
  lineShape,
} from '@runner/extract/extract';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const NOISE = Array.from({ length: 30 }, (_, n) => `copied assets/error-page-${n}.html`).join('\n');

test('a compiler: the first error leads, the other errors follow with their places', () => {
  const log =
    'src/a.ts(2,7): error TS2322: Wrong.\nsrc/b.ts(9,1): error TS2345: Worse.\nFound 2 errors.\n';
  assert.equal(extractError(log), {
    text: 'src/a.ts(2,7): error TS2322: Wrong.\nsrc/b.ts(9,1): error TS2345: Worse.',
    lines: [1, 2],
    class: 'compile',
    rule: 'located-error',
  });
});

test('npm: the reason leads, not the usage or the notice of a newer npm that follow', () => {
  const usage = [
    'npm error code EUSAGE',
    'npm error',
    'npm error The `npm ci` command can only install with an existing package-lock.json or',
    'npm error npm-shrinkwrap.json with lockfileVersion >= 1. Run an install with npm@5 or',
    'npm error later to generate a package-lock.json file, then try again.',
    'npm error',
    'npm error Clean install a project',
    'npm error',
    'npm error   --omit',
    'npm error     Dependency types to omit from the installation tree on disk.',
    'npm error',
    'npm error Run "npm help ci" for more info',
  ];
  const refused = extractError(usage.join('\n'));
  assert.match(refused.text, /^(?:npm error )?The `npm ci` command can only install with /);
  // A rule has to know it: beside the hundred lines of the whole usage its words alone do not count.
  assert.is(refused.rule, 'package');
  const notice = [
    'npm error Missing script: "build"',
    'npm error',
    'npm error To see a list of scripts, run:',
    'npm error   npm run',
    'npm notice',
    'npm notice New minor version of npm available! 11.19.1 -> 11.21.2',
    'npm notice To update run: npm install -g npm@11.21.2',
  ];
  const { text } = extractError(notice.join('\n'));
  assert.match(text, /^npm error Missing script: "build"(?:\n|$)/);
  assert.not.match(text, /npm notice/);
});

test('a log of numbers alone has no cause but how the step ended', () => {
  const log = Array.from({ length: 400 }, (_, n) => n + 1).join('\n');
  const ending = { step: 'build', command: './count', exit: { code: 3 } };
  const { text, lines } = extractError(log, ending);
  assert.equal([text, lines], ['step build (./count) ended with exit status 3', []]);
  assert.is(extractError(log).lines.length, 1);
  const matched = extractError(`${log}\nerror: no price\n`, ending);
  assert.match(matched.text, /^error: no price/);
});

test('Python: the exception at the root, its place, and the exception that it led to', () => {
  const log = [
    'Traceback (most recent call last):',
    '  File "/usr/lib/python3/json/tool.py", line 4, in read',
    '    return open(path)',
    "FileNotFoundError: [Errno 2] No such file or directory: '/etc/shop.json'",
    '',
    'The above exception was the direct cause of the following exception:',
    '',
    'Traceback (most recent call last):',
    '  File "/srv/app/main.py", line 9, in <module>',
    '    boot()',
    'ConfigError: no settings for production',
  ].join('\n');
  assert.equal(extractError(log).text.split('\n'), [
    "FileNotFoundError: [Errno 2] No such file or directory: '/etc/shop.json'",
    '  File "/usr/lib/python3/json/tool.py", line 4, in read',
    '  File "/srv/app/main.py", line 9, in <module>',
    'ConfigError: no settings for production',
  ]);
});

test('Python: a syntax error, which has no traceback, comes with its place', () => {
  const log =
    '  File "/srv/app/main.py", line 7\n    def a(:\n          ^\nSyntaxError: invalid syntax\n';
  assert.match(
    extractError(log).text,
    /^SyntaxError: invalid syntax\n {2}File "\/srv\/app\/main\.py", line 7$/m,
  );
});

test('Java: the top message and the cause at the root, however long the trace between them', () => {
  const frames = Array.from(
    { length: 60 },
    (_, n) => `\tat org.springframework.X.f${n}(X.java:${n})`,
  );
  const log = [
    'Exception in thread "main" app.BootException: cannot start',
    ...frames,
    'Caused by: app.PoolException: no pool',
    ...frames,
    'Caused by: java.lang.IllegalArgumentException: URL must start with jdbc:',
    '\t... 40 more',
  ].join('\n');
  const { text, class: kind } = extractError(log);
  assert.match(text, /^Exception in thread "main" app.BootException: cannot start\b/);
  assert.match(text, /\bjava.lang.IllegalArgumentException: URL must start with jdbc:/);
  assert.is(kind, 'exception');
});

test('a failing test: what was expected, its name and its place', () => {
  const log =
    'ok  \tshop/errors\t0.1s\n--- FAIL: TestTotal (0.00s)\n    cart_test.go:19: got 109, want 119\nFAIL\nFAIL\tshop/cart\t0.2s\n';
  const { text, class: kind } = extractError(log);
  assert.match(text, /got 109, want 119/);
  assert.match(text, /TestTotal/);
  assert.is(kind, 'test');
});

test('of a unit whose program was killed, systemd says by what, not that it starts again', () => {
  const log = (...lines: string[]) =>
    ['Started shop.service - shop.', 'shop v2 starts', ...lines].join('\n');
  const end = [
    'shop.service: Main process exited, code=killed, status=9/KILL',
    "shop.service: Failed with result 'signal'.",
    'shop.service: Scheduled restart job, restart counter is at 1.',
    'Stopped shop.service - shop.',
    'Started shop.service - shop.',
    'shop v2 starts',
  ];
  const killed = extractError(log(...end));
  assert.equal([killed.rule, killed.class], ['exit-killed', 'killed']);
  assert.match(killed.text, /^shop\.service: Main process exited, code=killed, status=9\/KILL/);
  const starved = extractError(
    log('shop.service: A process of this unit has been killed by the OOM killer.', ...end),
  );
  assert.equal([starved.rule, starved.class], ['out-of-memory', 'memory']);
  assert.match(starved.text, /^shop\.service: A process of this unit .* by the OOM killer\./);
});

test('retries are one line with their count', () => {
  const line = 'curl: (7) Failed to connect to 127.0.0.1 port 8099: Connection refused';
  const { text } = extractError(`${`${line}\n`.repeat(25)}giving up\n`);
  assert.match(text, new RegExp(`^${line.replace(/[()]/g, '\\$&')} \\(×25\\)`));
  assert.is(text.split('Connection refused').length, 2);
});

test('lines around an error come from its own speaker', () => {
  const log = [
    'web-1  | compiled error-page.ts',
    'api-1  | src/cart.ts:9:5: ERROR: Expected ")" but found "}"',
    'web-1  | compiled failure.ts',
    'api-1  |   9 │   total(}',
    'web-1  | compiled retry.ts',
  ].join('\n');
  const { text, lines } = extractError(log);
  assert.equal(lines, [2, 4]);
  assert.not.match(text, /web-1/);
});

test('what a shell passes on leads only when nothing says why', () => {
  assert.match(
    extractError('boom: no space left on device\nmake: *** [all] Error 1\n').text,
    /^boom/,
  );
  const { text, rule } = extractError(
    `${NOISE}\nreplica 3 did answer late\nmake: *** [all] Error 1\n`,
  );
  assert.is(text, 'replica 3 did answer late\nmake: *** [all] Error 1');
  assert.is(rule, null);
});

test('clean-up after the failure does not hide the failure', () => {
  const log = `gunicorn: error: invalid value for --workers\n==> rolling back to release 4\nERROR: cannot unlink tmp/pid\n${NOISE}\n`;
  assert.match(extractError(log).text, /^gunicorn: error: invalid value for --workers/);
});

test('a log without a word of failure: its last rare line', () => {
  assert.equal(extractError(`${NOISE}\nstage 2 wants 3 replicas, 1 answered\n`), {
    text: 'stage 2 wants 3 replicas, 1 answered',
    lines: [31],
    class: 'silent',
    rule: null,
  });
});

test('a silent step is described in words: its name, its command and its exit status', () => {
  const ending = { step: 'build', command: 'npm run build', exit: { code: 3 } };
  assert.equal(extractError('', ending), {
    text: 'step build (npm run build) ended with exit status 3',
    lines: [],
    class: 'exit',
    rule: null,
  });
  assert.match(extractError('packing\n', ending).text, /^packing\nstep build .* exit status 3$/);
  assert.is(extractError('', { exit: { code: 0 } }).text, '');
});

test('how a step ended comes first if the log says less: a count of no errors, or nothing new', () => {
  const text = (log: string, code: number, baseline = baselineOf([])) =>
    extractError(log, { step: 'build', exit: { code }, baseline }).text;
  assert.match(
    text('pulling model\n', 124),
    /^step build ran into a time limit .*\npulling model$/,
  );
  assert.match(
    text('Build done: 0 errors, 0 warnings\n', 1),
    /^step build ended with exit status 1/,
  );
  assert.is(
    text('cannot deploy: database has no issues table\n', 1),
    'step build ended with exit status 1\ncannot deploy: database has no issues table',
  );
  const reader = createShapeReader((line) => line);
  reader.push('vite building\n34 modules\nERROR: cannot reach telemetry\n');
  const known = baselineOf(reader.end());
  assert.match(
    text('vite building\n35 modules\n', 1, known),
    /^step build ended with exit status 1\n/,
  );
  assert.match(
    text('vite building\nERROR: cannot reach telemetry\n', 1, known),
    /^ERROR: cannot reach telemetry\n[\s\S]*step build ended with exit status 1$/,
  );
});

test('a program that aborts itself says why first', () => {
  const log = "shop: main.c:4: main: Assertion `n > 0' failed.\n";
  assert.match(extractError(log, { exit: { signal: 'SIGABRT' } }).text, /^shop: .* failed\.$/);
  assert.match(
    extractError('', { exit: { code: 134 } }).text,
    /^the command was killed by SIGABRT$/,
  );
});

test('signals, lack of memory and the time limit are the cause and come first', () => {
  const told = (exit: object) =>
    extractError('indexed 1000 documents\n', { step: 'index', exit }).text;
  assert.match(
    told({ signal: 'SIGKILL' }),
    /^step index was killed by SIGKILL, perhaps for lack of memory\n/,
  );
  assert.match(told({ code: 139 }), /^step index was killed by SIGSEGV\n/);
  assert.match(told({ signal: 'SIGKILL', oom: true }), /^step index was killed: out of memory\n/);
  assert.match(told({ timedOut: true }), /^step index ran into its time limit and was stopped\n/);
});

test('a line that the last good build printed too is not the cause', () => {
  const good = ['10:00:00 ERROR: cannot reach telemetry on port 4318', 'done in 3 s'];
  const log =
    '10:59:59 ERROR: cannot reach telemetry on port 4319\nERROR: licence of module pay missing\n10:59:59 ERROR: cannot reach telemetry on port 4319\n';
  const reader = createShapeReader((text) => text);
  reader.push(good.join('\n'));
  const baseline = baselineOf(reader.end());
  assert.match(extractError(log, { baseline }).text, /^ERROR: licence of module pay missing/);
});

test('a log with nothing new beside what good builds print is read as if none were known', () => {
  const log = 'ERROR: cannot reach telemetry on port 4318\nmake: *** [all] Error 1\n';
  const reader = createShapeReader((text) => text);
  reader.push('ERROR: cannot reach telemetry on port 4318\ndone\n');
  const baseline = baselineOf(reader.end());
  assert.match(extractError(log, { baseline }).text, /^ERROR: cannot reach telemetry/);
  const news = `replica 3 answered late\n${log}`;
  assert.match(extractError(news, { baseline }).text, /^replica 3 answered late/);
});

test('shapes are bounded, keep what looks like a failure, and hold no word of the log', () => {
  const reader = createShapeReader((text) => text);
  reader.push('ERROR: cannot reach telemetry\n');
  const word = (n: number) =>
    n.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'.charAt(Number(digit)));
  for (let n = 0; n < 30_000; n += 1) reader.push(`copied ${word(n)}.svg\n`);
  const ids = reader.end();
  assert.ok(ids.length <= 4_000);
  assert.ok(baselineOf(ids)('ERROR: cannot reach telemetry'));
  assert.ok(baselineOf(ids)(`copied ${word(29_999)}.svg`));
  assert.not.ok(baselineOf(ids)('ERROR: cannot reach the database'));
  assert.not.match(ids.join(' '), /telemetry/);
});

test('the shape of a line has neither its numbers nor its ids', () => {
  const one = lineShape('\u001b[31m12:00:01 job 17 (4f9c2e81aa) took 3.4s  ====>');
  assert.is(one, lineShape('09:33:59 job 9 (00ab37d1c9) took 12.25s ======>'));
  assert.is.not(one, lineShape('09:33:59 task 9 (00ab37d1c9) took 12.25s ======>'));
});

test('secrets are redacted before lines are cut', () => {
  const secret = 'K'.repeat(300);
  const log = `Error: ${'x'.repeat(250)} login with ${secret} failed: access denied\n`;
  const redact = (text: string) => text.replaceAll(secret, '[REDACTED]');
  const { text } = extractError(log, { redact });
  assert.not.match(text, /K{5}/);
  assert.match(
    extractError('fatal: unable to access https://u:hunter2secret@git.example.org/\n').text,
    /\[REDACTED\]/,
  );
});

test('an error that a progress bar drew over is found', () => {
  const log = '10 %\r20 %\rE: archive.tar: unexpected end of stream\r30 %\n100 %\n';
  assert.match(extractError(log).text, /^E: archive.tar: unexpected end of stream/);
});

test('a line of JSON is rendered as a person would write it', () => {
  const record = {
    level: 50,
    time: 1,
    err: { type: 'TypeError', message: 'no pool' },
    msg: 'failed to start',
  };
  const log = `{"level":30,"msg":"up"}\n${JSON.stringify(record)}\n`;
  assert.is(extractError(log).text.split('\n')[0], 'failed to start: TypeError: no pool');
});

test('a limit of one is kept, and so is the order of line numbers', () => {
  assert.is(extractError('Error: no such table: users\n', { max: 1 }).text, '…');
  const { lines } = extractError(`src/a.c:1:2: error: x\n${NOISE}\nsrc/b.c:1:2: error: y\n`);
  assert.equal(
    lines,
    lines.toSorted((a, b) => a - b),
  );
});

test('text and bytes, whole or in pieces, give the same', () => {
  const log = 'Datei für Kunde 3 übertragen\nFEHLER: Prüfsumme ungültig für paket-ä.tar.gz\n';
  const whole = extractError(log);
  assert.match(whole.text, /^FEHLER: Prüfsumme ungültig/);
  const extractor = createExtractor();
  for (const byte of Buffer.from(log)) extractor.push(Uint8Array.of(byte));
  assert.equal(extractor.end(), whole);
});

test('a message that stands for several does not share its line with another', () => {
  const start = [
    'shop.service: Changing to the requested working directory failed: Permission denied',
    'shop.service: Failed at step CHDIR spawning /usr/bin/env: Permission denied',
    'shop.service: Main process exited, code=exited, status=200/CHDIR',
  ];
  const { text } = extractError(`${[...start, ...start, ...start, ...start].join('\n')}\n`);
  const [first, ...others] = text.split('\n');
  assert.match(first ?? '', /Changing to the requested working directory failed: .* \(×4\)$/);
  assert.not.match(first ?? '', /CHDIR/);
  assert.match(others.join('\n'), /Failed at step CHDIR .* \(×4\)$/m);
});

test.run();
