/** Shapes of logs: who speaks, which job, what a runner prints around the output of a build. */
import { extractError } from '@runner/extract/extract';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** The lines that are shown of a log given by its lines. */
function shown(...log: readonly string[]): string[] {
  return extractError(log.join('\n')).text.split('\n');
}

const at = (second: number) => `2026-05-04T09:30:${String(second).padStart(2, '0')}.1234567Z`;

test('lines of a CI job are read without the job, the step and the time before them', () => {
  const said = (second: number, text: string) => `unit (24.04)\tRun tests\t${at(second)} ${text}`;
  assert.equal(
    shown(
      said(1, 'error[E0308]: mismatched types'),
      said(1, '  --> src/cart.rs:12:5'),
      said(2, '##[error]Process completed with exit code 101.'),
    ),
    ['error[E0308]: mismatched types', '  --> src/cart.rs:12:5'],
  );
});

test('the script that a CI runner prints before it runs it is no output', () => {
  assert.equal(
    shown(
      `${at(1)} ##[group]Run test -s dist/app.js`,
      `${at(1)} test -s dist/app.js || echo "Error: the bundle is missing"`,
      `${at(1)} ##[endgroup]`,
      `${at(2)} bundle is 0 bytes large`,
      `${at(2)} ##[error]Process completed with exit code 1.`,
    ),
    ['bundle is 0 bytes large', '##[error]Process completed with exit code 1.'],
  );
});

test('of two jobs the one that failed leads, not the one that reports it', () => {
  const [first] = shown(
    `lint\tRun eslint\t${at(1)} src/cart.ts:9:3: error: 'total' is never used`,
    `lint\tComplete job\t${at(2)} Cleaning up orphan processes`,
    `all\tCheck results\t${at(9)} ##[error]One or more checks failed`,
  );
  assert.is(first, "src/cart.ts:9:3: error: 'total' is never used");
});

test('what a job does at its end does not hide what stood before its failure', () => {
  const end = Array.from(
    { length: 90 },
    (_, n) => `[command]/usr/bin/git config --unset key.${'x'.repeat(n)}`,
  );
  const lines = shown(
    'schema is at revision 41, code wants 42',
    '##[error]Process completed with exit code 3.',
    'Post job cleanup.',
    ...end,
  );
  assert.is(lines[0], 'schema is at revision 41, code wants 42');
});

test('a clean-up before anything failed is not the clean-up after a failure', () => {
  const [first] = shown(
    'cleaning up old releases',
    'building 12 pages',
    'error: template cart.html: tag "if" is not closed',
    'build: exited 1',
  );
  assert.is(first, 'error: template cart.html: tag "if" is not closed');
});

test('what a passing test printed does not lead', () => {
  const [first] = shown(
    '=== RUN   TestRefused',
    'ERROR db.go:34 failed to connect to 10.0.0.9: connection refused',
    '--- PASS: TestRefused (0.01s)',
    '=== RUN   TestTotal',
    '    cart_test.go:17: total() = 100, want 119',
    '--- FAIL: TestTotal (0.00s)',
    'FAIL',
  );
  assert.match(first ?? '', '--- FAIL: TestTotal (0.00s)');
});

test('a platform names its programs with letters in brackets', () => {
  const lines = shown(
    `${at(1)} app[web.1]: Traceback (most recent call last):`,
    `${at(1)} app[web.1]:   File "/app/shop/settings.py", line 8, in <module>`,
    `${at(2)} heroku[router]: at=error code=H10 desc="App crashed" path=/`,
    `${at(3)} app[web.1]: KeyError: 'STRIPE_KEY'`,
  );
  assert.equal(lines, [
    "app[web.1]: KeyError: 'STRIPE_KEY'",
    'app[web.1]:   File "/app/shop/settings.py", line 8, in <module>',
  ]);
});

test('a place in brackets is a place, not a speaker', () => {
  assert.equal(
    shown(
      'msg_denied = "access denied"',
      '/etc/radius/clients.conf[88]: mask length "/40" is not between 0 and 32',
      'radius: check returned 1',
    )[0],
    '/etc/radius/clients.conf[88]: mask length "/40" is not between 0 and 32',
  );
});

test('a message that names nothing comes with the line before it', () => {
  assert.equal(shown('listening on port 18883', 'Error: Address already in use'), [
    'Error: Address already in use',
    'listening on port 18883',
  ]);
});

test('a line that a stack trace follows is what was thrown, whatever its words', () => {
  const [first] = shown(
    'order: washers x1',
    'no washers left in the north bin',
    '    while executing',
    '"take washers 1"',
    '    (file "main.tcl" line 3)',
    'cron: job stock failed (1)',
  );
  assert.is(first, 'no washers left in the north bin');
});

test('an exception group is shown as the exception inside it', () => {
  const [first] = shown(
    '  + Exception Group Traceback (most recent call last):',
    '  |   File "/srv/app/sync.py", line 18, in <module>',
    '  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)',
    '  +-+---------------- 1 ----------------',
    '    | Traceback (most recent call last):',
    '    |   File "/srv/app/sync.py", line 9, in fetch',
    "    | KeyError: 'items'",
    '    +------------------------------------',
  );
  assert.match(first ?? '', "KeyError: 'items'");
});

test('an exception without a message comes with the line of source that raised it', () => {
  assert.equal(
    shown(
      'Traceback (most recent call last):',
      '  File "/srv/app/check.py", line 7, in main',
      '    assert stock["bolts"] > 0',
      'AssertionError',
    ),
    [
      'AssertionError',
      '  File "/srv/app/check.py", line 7, in main',
      '    assert stock["bolts"] > 0',
    ],
  );
});

test('a command that was missing long ago did not stop the build', () => {
  const work = Array.from({ length: 80 }, (_, n) => `[${n}/80] Building object_${'a'.repeat(n)}.o`);
  const [first] = shown(
    'make: pkg-tool: Command not found',
    ...work,
    'wasm-link: error: page.o: section is not aligned',
    'make: *** [all] Error 1',
  );
  assert.is(first, 'wasm-link: error: page.o: section is not aligned');
});

test("a program's own label counts, whatever the level at which its line is relayed", () => {
  const lines = shown(
    "09:30:01 [INFO] deploy.remote: cp: cannot stat 'authorized_keys': No such file or directory",
    "09:30:09 [INFO] deploy.remote: /opt/sbin/boot-install: error: /boot isn't an EFI partition.",
    '09:30:09 [INFO] deploy.remote: Command completed (exit 1)',
  );
  assert.match(lines.join('\n'), "boot-install: error: /boot isn't an EFI partition.");
});

test('a long line keeps its end, where a chain of errors names its cause', () => {
  const chain = Array.from({ length: 30 }, (_, n) => `stage ${n} of the rollout`).join(': ');
  const [first] = shown(`Error: ${chain}: lstat /srv/app/ingress.yml: no such file or directory`);
  assert.match(first ?? '', /^Error: stage 0 .*….*ingress\.yml: no such file or directory$/);
});

test('a structured line names the thing that its error is about', () => {
  const line = {
    time: 1,
    level: 'error',
    msg: 'dependency check failed',
    target: 'amqp://queue.example.org:5672',
    err: 'connection refused',
  };
  assert.equal(shown(JSON.stringify(line)), [
    'dependency check failed: connection refused (target amqp://queue.example.org:5672)',
  ]);
});

test.run();
