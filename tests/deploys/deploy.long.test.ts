import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { startDiscord } from '@runner/testing/discord';
import { run, shellWord, start } from '@runner/testing/run';
import { findBytes } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile, impatient, REPO, TOKEN, type World, worldSuite } from './world.ts';

const test = worldSuite('deploy');

test('status and the answer of deploy show where the app is found, and what --ref chose', async ({
  world,
}) => {
  const at = `http://127.0.0.1:${world.port}`;
  await world.push('v1');
  await world.git.commit(
    REPO,
    { '.deploy.yml': 'instances: { default: { domain: shop.example } }\n' },
    'x',
    { branch: 'feature' },
  );
  const answer = async (args: readonly string[]) => {
    const { stdout } = await world.deploy(['--json', ...args]);
    const { url, urls } = JSON.parse(stdout.trim().split('\n').at(-1) as string);
    return [url, urls];
  };
  const status = async () =>
    (await run('runner-status', ['shop', '--offline'], { root: world.root })).stdout;
  assert.equal(await answer([]), [at, { default: at }]);
  assert.match(await status(), new RegExp(`^ +${at}$`, 'm'));
  assert.not.match(await status(), /--ref/);
  const domain = 'https://shop.example';
  assert.equal(await answer(['--ref', 'feature']), [domain, { default: domain }]);
  assert.match(await status(), /^ +https:\/\/shop\.example\n +chosen by hand with --ref feature$/m);
  assert.is((await run('runner-rollback', ['shop'], { root: world.root })).status, 0);
  assert.match(await status(), new RegExp(`^ +${at}$`, 'm'));
});

test('each step is a line on stderr, and only the result is on stdout', async ({ world }) => {
  await world.push('v1.0.0', { deploy: deployFile(world.port, 'build: [echo one, echo two]') });
  const done = await world.deploy();
  const steps = done.stderr.replace(/ \(\d+\.\d s\)/g, '').split('\n');
  assert.equal(steps, [
    'ok     fetch main of acme/shop',
    'ok     export v1.0.0',
    'ok     build: echo one',
    'ok     build: echo two',
    'ok     switch default',
    'ok     start default',
    'ok     health of default',
    '',
  ]);
});

test('of an app that runs and does not become healthy, what it printed is in the cause', async ({
  world,
}) => {
  await world.push('v1', {
    deploy: `start: { type: process, run: 'echo "Error: cannot connect to the database"; exec sleep 60' }
health: { url: "http://127.0.0.1:${world.port}/", interval: 100ms, within: 1s }
`,
  });
  const { status, stderr } = await world.deploy();
  assert.is(status, 1);
  assert.match(stderr, /\n +Error: cannot connect to the database\n/);
  const failure = world.events().findLast((event) => event.event_type === 'DeployFailure');
  assert.match(String(failure?.error), /^health: http:.*\nError: cannot connect to the database/);
  assert.match(String(failure?.cause), 'Error: cannot connect to the database');
});

test('an app that exits at once is rolled back, and its output is in the error', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  await world.push('v2', { files: { 'server.js': "throw new Error('no database address');\n" } });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.is(await world.page(), 'v1');
  const failure = world.events().at(-2);
  assert.match(
    String(failure?.error),
    // On a busy machine it dies after it has counted as started: then health finds it dead.
    /^(start|health): `exec node server\.js` ended with status 1\n[\s\S]*no database address/,
  );
  // They stand in the kept log too: the app's own output goes on with the version before.
  assert.match(
    readFileSync(String(failure?.log), 'utf8'),
    /no database address[\s\S]*\n(start|health): `exec node server\.js` ended with status 1\n\$ /,
  );
});

test('the output of an app that exits at once is in the error, also if its writer has to wait', async ({
  world,
}) => {
  const folder = join(world.root, 'apps/shop/instances/default/run');
  mkdirSync(folder, { recursive: true });
  // As what an app before has left does, or a busy machine.
  const holder = spawn('flock', [folder, 'sleep', '120'], { detached: true, stdio: 'ignore' });
  try {
    await world.push('v1', { files: { 'server.js': "throw new Error('no database address');\n" } });
    assert.is((await world.deploy()).status, 1);
    const { error, cause } = world.events().at(-1) ?? {};
    assert.match(
      String(error),
      /`exec node server\.js` ended with status 1\n[\s\S]*no database address/,
    );
    assert.match(String(cause), 'no database address');
  } finally {
    process.kill(-(holder.pid as number));
  }
});

