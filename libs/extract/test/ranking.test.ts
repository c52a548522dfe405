/** Which of several lines that look like a cause leads, and what is shown with it. */
import { extractError } from '@runner/extract/extract';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** The lines that are shown of a log given by its lines. */
function shown(...log: readonly string[]): string[] {
  return extractError(log.join('\n')).text.split('\n');
}

test('a failure that the next line says the program goes on from does not lead', () => {
  const [first] = shown(
    'error: cannot load geo.mmdb',
    'continuing without locations',
    'reading prices',
    'error: price of item 7 is negative',
    'stopped',
  );
  assert.is(first, 'error: price of item 7 is negative');
});

test('what was tried again and failed each time leads', () => {
  const [first] = shown(
    ...[1, 2, 3, 4].flatMap((n) => [
      `bind 0.0.0.0:80: permission denied (try ${n})`,
      'retrying in 2 s',
    ]),
    'worker stopped',
  );
  assert.match(first ?? '', /^bind 0\.0\.0\.0:80: permission denied/);
});

test('a refused connection gives way to what the refusing server says', () => {
  const [first] = shown(
    'db-1  | 2026-05-04 09:30:00.100 UTC [31] FATAL:  data directory has wrong ownership',
    'db-1 exited with code 1',
    'web-1  | Error: connect ECONNREFUSED 127.0.0.1:5432',
    'web-1 exited with code 1',
  );
  assert.match(first ?? '', /FATAL: {2}data directory has wrong ownership$/);
});

test('a host that others cannot reach leads with its own words, however quiet', () => {
  const [first] = shown(
    'cache-1  | starting',
    'cache-1  | reading store.aof',
    'cache-1  | Bad file format in store.aof at byte 88',
    'cache-1 exited with code 1',
    'web-1    | Error: getaddrinfo ENOTFOUND cache',
    'web-1 exited with code 1',
  );
  assert.match(first ?? '', /Bad file format in store\.aof/);
});

test('an expired wait gives way to what the program said', () => {
  const [first] = shown(
    'starting api',
    "Error: cannot parse api.toml: expected '=' after 'port'",
    'error: timed out waiting for the condition on deployments/api',
  );
  assert.match(first ?? '', /cannot parse api\.toml/);
});

test('what a builder repeats of a failed step is shown once', () => {
  const said = [
    'error: tariffs are stale',
    '',
    'The file prices.csv is from 2019 and must be new.',
  ];
  const lines = shown(
    '#7 [build 3/3] RUN make tariffs',
    ...said.map((line) => `#7 1.204 ${line}`),
    '#7 ERROR: process "/bin/sh -c make tariffs" did not complete successfully: exit code: 1',
    '------',
    ' > [build 3/3] RUN make tariffs:',
    ...said.map((line) => `1.204 ${line}`),
    '------',
  );
  assert.is(lines.filter((line) => line.includes('tariffs are stale')).length, 1);
  assert.match(lines.join('\n'), /prices\.csv is from 2019/);
});

test('the level counts that stands behind a zone, a process or a thread', () => {
  for (const [noise, cause] of [
    [
      '2026-05-04 09:30:00.100 CEST [7] DEBUG:  could not find a statistics file',
      '2026-05-04 09:30:00.200 CEST [7] ERROR:  relation "orders" is locked by a vacuum',
    ],
    [
      '2026-05-04 09:30:00 0 [Note] Buffer not found: creating new',
      '2026-05-04 09:30:00 0 [ERROR] The table of users cannot be opened',
    ],
    [
      '[Shop] 311  - 05/04/2026, 9:30:00 AM     LOG [Loader] error pages not found',
      '[Shop] 311  - 05/04/2026, 9:30:01 AM   ERROR [Injector] a provider of Mailer is missing',
    ],
    [
      'May 04 09:30:00 shop[311]: INFO no error handler is set',
      'May 04 09:30:01 shop[311]: ERROR the licence is not for this host',
    ],
  ] as const) {
    const [first = ''] = shown(noise, cause, 'stopped');
    assert.is(first.slice(-30), cause.slice(-30));
  }
});

