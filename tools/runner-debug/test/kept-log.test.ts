import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEPLOYING, writeState } from '@runner/testing/app-states';
import { start } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { event, keep, log, madeRoot } from './kept-log.ts';
import { logText, rootWith, writeLog } from './log.ts';

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

test('a deploy is chosen by its ID or a prefix; nothing is marked in a successful one', async () => {
  const root = madeRoot();
  assert.is((await log(root, 'shop', '--deploy', 'aaaa1111')).stdout, '> Error: first\n');
  assert.is((await log(root, 'shop', '--deploy', 'aa')).stdout, '> Error: first\n');
  const good = await log(root, 'shop', '--deploy', 'cccc3333');
  assert.is(good.stdout, '  Error: printed, but all went well\n');
  assert.match(good.stderr, /deploy cccc3333 of shop v3 succeeded at /);
});

test('a failure at fetch has no log, and is not said to have lost it', async () => {
  const root = madeRoot();
  const path = join(root, 'logs/deploy-events.jsonl');
  const unfetched = event('DeployFailure', 'eeee5555', { version: 'main', stage: 'fetch' });
  appendFileSync(path, logText([unfetched]));
  const { status, stderr } = await log(root, 'shop');
  const sentence = "deploy eeee5555 of 'shop' failed at fetch and has no log";
  const next = 'see: runner debug last-error shop (log_not_found)';
  assert.equal([status, stderr], [1, `runner debug log: ${sentence}; ${next}\n`]);
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

test.run();