test('an app that dies after a long beginning has not started either', async ({ world }) => {
  const server =
    "const begun = Date.now(); while (Date.now() < begun + 700); throw new Error('no database');\n";
  const deploy = deployFile(world.port).replace(/health.*\n/, '');
  await world.push('v1', { deploy, files: { 'server.js': server } });
  const done = await world.deploy();
  assert.is(done.status, 1, done.stdout);
  assert.match(
    String(world.events().at(-1)?.error),
    /^start: `exec node server\.js` ended with status 1\n[\s\S]*no database/,
  );
});

test('when the rollback fails too the status is 3 and both errors are reported', async ({
  world,
}) => {
  await world.push('v1', {
    deploy: deployFile(world.port)
      .replace(
        'start: { type: process, run: exec node server.js }',
        'start: { type: command, run: "test ! -e broken || exit 9" }',
      )
      .replace(/health.*\n/, ''),
  });
  await world.deploy();
  const release = join(world.root, 'apps/shop/instances/default', world.current() ?? '');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(join(release, 'broken'), '');
  await world.push('v2', { deploy: 'start: { type: command, run: exit 4 }\n' });
  const done = await world.deploy();
  assert.is(done.status, 3);
  assert.match(
    done.stdout,
    /The rollback failed too: rollback to v1 failed: start: .* ended with status 9/,
  );
  assert.match(
    String(world.events().at(-1)?.error),
    /^start: `exit 4` ended with status 4\nrollback to v1 failed: /,
  );
  assert.equal(world.kinds().slice(2), ['DeployStarted', 'DeployFailure']);
});

test('no .deploy.yml at all is a checkout and a switch, and the first deploy says so', async ({
  world,
}) => {
  const commit = await world.git.commit('acme/shop', { 'index.html': 'hello\n' }, 'page');
  const done = await world.deploy();
  assert.is(done.status, 0, done.stderr);
  const hint = 'nothing is built or started; runner init --app shop writes one\n';
  assert.match(done.stderr, `shop has no .deploy.yml: ${hint}`);
  const current = join(world.root, 'apps/shop/instances/default/current/index.html');
  assert.is(readFileSync(current, 'utf8'), 'hello\n');
  assert.is(world.events().at(-1)?.version, commit.slice(0, 12));
  await world.git.commit('acme/shop', { 'index.html': 'hello again\n' }, 'page');
  assert.not.match((await world.deploy()).stderr, hint);
});

for (const [name, prepare, code, sentence] of [
  [
    'a refused token',
    (world: World) => world.git.revoke(TOKEN),
    'token_invalid',
    "the code host refused the token of 'shop' for acme/shop",
  ],
  [
    'an unreachable host',
    (world: World) => world.git.close(),
    'network_error',
    'the code host refused the connection',
  ],
  [
    'a repository that is gone',
    (world: World) => rmSync(world.git.path('acme/shop'), { recursive: true }),
    'repo_not_found',
    'the code host has no repository acme/shop, or the token cannot read it',
  ],
] as const) {
  test(`${name} is one sentence, recorded and announced, and changes nothing`, async ({
    world,
  }) => {
    const chat = await startDiscord();
    const config = `notify: { discord_webhook: "${chat.webhook}" }\n`;
    appendFileSync(join(world.root, 'config.yml'), config);
    await world.push('v1');
    await prepare(world);
    const done = await world.deploy(['--json', '--deploy-id', 'c0ffee00', '--trigger', 'fleet']);
    assert.is(done.status, 1);
    assert.ok(done.stderr.includes(sentence), done.stderr);
    const object = JSON.parse(done.stdout.trimEnd().split('\n').at(-1) ?? '') as Record<
      string,
      unknown
    >;
    assert.equal([object.error, object.app, object.result], [code, 'shop', 'failed']);
    const [event, ...more] = world.events();
    assert.equal(
      [event?.event_type, event?.stage, event?.version, event?.deploy_id, event?.trigger, more],
      ['DeployFailure', 'fetch', 'main', 'c0ffee00', 'fleet', []],
    );
    assert.ok(String(event?.error).startsWith(sentence), String(event?.error));
    assert.is(chat.messages.length, 1);
    await chat.close();
    assert.is(world.state().failures, null);
    // The cause is known.
    const fetched = await run('runner-fetch', ['--deploy'], { root: world.root });
    assert.is(fetched.status, 1);
    assert.is(world.events().length, 1);
    const shown = await run('runner-debug', ['last-error', 'shop'], { root: world.root });
    assert.ok(shown.stdout.includes(sentence), shown.stdout);
  });
}

