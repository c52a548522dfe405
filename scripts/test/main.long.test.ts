import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive, until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const checkout = process.cwd();
const folder = mkdtempSync(join(tmpdir(), 'fixtures-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const begin = `const { test } = require('uvu');`;
let number = 0;

/** Runs scripts/test/main.mjs over one test file per given text; `parts` are parts of paths to run. */
function runTests(texts: Record<string, string>, ...args: string[]) {
  number += 1;
  const root = join(folder, `root-${number}`);
  mkdirSync(join(root, 'libs/x/test'), { recursive: true });
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(root, `libs/x/test/${name}.test.ts`), text);
  }
  const end = spawnSync(
    process.execPath,
    [join(checkout, 'scripts/test/main.mjs'), '--root', root, ...args],
    { encoding: 'utf8', env: { ...process.env, NODE_EXTRA_CA_CERTS: '/nowhere', CI: 'true' } },
  );
  const lines = end.stdout.trimEnd().split('\n');
  return { status: end.status, stdout: end.stdout, last: lines.at(-1), lines };
}

const good = `${begin} test('one', () => {}); test('two', () => {}); test.run();`;

test('each passing file prints a line, the last line has the sums, and the status is 0', () => {
  const { status, lines } = runTests({ a: good, b: good });
  assert.is(status, 0);
  assert.is(lines.length, 3);
  assert.match(lines[0]!, /^ok {4}libs\/x\/test\/[ab]\.test\.ts {2}2 passed, \d+\.\d s$/);
  assert.is(lines[2], '4 passed, 0 failed, 0 skipped');
});

test('skipped tests are counted and do not fail the run', () => {
  const { status, last } = runTests({
    a: `${begin} test('one', () => {}); test.skip('two', () => {}); test.run();`,
  });
  assert.is(status, 0);
  assert.is(last, '1 passed, 0 failed, 1 skipped');
});

test('a failing test fails the run, and the output of its file is shown whole', () => {
  const { status, stdout, last } = runTests({
    a: good,
    b: `${begin} test('fine', () => {});
        test('broken', () => { console.log('said before'); throw new Error('cause'); });
        test.run();`,
  });
  assert.is(status, 1);
  assert.match(stdout, 'said before');
  assert.match(stdout, 'cause');
  assert.match(stdout, 'failed: libs/x/test/b.test.ts: 1 of 2 tests failed\n');
  assert.is(last, '3 passed, 1 failed, 0 skipped');
});

test('long tests print their counts, and the sums precede the last line', () => {
  const counting = (text: string) =>
    `${begin} test('one', () => console.log(${JSON.stringify(text)})); test.run();`;
  const { status, lines } = runTests(
    {
      'a.long': counting('(100 kills in 131 runs, 12 of them (or so) early)\n(7 cases of it)'),
      'b.long': counting('(20 kills)\n(left out: 3 of them)\nsaid (1 thing) before'),
      c: counting('(5 kills)'),
    },
    '--long',
    ...['--jobs', '1'],
  );
  assert.is(status, 0);
  assert.match(lines[0]!, /^ok {4}libs\/x\/test\/a\.long\.test\.ts {2}1 passed, /);
  assert.equal(lines.slice(1, 3), [
    '      100 kills in 131 runs, 12 of them (or so) early',
    '      7 cases of it',
  ]);
  assert.equal(lines.slice(4), [
    '      20 kills',
    'counted: 120 kills, 7 cases',
    '2 passed, 0 failed, 0 skipped',
  ]);
});

/** What uvu alone would let pass, with the reason that is to be given. */
const traps: [string, string, RegExp][] = [
  ['a file without .run()', `${begin} test('one', () => {});`, /printed no counts last/],
  ['an empty file', '', /printed no counts last/],
  ['a file without tests', `${begin} test.run();`, /has no tests/],
  [
    'a before hook that throws',
    `${begin} test.before(() => { throw new Error('no'); }); test('one', () => {}); test.run();`,
    /1 of 1 tests did not run/,
  ],
  [
    'a rejection with a string',
    `${begin} test('one', () => Promise.reject('text')); test.run();`,
    /1 of 1 tests did not run/,
  ],
  [
    'a rejection with nothing',
    `${begin} test('one', () => Promise.reject()); test('two', () => {}); test.run();`,
    /2 of 2 tests did not run/,
  ],
  [
    'an after hook that throws',
    `${begin} test.after(() => { throw new Error('no'); }); test('one', () => {}); test.run();`,
    /printed no counts last/,
  ],
  [
    'a process that leaves in the middle of a test',
    `${begin} test('one', () => process.exit(0)); test('two', () => {}); test.run();`,
    /printed no counts last/,
  ],
  [
    'a process that leaves with a status after its counts',
    `${begin} test('one', () => { process.on('exit', () => process.exit(7)); }); test.run();`,
    /exited with status 7/,
  ],
  [
    'a process that a signal ends',
    `${begin} test('one', () => { process.kill(process.pid, 'SIGKILL'); }); test.run();`,
    /was ended by SIGKILL/,
  ],
  [
    'counts printed by what is tested, and none by uvu',
    `console.log('\\n  Total:     3\\n  Passed:    3\\n  Skipped:   0\\n  Duration:  1ms\\n');
     console.log('and more');`,
    /printed no counts last/,
  ],
  ['a file that does not even load', 'throw new Error("at load");', /printed no counts last/],
  [
    'counts that do not add up',
    `console.log('\\n  Total:     1\\n  Passed:    3\\n  Skipped:   0\\n  Duration:  1ms\\n');`,
    /do not add up/,
  ],
];

