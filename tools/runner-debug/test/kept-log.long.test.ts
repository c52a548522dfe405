import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shell, shellWord } from '@runner/testing/run';
import { runOnTerminal, type ShownSession } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { event, keep, log, madeRoot, TEXT } from './kept-log.ts';
import { logText, rootWith, writeLog } from './log.ts';

test('a deploy that was rolled back is shown as the failure it was', async () => {
  const root = rootWith('shop');
  const rolledBack = { version: 'v1', from_version: 'v2', stage: undefined };
  const events = [
    event('DeployFailure', 'aaaa1111'),
    event('RollbackSuccess', 'aaaa1111', rolledBack),
  ];
  writeLog(root, logText(events));
  keep(root, 'aaaa1111');
  const { status, stdout, stderr } = await log(root, 'shop');
  assert.is(status, 0);
  assert.match(stdout, '> src/cart.ts(9,5): error TS2304');
  assert.match(stderr, 'deploy aaaa1111 of shop v2 failed at build');
});

test('a rollback by hand that succeeded is shown as one', async () => {
  const root = rootWith('shop');
  const byHand = { version: 'v1', from_version: 'v2', stage: undefined };
  writeLog(root, logText([event('RollbackSuccess', 'aaaa1111', byHand)]));
  keep(root, 'aaaa1111');
  const { stderr } = await log(root, 'shop');
  assert.match(stderr, /rollback aaaa1111 of shop v1 succeeded at /);
});

test('where no rule knows the cause, the last answer of the health check is marked', async () => {
  const root = rootWith('shop');
  writeLog(root, logText([event('DeployFailure', 'aaaa1111', { stage: 'health' })]));
  const answers = ['health: attempt 1: it said 503', 'health: attempt 2: it said 504'];
  keep(
    root,
    'aaaa1111',
    ['$ node build.js', 'built', '$ exec node server.js', ...answers, ''].join('\n'),
  );
  const lines = (await log(root, 'shop')).stdout.split('\n');
  assert.equal(
    lines.filter((line) => line.startsWith('>')),
    ['> health: attempt 2: it said 504'],
  );
  writeLog(root, logText([event('DeployFailure', 'aaaa1111')]));
  assert.not.match((await log(root, 'shop')).stdout, /^> \$/m);
});

test('output of the rollback is not a cause', async () => {
  const root = rootWith('shop');
  const error = 'start: `sh start.sh` ended with status 3\nno such service: web';
  writeLog(root, logText([event('DeployFailure', 'aaaa1111', { stage: 'start', error })]));
  const ours = [
    '$ sh start.sh',
    'no such service: web',
    'start: `sh start.sh` ended with status 3',
  ];
  const back = ['$ exec node server.js', 'health: attempt 1: it cannot be reached (ECONNREFUSED)'];
  const noise = `${'x'.repeat(65_520)}\n`; // The headline lies across two blocks.
  for (const before of ['', noise]) {
    keep(root, 'aaaa1111', [before + ours[0], ...ours.slice(1), ...back, ''].join('\n'));
    const { status, stdout } = await log(root, 'shop');
    assert.is(status, 0);
    assert.match(stdout, '\n> no such service: web\n');
    assert.match(stdout, '\n  health: attempt 1: it cannot be reached (ECONNREFUSED)\n');
  }
});

test('the cause of a failed health check is the last answer, or the output of the app below it', async () => {
  const root = rootWith('shop');
  const answers = ['health: attempt 1: it cannot be reached', 'health: attempt 2: it answered 503'];
  const marked = async (error: string, said: string[]) => {
    writeLog(root, logText([event('DeployFailure', 'aaaa1111', { stage: 'health', error })]));
    const lines = ['$ make', 'error: of old', ...answers, ...said, error, '$ back', answers[0], ''];
    keep(root, 'aaaa1111', lines.join('\n'));
    const { stdout } = await log(root, 'shop');
    return stdout.split('\n').flatMap((line, at) => (line.startsWith('>') ? [at + 1] : []));
  };
  const unhealthy = 'health: it answered 503, not healthy within 2 s';
  assert.equal(await marked(unhealthy, []), [4, 5]);
  assert.equal(await marked(unhealthy, ['no base']), [5, 6]);
  const dead = 'health: `exec node server.js` ended with status 1';
  assert.equal(await marked(dead, ['at work', 'Error: Cannot find module "pg"']), [6]);
});

test('an app that never failed, and a server without an audit log: the newest log', async () => {
  const root = rootWith('shop');
  keep(root, 'aaaa1111', 'old\n', { age: 50 });
  keep(root, 'bbbb2222', 'new\n', { age: 5 });
  const { status, stdout, stderr } = await log(root, 'shop');
  assert.equal([status, stdout], [0, '> new\n']);
  assert.match(stderr, /deploy bbbb2222 of shop has no recorded end: /);
});

