/** Deploys whose commands run in the sandbox. */
import { appendFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { word } from '@runner/common/text/shell';
import { signal } from '@runner/deploy/run/processes';
import { processesIn } from '@runner/testing/processes';
import { run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { startPm2 } from '../deploys/pm2.ts';
import { deployFile, impatient, inWorld, REPO, type World } from '../deploys/world.ts';
import { makeTrafficWorld, runningSlots } from '../traffic/world.ts';
import { build, deploys, logOf, REQUIRED, test } from './deploys.ts';

test('an app runs, is replaced and is stopped as it is without the sandbox', () =>
  inWorld(async (world) => {
    const look = `! cat ${word(`${world.root}/mkey`)} && ls ${word(`${world.root}/apps`)}`;
    const hooks = `hooks: { post_deploy: ${JSON.stringify(look)} }\n`;
    await world.push('v1', { deploy: deployFile(world.port, hooks) });
    assert.is((await world.deploy([], REQUIRED)).status, 0);
    assert.is(await world.page(), 'v1');
    assert.match(logOf(world), /\nshop\n/);
    const pidFile = join(world.root, 'apps/shop/instances/default/run/pid.json');
    const { pid } = JSON.parse(readFileSync(pidFile, 'utf8')) as { pid: number };
    assert.match(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), 'server.js');
    await world.push('v2', { deploy: deployFile(world.port) });
    assert.is((await world.deploy([], REQUIRED)).status, 0);
    assert.is(await world.page(), 'v2');
    assert.not(existsSync(`/proc/${pid}`));
    const removed = start('runner-remove', ['shop', '--yes'], {
      root: world.root,
      env: REQUIRED,
      stdin: '',
    });
    assert.is((await removed.done).status, 0);
    assert.is(await world.page(), null);
  }));

test('an app with traffic makes its socket in its slot, and the next version takes over', async () => {
  const world = await makeTrafficWorld();
  appendFileSync(join(world.root, 'config.yml'), 'sandbox: required\n');
  for (const [at, version] of ['v1', 'v2', 'v3'].entries()) {
    const done = await world.ship(version);
    assert.is(done.status, 0, done.stderr);
    assert.is(world.live(), ['a', 'b'][at % 2]);
    assert.equal(runningSlots(world), [world.live()]);
  }
  await world.close();
});

test('pm2, whose daemon is outside, is asked from within', () =>
  inWorld(async (world) => {
    const { env, kill } = await startPm2();
    const deploy = deployFile(world.port).replace(
      /start: .*/,
      'start: { type: pm2, run: server.js }',
    );
    try {
      for (const version of ['v1', 'v2']) {
        await world.push(version, { deploy });
        const done = await world.deploy([], { ...REQUIRED, ...env() });
        assert.is(done.status, 0, done.stderr);
        assert.is(await world.page(), version);
      }
      const options = { root: world.root, env: { ...REQUIRED, ...env() } };
      assert.match((await run('runner-list', [], options)).stdout, /shop .*\bok\b/);
      assert.is((await run('runner-stop', ['shop'], options)).status, 0);
      assert.is(await world.page(), null);
    } finally {
      await kill();
    }
  }));

test('a failure can be attributed to the sandbox, but its output chooses no setting or path', () =>
  inWorld(async (world) => {
    const key = `${world.root}/mkey`;
    for (const [command, words] of [
      ['touch /usr/local/share/x', 'it ran in the sandbox, which lets commands write only to'],
      [`kill -0 ${process.pid}`, "it ran in the sandbox, which hides the server's processes"],
      ['echo "kill: (1) - No such process"; exit 1', "which hides the server's processes"],
      ['echo "dial unix /var/run/docker.sock: no such file"; exit 1', 'hides the docker socket'],
      ['echo "Failed to connect to bus: No such file"; exit 1', 'start: { type: systemd }'],
      [`echo "cat: ${key}: No such file or directory"; exit 1`, undefined],
      ['exit 1', undefined],
    ] as const) {
      await world.push('v1', { deploy: build(command) });
      const { status, stderr } = await world.deploy([], REQUIRED);
      assert.is(status, 1);
      const error = String(world.events().at(-1)?.error);
      if (words === undefined) assert.not(error.includes('sandbox'), error);
      else assert.ok(error.includes(words), error);
      for (const said of [error, stderr, logOf(world)])
        assert.not.match(said, /config\.yml|apps: \{|allow/);
    }
  }));

test('a migration of a SQLite file that the sandbox protects fails with that reason', () =>
  inWorld(async (world) => {
    const file = '/usr/local/share/x.db';
    const run = `sqlite3 ${file} 'create table more(id int)'`;
    const deploy = `migrate: { run: "${run}", rehearse: false }\ninstances: { default: { env: { DATABASE_URL: "sqlite:${file}" } } }\n`;
    await world.push('v1', { deploy });
    assert.is((await world.deploy([], REQUIRED)).status, 1);
    const error = String(world.events().at(-1)?.error);
    assert.ok(error.includes('it ran in the sandbox, which lets commands write only to'), error);
  }));

test('a start command that cannot end a process by its number is reported, although it succeeded', () =>
  inWorld(async (world) => {
    const run = `kill ${process.pid} || true`;
    await world.push('v1', { deploy: `start: { type: command, run: "${run}" }\n` });
    const { status, stderr } = await world.deploy([], REQUIRED);
    assert.is(status, 0, stderr);
    assert.match(
      stderr,
      "runner deploy: start of default: it ran in the sandbox, which hides the server's processes: what it was to end may still run; use start: { type: process }, which runner ends; see: runner doctor --sandbox\n",
    );
  }));

/** Deploys an app that a script starts, and starts again. */
async function shipStartedBy(world: World, script: string): Promise<void> {
  const deploy = `start: { type: command, run: sh ./restart.sh }
instances: { default: { env: { PORT: "${world.port}" } } }
health: { url: "http://127.0.0.1:${world.port}/", interval: 100ms, within: 20s }
shared: [uploads/]
`;
  await world.push('v1', { deploy, files: { 'restart.sh': script } });
  const first = await world.deploy([], REQUIRED);
  assert.is(first.status, 0, first.stderr);
}

test('a restart whose start command cannot end the old process has failed, and says that it still runs', () =>
  inWorld(async (world) => {
    const script = `#!/bin/sh
PID=$RUNNER_SHARED/uploads/pid
[ -f $PID ] && kill $(cat $PID)
nohup node server.js > /dev/null 2>&1 &
echo $! > $PID
sleep 1
`;
    await shipStartedBy(world, script);
    try {
      const pids = () => processesIn(world.root).map(({ pid }) => pid);
      const before = pids();
      const { root } = world;
      const { status, stdout } = await run('runner-restart', ['shop'], { root, env: REQUIRED });
      assert.is(status, 1);
      assert.match(
        stdout,
        /^Failed: shop v1 \(default\): what ran before \(node, \d+\) still runs: it ran in the sandbox, which hides/,
      );
      assert.equal(pids(), before);
    } finally {
      for (const { pid } of processesIn(world.root)) signal(pid, 'SIGKILL');
    }
  }));

test('a restart whose supervisor goes on has not failed, although its command met a read-only file system', () =>
  inWorld(async (world) => {
    const script = `#!/bin/sh
touch /usr/x
[ -f $RUNNER_SHARED/uploads/on ] && exit 0
touch $RUNNER_SHARED/uploads/on
nohup node server.js > /dev/null 2>&1 &
sleep 1
`;
    await shipStartedBy(world, script);
    try {
      const options = { root: world.root, env: REQUIRED };
      const { status, stdout } = await run('runner-restart', ['shop'], options);
      assert.is(status, 0, stdout);
    } finally {
      for (const { pid } of processesIn(world.root)) signal(pid, 'SIGKILL');
    }
  }));

for (const kind of ['url', 'tcp', 'cmd'] as const)
  test(`a start command that cannot end the version before, which still answers its ${kind}, has failed`, () =>
    inWorld(async (world) => {
      const address = `127.0.0.1:${world.port}`;
      const health = {
        url: `url: "http://${address}/"`,
        tcp: `tcp: "${address}"`,
        cmd: `cmd: "bash -c '</dev/tcp/127.0.0.1/${world.port}'"`,
      }[kind];
      const deployOf = (within: string) => `start: { type: command, run: sh ./restart.sh }
instances: { default: { env: { PORT: "${world.port}" } } }
health: { ${health}, interval: 100ms, within: ${within} }
watch: 45s
shared: [uploads/]
`;
      // It says nothing of what it could not end, and succeeds before the new version has failed.
      const script = `#!/bin/sh
PID=$RUNNER_SHARED/uploads/pid
[ -f $PID ] && kill $(cat $PID) 2>/dev/null
nohup node server.js > /dev/null 2>&1 &
echo $! > $PID
`;
      const files = { 'restart.sh': script };
      await world.push('v1', { deploy: deployOf('20s'), files });
      const first = await world.deploy([], REQUIRED);
      assert.is(first.status, 0, first.stderr);
      try {
        await world.push('v2', { deploy: deployOf('500ms'), files });
        const { status, stdout, stderr } = await world.deploy([], REQUIRED);
        assert.is(status, 1, stderr);
        assert.match(stdout, /^Failed shop v2 at health .*v1 is active/);
        assert.match(
          String(world.events().find((event) => event.event_type === 'DeployFailure')?.error),
          /^health: .+ is answered by the version before \(node, \d+\), which its start command could not end from its sandbox, not by what was started, not healthy within 0.5 s/,
        );
        assert.is(await world.page(), 'v1');
      } finally {
        for (const { pid } of processesIn(world.root)) signal(pid, 'SIGKILL');
      }
    }));

test('a supervisor that a start command only signals to take over may be as old as the version before', () =>
  inWorld(async (world) => {
    const keeper = `const { spawn } = require('child_process');
const fs = require('fs');
const file = process.env.RUNNER_SHARED + '/uploads/reload';
let child;
const begin = () => { child = spawn(process.execPath, [fs.readFileSync(file, 'utf8') + '/server.js'], { stdio: 'ignore' }); };
begin();
fs.watchFile(file, { interval: 50 }, () => { child.on('exit', begin); child.kill(); });`;
    const script = `#!/bin/sh
FILE=$RUNNER_SHARED/uploads/reload
test -f $FILE && NEW=no
printf %s "$PWD" > $FILE.new && mv $FILE.new $FILE
test -n "$NEW" || nohup node keeper.js > /dev/null 2>&1 &
sleep 1
`;
    const start = 'start: { type: command, run: sh ./restart.sh }';
    const deploy = `${impatient(world.port)
      .replace(/^start: .*$/m, start)
      .replace('300ms', '20s')}watch: 10s\nshared: [uploads/]\n`;
    const files = { 'restart.sh': script, 'keeper.js': keeper };
    try {
      for (const version of ['v1', 'v2']) {
        await world.push(version, { deploy, files });
        const { status, stderr } = await world.deploy([], REQUIRED);
        assert.is(status, 0, stderr);
        assert.is(await world.page(), version);
      }
      // No one can say whether its process runs: its health alone says good.
      const watched = await run('runner-watch', ['shop'], { root: world.root });
      assert.match(watched.stdout, /\nGood: shop v2: health of default: \d+ of \d+ good\n$/);
    } finally {
      for (const { pid } of processesIn(world.root)) signal(pid, 'SIGKILL');
    }
  }));

test('deploy --check names the commands that do not reach a service, and what to do instead', () =>
  inWorld(async (world) => {
    const deploy = `build: sudo systemctl daemon-reload
hooks: { post_deploy: "docker compose restart web && /usr/bin/journalctl -n 5", pre_switch: "echo docker-like systemctl.txt" }
`;
    await world.push('v1', { deploy });
    const check = async (env: Record<string, string>) => {
      const { stdout } = await world.deploy(['--check', '--json'], env);
      return (JSON.parse(stdout) as { warnings: string[] }).warnings;
    };
    const allow = (paths: string) => `sandbox: { allow: { shop: [${paths}] } }`;
    assert.equal(await check(REQUIRED), [
      `build: systemctl does not reach systemd in the sandbox: use start: { type: systemd }, or set in config.yml ${allow('/run/dbus/system_bus_socket')}`,
      `post_deploy: journalctl does not reach the journal in the sandbox: set in config.yml ${allow('/var/log/journal, /run/log/journal')}`,
      `post_deploy: docker does not reach docker in the sandbox: set in config.yml ${allow('/run/docker.sock')}`,
    ]);
    assert.equal(await check({ RUNNER_SANDBOX: 'off' }), []);
    writeFileSync(join(world.root, 'config.yml'), `${allow('/run, /var/log')}\n`, { flag: 'a' });
    assert.equal(await check(REQUIRED), []);
  }));

test('config.yml opens the sandbox of an app, or a path of the server, but never the root', () =>
  inWorld(async (world) => {
    const config = (sandbox: string) =>
      writeFileSync(
        join(world.root, 'config.yml'),
        `code_host_git_url: ${world.git.url}\nsandbox: { mode: required, ${sandbox} }\n`,
      );
    const key = word(`${world.root}/mkey`);
    config('apps: { shop: off }');
    await world.push('v2', { deploy: build(`test -e ${key}`) });
    assert.is((await world.deploy([], REQUIRED)).status, 0);
    const above = join(world.root, '..');
    const link = join(temporaryFolder('link'), 'link');
    symlinkSync(above, link);
    for (const path of [above, link]) {
      config(`allow: { shop: [${JSON.stringify(path)}] }`);
      const script = `touch ${word(`${path}/made`)}\n! cat ${key} ${word(`${path}/root/mkey`)}`;
      await world.push('v3', { deploy: build(script) });
      assert.is((await world.deploy([], REQUIRED)).status, 0, path);
    }
    for (const path of ['mkey', 'state', 'apps/other/home', 'apps/shop/repo.git']) {
      config(`allow: { shop: [${JSON.stringify(join(world.root, path))}] }`);
      const { status, stderr } = await world.deploy([], REQUIRED);
      assert.is(status, 1);
      assert.match(stderr, `${path} belongs to runner, and is never opened (config_invalid)`);
    }
    for (const path of ['/dev', '/proc', '/proc/1/root']) {
      config(`allow: { shop: [${path}] }`);
      const { status, stderr } = await world.deploy([], REQUIRED);
      assert.is(status, 1);
      assert.match(stderr, 'shows the processes or devices of the server, and is never opened');
    }
  }));

test('a build keeps to its limits, and one that cannot be enforced is refused by name', () =>
  inWorld(async (world) => {
    const nice = Math.min(19, getPriority() + 10);
    const run = `test $(grep -c : /proc/net/dev) = 1; test $(nice) = ${nice}`;
    await world.push('v1', { deploy: `build: { run: ["${run}"], network: false }\n` });
    assert.is((await world.deploy([], REQUIRED)).status, 0);
    await world.push('v2', { deploy: 'build: { run: "true", memory: 1G }\n' });
    const { status } = await world.deploy([], REQUIRED);
    const refused = 'build: build.memory cannot be limited here: ';
    if (status !== 0) assert.match(String(world.events().at(-1)?.error), refused);
    await world.push('v3', { deploy: 'build: { run: "true", network: false }\n' });
    assert.is((await world.deploy([], { RUNNER_SANDBOX: 'off' })).status, 1);
    const error = String(world.events().at(-1)?.error);
    assert.match(error, 'the network cannot be limited here');
  }));

test('no variable of an app reaches bubblewrap or a command line, and every one its commands', () =>
  inWorld(async (world) => {
    const names = [
      'LD_PRELOAD',
      'GCONV_PATH',
      'DBUS_SESSION_BUS_ADDRESS',
      'XDG_RUNTIME_DIR',
      'OWN',
    ];
    const env = names.map((name) => `${name}: /no/such.so`).join(', ');
    const deploy = deployFile(world.port).replace('env: {', `env: { ${env},`);
    const all = names.map((name) => `$${name}`).join('');
    await world.push('v1', { deploy: `${deploy}build: "echo ${all}"\n` });
    const done = await world.deploy([], REQUIRED);
    assert.is(done.status, 0, done.stderr);
    assert.match(logOf(world), /^(?:\/no\/such\.so){5}$/m);
    const running = processesIn(world.root);
    assert.not(running.some(({ command }) => command.includes('/no/such.so')));
    const read = (pid: number) => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const outside = running.filter(({ command }) => /^\S*bwrap /.test(command));
    assert.ok(outside.length > 0);
    for (const { pid } of outside)
      for (const variable of read(pid).filter(Boolean)) assert.match(variable, /^RUNNER_[A-Z_]+=/);
    const app = running.find(({ command }) => /^node server\.js$/.test(command));
    assert.ok(read(app?.pid as number).includes('OWN=/no/such.so'));
  }));

test('a PATH of the commit chooses no program that runs outside of the sandbox', () =>
  inWorld(async (world) => {
    const out = join(temporaryFolder('outside'), 'file');
    const nice = `#!/bin/sh\ntouch '${out}'; shift 2; exec "$@"\n`;
    const deploy =
      'instances: { default: { env: { PATH: ".:/usr/bin:/bin" } } }\nbuild: echo built\n';
    const files = { '.deploy.yml': deploy, nice, 'systemd-run': nice };
    await world.git.commit(REPO, files, 'v1', { executable: ['nice', 'systemd-run'] });
    const done = await world.deploy([], REQUIRED);
    assert.is(done.status, 0, done.stderr);
    assert.not(existsSync(out));
  }));

deploys.run();
