import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { extract, FAILING } from './extract.ts';

test('the lines are printed unchanged, and nothing else', async () => {
  const { status, stdout, stderr } = await extract(
    'compiling\nsrc/a.ts(2,7): error TS2322: Wrong.\nmake: *** [all] Error 2\n',
  );
  assert.equal([status, stdout, stderr], [0, 'src/a.ts(2,7): error TS2322: Wrong.\n', '']);
});

test('JSON has the text, the line numbers, the class and the rule', async () => {
  const { stdout } = await extract('compiling\nsrc/a.c:2:7: error: no\n', ['--json']);
  assert.equal(JSON.parse(stdout), {
    text: 'src/a.c:2:7: error: no',
    lines: [2],
    class: 'compile',
    rule: 'located-error',
  });
});

test('lines of the log of a good build are not the cause', async () => {
  const folder = temporaryFolder('baseline');
  const good = join(folder, 'good.log');
  writeFileSync(good, 'ERROR: deprecated call in chunk 1\ndone\n');
  symlinkSync(good, join(folder, 'link.log'));
  for (const name of ['good.log', 'link.log']) {
    const { stdout, stderr } = await extract(FAILING, ['--baseline', join(folder, name)]);
    assert.equal([stdout, stderr], ['price list has no currency\n', '']);
  }
  assert.match((await extract(FAILING)).stdout, /^ERROR: deprecated call/m);
});

test('secrets are redacted, and what drives a terminal is gone', async () => {
  const log = `\u001b[31mError: login at https://bob:hunter2pass@git.example.org failed\u001b[0m\u202e\u0007\n`;
  const { stdout } = await extract(log, ['--command', 'x']);
  assert.is(stdout, 'Error: login at https://[REDACTED]@git.example.org failed\n');
});

test('wrong options are reported in one sentence, with the status that fits', async () => {
  const folder = temporaryFolder('baseline');
  mkdirSync(join(folder, 'dir'));
  const cases: [string[], number, RegExp][] = [
    [
      ['--max', '0'],
      2,
      /^error: invalid value '0' for '--max <N>': it must be a whole number from 1 to 999999\n$/,
    ],
    [['--max', '-3'], 2, /^error: invalid value '-3' for '--max <N>'/],
    [['--max', 'many'], 2, /^error: invalid value 'many'/],
    [['--max', '1e3'], 2, /^error: invalid value '1e3'/],
    [['--max', '1000000'], 2, /: it must be a whole number from 1 to 999999\n$/],
    [
      ['--status', '256'],
      2,
      /^error: invalid value '256' for '--status <N>': it must be a whole number up to 255\n$/,
    ],
    [['--status', ''], 2, /^error: /],
    [['build.log'], 2, /^error: unexpected argument 'build.log' found\n$/],
    [['--app', 'shop', '--baseline', 'x'], 2, /cannot be used with/],
    [
      ['--app', 'nope'],
      1,
      /no app called 'nope' is registered on this server[^\n]* \(app_not_found\)\n$/,
    ],
    [
      ['--baseline', join(folder, 'none')],
      1,
      /cannot read .+none: it does not exist \(file_unreadable\)\n$/,
    ],
    [
      ['--baseline', join(folder, 'dir')],
      1,
      /cannot read .+dir: it is a directory \(file_unreadable\)\n$/,
    ],
  ];
  for (const [args, wanted, sentence] of cases) {
    const { status, stdout, stderr } = await extract('x\n', args, folder);
    assert.equal([status, stdout], [wanted, ''], args.join(' '));
    assert.match(stderr, sentence);
    assert.is(stderr.split('\n').length, 2);
  }
});

test.run();