test('a missing item is reported with its code and the existing ones', async () => {
  const root = madeRoot();
  writeFileSync(join(root, 'logs/deploys/shop/aaaa2222.log'), '');
  const cases: [string[], string, RegExp][] = [
    [['nope'], 'app_not_found', /no app called 'nope'/],
    [['../state'], 'app_not_found', /no app called/],
    [
      ['blog'],
      'log_not_found',
      /the log of deploy dddd4444 of 'blog' is not kept; no log of this app is kept/,
    ],
    [
      ['shop', '--deploy', 'ffff9999'],
      'deploy_not_found',
      /'shop' has no deploy 'ffff9999'; kept are aaaa2222, cccc3333, bbbb2222, aaaa1111/,
    ],
    [['shop', '--deploy', 'dddd4444'], 'deploy_not_found', /'shop' has no deploy 'dddd4444'/],
    [
      ['shop', '--deploy', 'aaaa'],
      'deploy_not_found',
      /several deploys of 'shop' begin with aaaa: aaaa2222, aaaa1111/,
    ],
    [['shop', '--deploy', '../../../config'], 'deploy_not_found', /'shop' has no deploy/],
    [['shop', '--deploy', '\u001b[2J'], 'deploy_not_found', /\\x1b\[2J/],
  ];
  for (const [args, code, words] of cases) {
    const { status, stdout, stderr } = await log(root, ...args, '--json');
    assert.is(status, 1, args.join(' '));
    assert.is(JSON.parse(stdout).error, code);
    assert.match(stderr, words);
    assert.is(stderr.split('\n').length, 2);
  }
  const { status, stderr } = await log(rootWith('shop'), 'shop');
  assert.is(status, 1);
  assert.match(stderr, /no log of a deploy of 'shop' is kept on this server yet \(log_not_found\)/);
  assert.is((await log(root)).status, 2);
});

test('a log that is a link is refused', async () => {
  const root = madeRoot();
  symlinkSync('/etc/passwd', join(root, 'logs/deploys/shop/eeee5555.log'));
  const { status, stdout, stderr } = await log(root, 'shop', '--deploy', 'eeee5555');
  assert.equal([status, stdout], [1, '']);
  assert.match(stderr, /cannot read .+: it is a symbolic link \(file_unreadable\)/);
});

test('a long line is cut and marked; the file is unchanged', async () => {
  const root = rootWith('shop');
  keep(root, 'aaaa1111', `${'x'.repeat(3_000_000)}\nend\n`);
  const { stdout } = await log(root, 'shop');
  assert.match(stdout, /^. x{8192} …\n. end\n$/);
  const json = (await log(root, 'shop', '--json')).stdout.split('\n');
  assert.is(JSON.parse(json[1] ?? '').cut, true);
  assert.is(JSON.parse(json[2] ?? '').cut, undefined);
});

test('a reader that leaves early ends it quietly', async () => {
  const root = rootWith('shop');
  keep(root, 'aaaa1111', 'a line of the log\n'.repeat(200_000));
  const { status, stdout, stderr } = await shell('runner-debug log shop 2>/dev/null | head -n 2', {
    root,
  });
  assert.equal([status, stderr], [0, '']);
  assert.match(stdout, /^(?:[> ] a line of the log\n){2}$/);
});

/** What a terminal receives. */
function onTerminal(root: string, env: Record<string, string>): Promise<ShownSession> {
  return runOnTerminal('runner-debug', ['log', 'shop'], { root, columns: 200, env });
}

test('on a terminal the pager gets the log, with the cause in colour', async () => {
  const root = madeRoot();
  const out = join(root, 'paged');
  const { status, text } = await onTerminal(root, { PAGER: `tee ${shellWord(out)} | wc -l` });
  assert.is(status, 0);
  assert.match(text, /\b5\r\n$/);
  assert.match(
    readFileSync(out, 'utf8'),
    /\u001b\[31m> src\/cart\.ts\(9,5\): error TS2304: Cannot find name totl\.\u001b\[39m\n/,
  );
});

test('a pager that ends early, is missing or is switched off is not an error', async () => {
  const root = madeRoot();
  keep(root, 'bbbb2222', `${'a line of the log\n'.repeat(100_000)}Error: the end\n`, { age: 20 });
  const early = await onTerminal(root, { PAGER: 'head -n 1', NO_COLOR: '1' });
  assert.is(early.status, 0);
  assert.match(early.text, / {2}a line of the log\r\n$/);
  keep(root, 'bbbb2222', TEXT, { age: 20 });
  const missing = await onTerminal(root, { PAGER: 'no-such-pager', NO_COLOR: '1' });
  assert.is(missing.status, 0);
  assert.match(missing.text, /the pager 'no-such-pager' cannot be run\r\n {2}\$ sh build\.sh\r\n/);
  assert.match(missing.text, /> src\/cart\.ts/);
  for (const PAGER of ['', 'cat']) {
    const plain = await onTerminal(root, { PAGER, NO_COLOR: '1' });
    assert.match(plain.text, /\r\n {2}\$ sh build\.sh\r\n[\s\S]*\r\n> src\/cart\.ts/);
  }
});

test.run();