test('the line that names the failed step is kept only when nothing says why it failed', () => {
  const log = ['Could not locate libsharp.so', '✖ step migrate failed after 2s'];
  assert.is(shown(...log)[0], 'Could not locate libsharp.so');
  assert.match(shown('copied 4 files', log[1] as string).join('\n'), /step migrate failed/);
});

test('a sentence that sets what is against what was asked for is a cause', () => {
  const [first] = shown(
    'Using bundler 2.3',
    'Your runtime is 3.1.2, but the lockfile asks for 3.2',
    ' !     Push rejected, failed to compile the app.',
  );
  assert.is(first, 'Your runtime is 3.1.2, but the lockfile asks for 3.2');
});

test('commits, counts and transfer sizes are no cause', () => {
  const [first] = shown(
    '1dccd15 Revert "Fail on timeout error"',
    'sent 1,271 bytes  received 407 bytes  3,356.00 bytes/sec',
    'Errors       3     0     3',
    'gzip: stdin: not in gzip format',
    'deploy stopped',
  );
  assert.is(first, 'gzip: stdin: not in gzip format');
});

test('a JSON answer after some words is reduced to the error in it', () => {
  const checks = Array.from({ length: 9 }, (_, n) => `"part${n}":{"status":"up","errors":0}`);
  const lines = shown(
    `last answer: {"status":"degraded",${checks.join(',')},"search":{"error":"index 'products' not found"}}`,
    'candidate stopped',
  );
  assert.match(lines[0] ?? '', /index 'products' not found/);
});

test('a structured line shows its deepest cause', () => {
  const inner = { type: 'SyntaxError', message: 'Unexpected token < in JSON' };
  const err = { type: 'Error', message: 'could not read the rates', cause: inner };
  assert.match(
    shown(JSON.stringify({ level: 60, err, msg: 'shutting down' }))[0] ?? '',
    /could not read the rates.*Unexpected token < in JSON/,
  );
  const trace =
    'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: no rate for XYZ\n';
  assert.match(
    shown(JSON.stringify({ levelname: 'ERROR', message: 'request failed', exc_info: trace }))[0] ??
      '',
    /ValueError: no rate for XYZ/,
  );
});

test('a warning that a stack trace follows is an exception', () => {
  const [first] = shown(
    '2026-05-04T09:30:00Z pid=3 WARN: Redis::CommandError: NOAUTH Authentication required.',
    "/usr/lib/ruby/redis/client.rb:162:in `call'",
    "/usr/lib/ruby/redis.rb:270:in `block in send_command'",
    'deploy aborted',
  );
  assert.match(first ?? '', /NOAUTH Authentication required\.$/);
});

test('why a program did not come up leads, not what waited for it', () => {
  const [first] = shown(
    'deployment.apps/shop configured',
    'Waiting for deployment "shop" rollout to finish: 0 of 1 updated replicas are available...',
    'error: deployment "shop" exceeded its progress deadline',
    'shop-7d9 Error: config key "currency" has an unknown value "EURO"',
  );
  assert.match(first ?? '', /unknown value "EURO"/);
});

test('a waiting that ends leads when the log does not say why', () => {
  const [first] = shown(
    'deployment.apps/shop configured',
    'error: deployment "shop" exceeded its progress deadline',
  );
  assert.match(first ?? '', /exceeded its progress deadline/);
});

test('a command typed at a prompt is not the cause, whatever its words', () => {
  const [first] = shown(
    'ada@web1:~/shop$ npm ci --frozen-lockfile || echo failed, error',
    'reading the lock file',
    'node: unknown option --strict',
  );
  assert.match(first ?? '', /^node: unknown option --strict/);
});

test('the files that a headline announces come with it', () => {
  const lines = shown(
    '> The following files had format violations:',
    '      src/main/java/Cart.java',
    '          @@ -1,3 +1,3 @@',
    '          -package shop ;',
    '          +package shop;',
  );
  assert.ok(
    lines.some((line) => line.includes('src/main/java/Cart.java')),
    lines.join('\n'),
  );
});

