import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DEPLOYING, writeState } from '@runner/testing/app-states';
import { run, shell, shellWord, start } from '@runner/testing/run';
import { runOnTerminal, type ShownSession } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { failure, logText, rootWith, writeLog } from './log.ts';

const TEXT = [
  '$ sh build.sh',
  'compiling 12 files',
  '\u001b[31msrc/cart.ts(9,5): error TS2304: Cannot find name totl.\u001b[0m',
  '',
  'build: `sh build.sh` ended with status 2',
  '',
].join('\n');

/** Puts the log of a deploy where the pipeline keeps it; `age` in seconds. */
function keep(
  root: string,
  id: string,
  text: string | Uint8Array = TEXT,
  { age = 0, app = 'shop' } = {},
) {
  const folder = join(root, 'logs/deploys', app);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.log`), text);
  const time = Date.now() / 1000 - age;
  utimesSync(join(folder, `${id}.log`), time, time);
}

const event = (kind: string, id: string, more: object = {}) => ({
  ...failure('v2'),
  event_type: kind,
  deploy_id: id,
  stage: 'build',
  ...more,
});

/** A root whose app failed as aaaa1111, then as bbbb2222, then succeeded as cccc3333. */
function madeRoot(): string {
  const root = rootWith('shop', 'blog');
  writeLog(
    root,
    logText([
      event('DeployFailure', 'aaaa1111', { version: 'v1' }),
      event('DeployFailure', 'bbbb2222'),
      event('DeploySuccess', 'cccc3333', { version: 'v3', stage: undefined }),
      event('DeployFailure', 'dddd4444', { project: 'blog' }),
    ]),
  );
  keep(root, 'aaaa1111', 'Error: first\n', { age: 30 });
  keep(root, 'bbbb2222', TEXT, { age: 20 });
  keep(root, 'cccc3333', 'Error: printed, but all went well\n', { age: 10 });
  return root;
}

const log = (root: string, ...args: string[]) => run('runner-debug', ['log', ...args], { root });

test('the newest failure is shown, its cause marked, also after a success', async () => {
  const root = madeRoot();
  const { status, stdout, stderr } = await log(root, 'shop');
  const lines = [
    '  $ sh build.sh',
    '  compiling 12 files',
    '> src/cart.ts(9,5): error TS2304: Cannot find name totl.',
    '',
    '  build: `sh build.sh` ended with status 2',
    '',
  ];
  assert.equal([status, stdout], [0, lines.join('\n')]);
  assert.is(
    stderr,
    `runner debug log: deploy bbbb2222 of shop v2 failed at build at 2026-05-04T09:30:00.000Z: ${root}/logs/deploys/shop/bbbb2222.log\n`,
  );
});

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

test('a deploy is chosen by its ID or a prefix; nothing is marked in a successful one', async () => {
  const root = madeRoot();
  assert.is((await log(root, 'shop', '--deploy', 'aaaa1111')).stdout, '> Error: first\n');
  assert.is((await log(root, 'shop', '--deploy', 'aa')).stdout, '> Error: first\n');
  const good = await log(root, 'shop', '--deploy', 'cccc3333');
  assert.is(good.stdout, '  Error: printed, but all went well\n');
  assert.match(good.stderr, /deploy cccc3333 of shop v3 succeeded at /);
});

test('JSON: an object about the deploy, then one for each line', async () => {
  const { status, stdout, stderr } = await log(madeRoot(), 'shop', '--json');
  assert.equal([status, stderr], [0, '']);
  const [about, ...lines] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.is(about.deploy_id, 'bbbb2222');
  assert.equal(
    [about.app, about.event, about.version, about.stage, about.timestamp],
    ['shop', 'DeployFailure', 'v2', 'build', '2026-05-04T09:30:00.000Z'],
  );
  assert.equal(about.cause, {
    text: 'src/cart.ts(9,5): error TS2304: Cannot find name totl.',
    lines: [3],
    class: 'compile',
    rule: 'located-error',
  });
  assert.equal(lines[2], {
    line: 3,
    text: 'src/cart.ts(9,5): error TS2304: Cannot find name totl.',
    marked: true,
  });
  assert.is(lines.filter(({ marked }) => marked).length, 1);
  assert.is(lines.length, 5);
  const yaml = await log(madeRoot(), 'shop', '-o', 'yaml');
  assert.match(
    yaml.stdout,
    /^---\napp: shop\n[\s\S]*---\nline: 1\ntext: \$ sh build\.sh\nmarked: false\n/,
  );
});

test('an app that never failed, and a server without an audit log: the newest log', async () => {
  const root = rootWith('shop');
  keep(root, 'aaaa1111', 'old\n', { age: 50 });
  keep(root, 'bbbb2222', 'new\n', { age: 5 });
  const { status, stdout, stderr } = await log(root, 'shop');
  assert.equal([status, stdout], [0, '> new\n']);
  assert.match(stderr, /deploy bbbb2222 of shop has no recorded end: /);
});

test('-f follows the deploy that runs until it ends, and says how it ended', async () => {
  const root = madeRoot();
  const { deploy_id: id } = DEPLOYING;
  const path = join(root, 'logs/deploys/shop', `${id}.log`);
  keep(root, id, '$ make\n');
  writeState(root, 'shop', { deploying: DEPLOYING });
  const shown = await log(root, 'shop', '--deploy', id);
  assert.match(shown.stderr, /deploy a1b2c3d4 of shop is in progress: /);
  const session = start('runner-debug', ['log', 'shop', '-f'], { root });
  const lines = session.stdout[Symbol.asyncIterator]();
  assert.is((await lines.next()).value, '  $ make');
  appendFileSync(path, 'linking\n');
  assert.is((await lines.next()).value, '  linking');
  appendFileSync(path, 'last');
  writeLog(root, logText([event('DeploySuccess', id, { version: 'v3' })]));
  writeState(root, 'shop');
  const ended = await session.done;
  assert.equal([ended.status, ended.stdout], [0, '  $ make\n  linking\n  last\n']);
  assert.match(ended.stderr, /in progress: .*\n.*deploy a1b2c3d4 of shop v3 succeeded at .*\n$/);
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

test('foreign text cannot control the terminal, secrets are redacted, progress is left out', async () => {
  const root = rootWith('shop');
  keep(
    root,
    'aaaa1111',
    'a\u001b]0;title\u0007b\u009b2Jc\u202ed\n10 %\r20 %\r30 %\nsee https://bob:hunter2pass@git.example.org\n',
  );
  const { stdout } = await log(root, 'shop');
  assert.match(
    stdout,
    /^[> ] abcd\n[> ] 30 %\n[> ] see https:\/\/\[REDACTED\]@git\.example\.org\n$/,
  );
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
