import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, REPO } from '../../../tests/deploys/world.ts';

const compiler = 'src/cart.ts:12:7 - error TS2339: Property total does not exist on type Cart.';

test('one screen has the cause, the files that it names, what changed since, what runs, and what to type', async () => {
  const world = await makeWorld();
  const { root, port, push, deploy } = world;
  const why = (...args: string[]) => run('runner-why', ['shop', ...args], { root });
  try {
    const none = await why();
    assert.equal([none.status, none.stderr], [0, '']);
    assert.match(none.stdout, /^shop: new\n +failure: +none is on record\n/);
    await push('v1', { deploy: deployFile(port), files: { 'src/cart.ts': 'one\n' } });
    assert.is((await deploy(['--no-notify'])).status, 0);
    assert.match((await why()).stdout, /^shop: ok\n +failure: +none is on record\n/);
    await run('runner-env', ['set', 'shop', 'PAY_KEY', '--file', '-'], {
      root,
      stdin: 'a-long-pay-key-value\n',
    });
    await push('v2', {
      deploy: deployFile(port, `build: "echo '${compiler}'; exit 2"\n`),
      files: { 'src/cart.ts': 'two\n', 'a.txt': 'x' },
    });
    assert.is((await deploy(['--no-notify'])).status, 1);
    const { status, stdout, stderr } = await why();
    assert.equal([status, stderr], [0, '']);
    const lines = stdout.split('\n');
    assert.ok(lines.length <= 25 && lines.every((line) => line.length <= 80), stdout);
    const shown = lines.map((line) => line.trim().replace(/ {2,}/g, ' '));
    const id = /deploy (\w{8})$/m.exec(stdout)?.[1];
    for (const line of [
      'shop: failing',
      'cause: src/cart.ts:12:7 - error TS2339: Property total does not exist on',
      'since: v1: 1 commit by Ada Example',
      'changed: .deploy.yml, secret PAY_KEY',
      'files: * src/cart.ts',
      'because: 1234567890ab failed 1 of 3 times',
      `type: runner debug log shop --deploy ${id}`,
      `runner deploy shop`,
    ])
      assert.ok(
        shown.some((each) => each.replace(/[0-9a-f]{12}/, '1234567890ab') === line),
        line,
      );
    assert.match(stdout, /runs: +default: v1 \(\w{12}\) since .* UTC, running\n/);
    const json = JSON.parse((await why('--json')).stdout);
    assert.is(json.failure.cause, compiler);
    assert.equal(json.since.changed[0], { path: 'src/cart.ts', named: true });
    assert.equal([json.since.secrets, json.failure.over], [['PAY_KEY'], null]);
    await push('v3', { deploy: deployFile(port) });
    assert.is((await deploy(['--no-notify'])).status, 0);
    await run('runner-pause', ['shop', '--reason', 'release party'], { root });
    const paused = await why();
    assert.match(paused.stdout, /^shop: paused\n/);
    assert.match(paused.stdout, /^shop: paused\n +because: +paused by \S+: release party\n/);
    assert.match(
      paused.stdout,
      /\n {2}last failure: v2 at build, over: v3 has been deployed since\n$/,
    );
    assert.not.match(paused.stdout, /TS2339|commit:|since:/);
    assert.match(paused.stdout, /type: +runner resume shop\n/);
    await run('runner-resume', ['shop'], { root });
    assert.is((await run('runner-rollback', ['shop', '--no-notify'], { root })).status, 0);
    const held = await why();
    assert.match(held.stdout, /^shop: held\n +because: +\w{12} is on hold: v3 was rolled back by/);
    assert.match(
      held.stdout,
      /type: +runner deploy shop {2}# deploys v3 again; push a fix instead\n {2}last failure: v2 at/,
    );
    await push('v4', { deploy: deployFile(port, 'build: exit 3\n') });
    const windows = 'deploy_windows: [{ freeze: 2000-01-01..2999-12-31 }]\n';
    appendFileSync(join(root, 'config.yml'), windows, { mode: 0o600 });
    assert.is((await run('runner-fetch', ['--quiet'], { root })).status, 0);
    const pushed = await why();
    assert.match(pushed.stdout, /type: +runner deploy shop\n/);
    assert.match(
      pushed.stdout,
      /next: +the next fetch --deploy deploys commit \w{12}; outside its\s+deploy windows until more than a year from now\n/,
    );
    assert.is((await deploy(['--no-notify'])).status, 1);
    const after = JSON.parse((await why('--json')).stdout);
    assert.equal(
      [after.failure.version, after.failure.over, after.since.version],
      ['v4', null, 'v1'],
    );
    const name = 'LONG_'.repeat(60);
    await push('v5', { deploy: deployFile(port, `build: { run: "true", env: [${name}] }\n`) });
    assert.is((await deploy(['--no-notify'])).status, 1);
    assert.match((await why()).stdout, /failure: +v5, .*\n +build: build\.env lists\n/);
    await run('runner-pause', ['shop'], { root });
    assert.match((await why()).stdout, /type: +runner debug log .*\n +runner resume shop\n/);
  } finally {
    await world.close();
  }
});

test('what the code host refuses comes with the command that changes it', async () => {
  const world = await makeWorld();
  const { root } = world;
  try {
    await world.push('v1');
    await run('runner-edit', ['shop', '--branch', 'nope'], { root });
    const edit = 'runner edit shop --branch <BRANCH>';
    for (const args of [[], ['--check']]) {
      const { status, stderr } = await world.deploy(args);
      assert.is(status, 1);
      assert.ok(stderr.includes(`has no branch 'nope'; run: ${edit} (branch_not_found)\n`), stderr);
    }
    assert.is((await run('runner-fetch', ['shop', '--deploy'], { root })).status, 1);
    assert.match(String(world.events().at(-1)?.error), `has no branch 'nope'; run: ${edit}`);
    const { stdout } = await run('runner-why', ['shop', '--json'], { root });
    assert.equal(JSON.parse(stdout).commands, [edit, 'runner fetch shop']);
    const doctor = await run('runner-doctor', ['--json'], { root });
    const { findings } = JSON.parse(doctor.stdout) as { findings: Record<string, string>[] };
    const stale = findings.find(({ message }) => message?.includes("no branch 'nope'"));
    assert.is(stale?.fix, edit);
    await run('runner-edit', ['shop', '--branch', 'main'], { root });
    assert.is((await run('runner-fetch', ['shop', '--deploy'], { root })).status, 0);
    await run('runner-edit', ['shop', '--repo', 'acme/gone'], { root });
    assert.is((await run('runner-fetch', ['shop', '--deploy'], { root })).status, 1);
    const gone = 'runner edit shop <--repo <OWNER/NAME>|--token-file <FILE>>';
    const lost = await run('runner-why', ['shop', '--json'], { root });
    assert.equal(JSON.parse(lost.stdout).commands, [gone, 'runner fetch shop']);
    const unseen = await run('runner-doctor', ['--json'], { root });
    assert.ok(
      JSON.parse(unseen.stdout).findings.some((each: { fix?: string }) => each.fix === gone),
    );
    await run('runner-edit', ['shop', '--repo', REPO], { root });
    assert.is((await run('runner-fetch', ['shop', '--deploy'], { root })).status, 0);
    const well = await run('runner-why', ['shop'], { root });
    assert.match(well.stdout, /^shop: ok\n {2}runs:/);
    assert.match(
      well.stdout,
      /\n {2}last failure: main at fetch, over: it can be checked again\n$/,
    );
  } finally {
    await world.close();
  }
});

test.run();