for (const [name, prepare, args, code] of [
  [
    'a branch that is gone',
    (world: World) => world.git.deleteBranch('acme/shop', 'main'),
    [],
    'branch_not_found',
  ],
  ['a mistyped ref', () => {}, ['--ref', 'v11'], 'ref_not_found'],
  ['a commit that does not exist', () => {}, ['--ref', '0123456'], 'ref_not_found'],
  ['a ref that git does not allow', () => {}, ['--ref', 'a..b'], 'name_invalid'],
  ['a mistyped instance', () => {}, ['--instance', 'eu'], 'instance_not_found'],
] as const) {
  test(`${name} is one sentence, writes no event and changes nothing`, async ({ world }) => {
    await world.push('v1');
    await prepare(world);
    const done = await world.deploy(['--json', ...args]);
    assert.is(done.status, 1);
    const object = JSON.parse(done.stdout.trimEnd().split('\n').at(-1) ?? '') as Record<
      string,
      unknown
    >;
    assert.equal([object.error, object.app, object.result], [code, 'shop', 'failed']);
    assert.equal(world.kinds(), []);
    assert.is(world.state().failures, null);
  });
}

test('the token is in no file below the root and in no output', async ({ world }) => {
  await world.push('v1', { deploy: deployFile(world.port, `build: "echo ${TOKEN}; env"`) });
  const done = await world.deploy(['-v']);
  assert.is(done.status, 0, done.stderr);
  assert.not.ok((done.stdout + done.stderr).includes(TOKEN));
  // It stands in the commit itself here: the release is the commit, and the app's output its own.
  const found = findBytes(world.root, TOKEN).filter((path) => !/\.deploy\.yml|objects/.test(path));
  assert.equal(found, []);
});

test('a first version that fails after the switch counts as a failed change', async ({ world }) => {
  await world.push('v1', { health: 503, deploy: impatient(world.port) });
  assert.is((await world.deploy()).status, 1);
  const { stdout } = await run('runner-stats', ['shop', '--json'], { root: world.root });
  const { changes, change_failure_rate: rate } = JSON.parse(stdout.split('\n')[0] ?? '');
  assert.equal([changes, rate], [1, 1], stdout);
});

test('with --json every step is a line and the last line is the result', async ({ world }) => {
  await world.push('v1.0.0');
  const done = await world.deploy(['--json']);
  const lines = done.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.equal(lines[0], { step: 'fetch main of acme/shop', status: 'started' });
  const last = lines.at(-1) ?? {};
  assert.is(last.result, 'deployed');
  assert.is(last.active_version, 'v1.0.0');
  assert.is(done.stderr, '');
});

test('an audit log that cannot be written refuses the deploy before anything has changed', async ({
  world,
}) => {
  await world.push('v1');
  const { mkdirSync } = await import('node:fs');
  mkdirSync(join(world.root, 'logs/deploy-events.jsonl'), { recursive: true });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(
    done.stderr,
    /cannot append to the audit log .*: it is a directory \(audit_unwritable\)\n$/,
  );
  assert.is(world.current(), null);
  assert.is(world.state().deploying, null);
  assert.not.ok(
    existsSync(join(world.root, 'apps/shop/releases')) &&
      readdirSync(join(world.root, 'apps/shop/releases')).length > 0,
  );
});

test('the files of a release are on the disk before it becomes active', async ({ world }) => {
  const folder = temporaryFolder('sync');
  const noted = join(folder, 'noted');
  const line = `#!/bin/sh\nls "$2/server.js" >> ${shellWord(noted)}\necho "$*" >> ${shellWord(noted)}\n`;
  writeFileSync(join(folder, 'sync'), `${line}exec /bin/sync "$@"\n`, { mode: 0o755 });
  await world.push('v1');
  assert.is((await world.deploy([], { PATH: `${folder}:${process.env.PATH}` })).status, 0);
  const { deploy_id: id } = world.events()[0] as { deploy_id: string };
  const release = join(world.root, 'apps/shop/releases', `.tmp-${id}`);
  assert.is(readFileSync(noted, 'utf8'), `${release}/server.js\n-f ${release}\n`);
});

test('a deploy whose disk takes the files of a release slowly can be interrupted', async ({
  world,
}) => {
  const folder = temporaryFolder('sync');
  const going = join(folder, 'going');
  const script = `#!/bin/sh\necho > ${shellWord(going)}\nexec sleep 30\n`;
  writeFileSync(join(folder, 'sync'), script, { mode: 0o755 });
  await world.push('v1');
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const running = start('runner-deploy', ['shop'], { root: world.root, env });
  await until(() => existsSync(going), 'nothing is synced');
  const began = performance.now();
  process.kill(running.pid, 'SIGTERM');
  const { status } = await running.done;
  assert.is(status, 143);
  assert.ok(performance.now() - began < 10_000, 'it waited for the disk');
  assert.equal(world.kinds(), ['DeployStarted', 'DeployFailure']);
});

test.run();