for (const [what, text, reason] of traps) {
  test(`fails for ${what}`, () => {
    const { status, last, lines } = runTests({ trap: text });
    assert.is(status, 1);
    const named = lines.filter((line) => line.startsWith('failed: libs/x/test/trap.test.ts: '));
    assert.is(named.length, 1);
    assert.match(named[0]!, reason);
    assert.match(last!, /^\d+ passed, [1-9]\d* failed, 0 skipped$/);
  });
}

test('a hanging test is ended with all it started, and fails the run', async () => {
  const pidFile = join(folder, 'pid');
  const { status, last, stdout } = runTests(
    {
      hang: `${begin} test('one', () => new Promise(() => {
        const child = require('node:child_process').spawn('sleep', ['600'], { stdio: 'inherit' });
        require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(child.pid));
      })); test.run();`,
      fine: good,
    },
    '--limit',
    '10',
  );
  assert.is(status, 1);
  assert.match(stdout, 'did not end within 10 s');
  assert.is(last, '2 passed, 1 failed, 0 skipped');
  const pid = Number(readFileSync(pidFile, 'utf8'));
  await until(() => !isAlive(pid), 'what it started goes on');
});

test('a process left behind, holding the output, neither delays the run nor survives it', () => {
  const { status, last } = runTests(
    {
      leave: `${begin} test('one', () => {
        require('node:child_process').spawn('sleep', ['600'], { stdio: 'inherit' }).unref();
      }); test.run();`,
    },
    '--limit',
    '300',
  );
  assert.is(status, 0);
  assert.is(last, '1 passed, 0 failed, 0 skipped');
});

test('a file that could not be bundled fails the run, and the others run', () => {
  const { status, stdout, last } = runTests({ gone: "\nimport './gone.ts';\n", good });
  assert.is(status, 1);
  assert.match(stdout, 'libs/x/test/gone.test.ts:2:7: Could not resolve "./gone.ts"\n');
  assert.match(stdout, 'failed: libs/x/test/gone.test.ts: could not be bundled\n');
  assert.is(last, '2 passed, 1 failed, 0 skipped');
});

test('parts of paths choose the files; a part that matches none fails the run', () => {
  assert.is(runTests({ a: good, b: good }, 'x/test/b').last, '2 passed, 0 failed, 0 skipped');
  const none = runTests({ a: good }, 'nothing-like-it');
  assert.is(none.status, 1);
  assert.match(none.stdout, 'no test file matches');
});

test('long tests run with --long, and then alone', () => {
  const texts = { 'a.long': good, b: good };
  const usual = runTests(texts);
  assert.equal([usual.last, usual.lines.length], ['2 passed, 0 failed, 0 skipped', 2]);
  const long = runTests(texts, '--long');
  assert.match(long.stdout, /^ok {4}libs\/x\/test\/a\.long\.test\.ts {2}2 passed/);
  assert.equal([long.last, long.lines.length], ['2 passed, 0 failed, 0 skipped', 2]);
});

test('a test has an empty home and temp folder of its own and none of npm or NODE_EXTRA_CA_CERTS', () => {
  const { status, stdout } = runTests({
    env: `${begin} const fs = require('node:fs'); const { env } = process;
      test('one', () => {
        if (fs.readdirSync(env.HOME).length + fs.readdirSync(env.TMPDIR).length > 0) throw Error('1');
        fs.writeFileSync(env.HOME + '/left', 'x'); fs.writeFileSync(env.TMPDIR + '/left', 'x');
        if (env.HOME === ${JSON.stringify(process.env.HOME)}) throw Error('2');
        if (env.NODE_EXTRA_CA_CERTS ?? env.CI ?? env.NODE_OPTIONS) throw Error('3');
        if (Object.keys(env).some((name) => name.startsWith('npm_'))) throw Error('4');
        if (env.PATH.includes('node_modules')) throw Error('5');
        fs.writeFileSync(${JSON.stringify(join(folder, 'home'))}, env.HOME);
      }); test.run();`,
  });
  assert.is(status, 0, stdout);
  assert.not.ok(existsSync(readFileSync(join(folder, 'home'), 'utf8')));
});

test.run();