test('too many warnings come with the warnings', () => {
  const lines = shown(
    'src/cart.js',
    '  3:7  warning  total is never used  no-unused-vars',
    '',
    'Linter found too many warnings (maximum: 0).',
  );
  assert.is(lines[0], 'Linter found too many warnings (maximum: 0).');
  assert.match(lines.join('\n'), /no-unused-vars/);
});

test('a command that a shell echoed right above the message is shown with it', () => {
  assert.match(
    shown('+ jq -r .name tenants/88.json', 'parse error: Expected another key-value pair').join(
      '\n',
    ),
    /^parse error: .*\n\+ jq -r \.name tenants\/88\.json$/,
  );
});

test('a finding in a dumped list comes with its path', () => {
  const lines = shown(
    'Error: invalid settings {',
    '  issues: [',
    '    {',
    "      code: 'invalid_type',",
    "      path: [ 'db', 'pool', 'max' ],",
    "      message: 'Expected number, received nan'",
    '    }',
  );
  assert.match(lines.join('\n'), /Expected number, received nan/);
  assert.match(lines.join('\n'), /'db', 'pool', 'max'/);
});

test('that a script failed is not joined to why', () => {
  const [first] = shown(
    'sh: line 1: next: command not found',
    ' ELIFECYCLE  Command failed.',
    'Error: Command "pnpm run build" exited with 1',
  );
  assert.is(first, 'sh: line 1: next: command not found');
});

test('what npm says of every install is not shown beside the cause', () => {
  const lines = shown(
    'added 412 packages, and audited 413 packages in 9s',
    '',
    '3 vulnerabilities (1 moderate, 2 high)',
    '',
    'To address all issues, run:',
    '  npm audit fix',
    '',
    'Run `npm audit` for details.',
    '$ node migrate.js',
    'Error: column "total" does not exist',
    '    at migrate (/srv/app/migrate.js:4:9)',
  );
  assert.is(lines[0], 'Error: column "total" does not exist');
  assert.not.ok(
    lines.some((line) => /To address|npm audit fix/.test(line)),
    lines.join('\n'),
  );
});

test('an error in the file above is shown with the name of the file', () => {
  const lines = shown(
    'web-1  | Checking formatting...',
    'web-1  | [warn] src/cart.ts',
    'web-1  | [warn] Code style issues found in the above file. Run Prettier with --write to fix.',
    'web-1 exited with code 1',
    'Aborting on container exit...',
  );
  assert.not.match(lines[0] ?? '', /^Aborting/);
  assert.ok(
    lines.some((line) => line.includes('src/cart.ts')),
    lines.join('\n'),
  );
});

test('a message that ends in a colon has in its line what it opens', () => {
  const [first] = shown(
    '  1) cart has a total:',
    '',
    '      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:',
    '',
    '2 !== 3',
    '',
    '      + expected - actual',
    '      at Context.<anonymous> (test/a.cjs:1:72)',
  );
  assert.match(first ?? '', /Expected values to be strictly equal: 2 !== 3$/);
});

test('the source that a crash shows above its message does not share its line', () => {
  const [first] = shown(
    '/srv/shop/server.js:1',
    "async function boot() { await ready(); throw new Error('redis: WRONGPASS invalid pair') }",
    '                                             ^',
    '',
    'Error: redis: WRONGPASS invalid pair',
    '    at boot (/srv/shop/server.js:1:46)',
  );
  assert.is(first, 'Error: redis: WRONGPASS invalid pair');
});

test('of lines that differ in a number alone, one is shown with their count', () => {
  const tries = Array.from({ length: 8 }, (_, n) => `db: attempt ${n + 1} failed: no pg_hba entry`);
  const lines = shown(...tries, 'giving up on the database');
  assert.is(lines.filter((line) => line.includes('no pg_hba entry')).length, 1, lines.join('\n'));
  assert.match(lines.join('\n'), /no pg_hba entry \(×8\)/);
});

test.run();
