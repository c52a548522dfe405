import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { run, shell } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { isAlive, until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { suiteOf } from '../deploys/world.ts';
import { makeTrafficWorld } from './world.ts';

const test = suiteOf('what --check, doctor and status say of traffic', makeTrafficWorld);

const NOBODY = 65_534;

/** A program with the name of a proxy, of another user. */
async function startProxy(program = 'nginx', gid = NOBODY): Promise<() => void> {
  const folder = temporaryFolder(program);
  chmodSync(folder, 0o755);
  copyFileSync('/bin/sleep', join(folder, program));
  const child = spawn(join(folder, program), ['600'], { uid: NOBODY, gid, cwd: '/' });
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  return () => child.kill('SIGKILL');
}

test('mistakes in the section are refused with their line', async ({ world }) => {
  const start = 'start: { type: process, run: sleep 1 }\n';
  const health = 'health: { cmd: "true" }\n';
  const cases: [file: string, words: string][] = [
    [
      `${start}traffic: socket\n`,
      '2: traffic: needs the section health, which says when to switch',
    ],
    [`${health}traffic: socket\n`, '2: traffic: needs a start.type that starts the app'],
    [`${start}${health}traffic: { type: ports }\n`, '3: traffic: type ports needs the key ports'],
    [
      `${start}${health}traffic: { type: ports, ports: [3001, 3001] }\n`,
      '3: traffic.ports: must be two different ports',
    ],
    [
      `${start}${health}instances: { default: { env: { PORT: "1" } } }\ntraffic: socket\n`,
      '4: traffic: sets PORT itself: remove it from the env of default',
    ],
    [
      `start: { type: systemd, unit: shop@.service, reload: true }\n${health}traffic: socket\n`,
      '3: traffic: does not work with start.reload',
    ],
    [
      `start: { type: systemd, unit: shop.service }\n${health}traffic: socket\n`,
      '3: traffic: needs a template unit like shop@.service',
    ],
  ];
  for (const [deploy, words] of cases) {
    await world.push('bad', { deploy });
    const checked = await world.deploy(['--check']);
    assert.ok(checked.stderr.includes(`.deploy.yml:${words}`), checked.stderr);
  }
});

test('a health address that what is started cannot answer, and a path that is too long, are found', async ({
  world,
}) => {
  const port = 'http://127.0.0.1:${PORT}/health';
  const without = trafficFile('');
  const worker = `${trafficFile()}instances: { default: {}, worker: { traffic: false, env: { PORT: "1" } } }\n`;
  const cases = [
    [
      trafficFile().replace('http://unix/health', 'http://127.0.0.1:3000/health'),
      'default',
      'http://unix/…',
    ],
    [trafficFile().replace('http://unix/health', port), 'default', 'http://unix/…'],
    [without.replace(port, 'http://unix/health'), 'default', '${PORT}'],
    [worker, 'worker', 'health.cmd'],
    [worker.replace('http://unix/health', port), 'default', 'health.cmd'],
  ] as const;
  for (const [deploy, instance, use] of cases) {
    await world.push('v1', { deploy, files: trafficFiles('v1') });
    const checked = await world.deploy(['--check']);
    const words = `health.url does not reach the version of ${instance} that is started: use ${use}`;
    assert.is(checked.status, 1, checked.stdout);
    assert.ok(checked.stdout.includes(words), `${words}: ${checked.stdout}`);
  }
  const name = 'a-very-long-name-of-an-instance-that-takes-much-of-the-path';
  const long = `instances: { ${name}: {} }\n${trafficFile()}`;
  await world.push('v2', { deploy: long, files: trafficFiles('v2') });
  const checked = await world.deploy(['--check']);
  assert.match(
    checked.stdout,
    /live\/app.sock has \d+ bytes, a socket may have 107: use a shorter --root/,
  );
  const deployed = await world.deploy();
  assert.match(
    deployed.stderr,
    /a socket may have 107: use a shorter --root or name\nDeploy FAILED/,
  );
});

test('without traffic, health may ask the socket that PORT of the instance names', async ({
  world,
}) => {
  const env = { PORT: join(temporaryFolder('socket'), 'app.sock') };
  const instances = `instances: ${JSON.stringify({ default: { env } })}\n`;
  const deploy = trafficFile(instances).replace(/http:[^"]+/, 'http://unix/health');
  await world.push('v1', { deploy, files: trafficFiles('v1') });
  const deployed = await world.deploy();
  assert.is(deployed.status, 0, deployed.stderr);
  const checked = await world.deploy(['--check']);
  assert.is(checked.status, 0, checked.stdout);
});

test('--check warns of a socket whose path only HAProxy cannot use', async ({ world }) => {
  const short = join(world.root, 'apps/shop/instances/x/live/app.sock');
  const name = 'x'.repeat(102 - short.length);
  const deploy = `instances: { ${name}: {} }\n${trafficFile()}`;
  await world.push('v1', { deploy, files: trafficFiles('v1') });
  const checked = await world.deploy(['--check']);
  assert.is(checked.status, 0);
  assert.match(checked.stdout, /live\/app\.sock has 101 bytes, and HAProxy accepts 97/);
});

test('--check names the process on the port of the free slot', async ({ world }) => {
  const ports = [await freePort(), await freePort()] as const;
  const more = `traffic: { type: ports, ports: [${ports}], drain: 1s }\n`;
  assert.is((await world.ship('v1', 'good', more)).status, 0);
  const other = createServer().listen(ports[1], '127.0.0.1');
  const checked = await world.deploy(['--check']);
  other.close();
  assert.is(checked.status, 1);
  const taken = new RegExp(
    `traffic: port ${ports[1]} of default is taken by \\S+ \\(pid ${process.pid}\\): ss -ltnp 'sport = :${ports[1]}'`,
  );
  assert.match(checked.stdout, taken);
  assert.is((await world.deploy(['--check'])).status, 0);
});

test('--check accepts a first deploy while one of its two ports is free', async ({ world }) => {
  const ports = [await freePort(), await freePort()] as const;
  const more = `traffic: { type: ports, ports: [${ports}], drain: 1s }\n`;
  await world.push('v1', { deploy: trafficFile(more), files: trafficFiles('v1') });
  const other = createServer().listen(ports[0], '127.0.0.1');
  const checked = await world.deploy(['--check']);
  other.close();
  assert.is(checked.status, 0, checked.stdout);
});

test('--check warns that the proxy has to change with the kind of traffic', async ({ world }) => {
  await world.ship('v1');
  const more = `traffic: { type: ports, ports: [${await freePort()}, ${await freePort()}] }\n`;
  await world.push('v2', { deploy: trafficFile(more), files: trafficFiles('v2') });
  const checked = await world.deploy(['--check']);
  assert.match(
    checked.stdout,
    /default changes from socket to the ports \d+, \d+: change the proxy/,
  );
});

test('--check warns when there is no memory for two versions', async ({ world }) => {
  await world.ship('v1');
  const meminfo = join(temporaryFolder('meminfo'), 'meminfo');
  writeFileSync(meminfo, 'MemTotal: 900000 kB\nMemAvailable: 1024 kB\n');
  // In a mount namespace of its own the kernel's file can be replaced.
  const script = `mount --bind ${meminfo} /proc/meminfo && exec runner-deploy shop --check`;
  const checked = await shell(`unshare --mount sh -c '${script}'`, {
    root: world.root,
  });
  if (/unshare: /.test(checked.stderr)) return;
  assert.is(checked.status, 0, checked.stdout + checked.stderr);
  assert.match(
    checked.stdout.replace(/\s+/g, ' '),
    /warning: traffic: two versions of shop run at once, which takes \d+ MB more; 1 MB are free: set overlap: false, or add memory/,
  );
});

test('a deploy opens the folders of its slots to the proxy, also those that a failed one has left closed', async ({
  world,
}) => {
  if (process.getuid?.() !== 0) return;
  const stop = await startProxy();
  try {
    for (const path of [world.root, join(world.root, 'apps')]) chmodSync(path, 0o751);
    const more = 'traffic: socket\ninstances: { default: { domain: shop.example.org } }\n';
    await world.push('v1', { deploy: trafficFile(`${more}build: "false"\n`) });
    assert.is((await world.deploy()).status, 1);
    chmodSync(join(world.root, 'apps/shop'), 0o751);
    await world.push('v2', { deploy: trafficFile(more), files: trafficFiles('v2') });
    const deployed = await world.deploy();
    assert.is(deployed.status, 0, deployed.stdout + deployed.stderr);
    const { stdout } = await run('runner-doctor', ['--offline'], { root: world.root });
    assert.not.match(stdout, /may not enter/);
  } finally {
    stop();
  }
});

test('doctor names the folder that a proxy cannot enter, and what no longer answers', async ({
  world,
}) => {
  if (process.getuid?.() !== 0) return;
  const stop = await startProxy();
  try {
    await world.ship('v1');
    chmodSync(join(world.root, 'apps'), 0o750);
    const closed = await run('runner-doctor', ['--offline'], { root: world.root });
    assert.match(closed.stdout, /nginx \(nobody\) may not enter .+\n? +chmod o\+x .+/);
    const checked = await world.deploy(['--check']);
    assert.match(
      checked.stdout + checked.stderr,
      /traffic: nginx \(nobody\) may not enter \S+: chmod o\+x/,
    );
    // Another one may be that of the app.
    const stopOther = await startProxy('caddy', 0);
    const beside = await run('runner-doctor', ['--offline', '--json'], { root: world.root });
    const said = await world.deploy(['--check']);
    stopOther();
    const { findings } = JSON.parse(beside.stdout);
    const { level, message } = findings.find(({ message }: { message: string }) =>
      message.startsWith('nginx (nobody) may not enter'),
    );
    assert.is(level, 'warning', message);
    assert.is(said.status, 0, said.stdout + said.stderr);
  } finally {
    stop();
  }
  const { pid } = JSON.parse(readFileSync(join(world.dir, 'run/a/pid.json'), 'utf8')) as {
    pid: number;
  };
  process.kill(pid, 'SIGKILL');
  await until(() => !isAlive(pid), 'it lives');
  const dead = await run('runner-doctor', ['--offline'], { root: world.root });
  assert.match(dead.stdout, /nothing listens on .+a\/app.sock, where the requests of shop go/);
  assert.is((await run('runner-stop', ['shop'], { root: world.root })).status, 0);
  const stopped = await run('runner-doctor', ['--offline'], { root: world.root });
  assert.not.match(stopped.stdout, /nothing listens/);
});

test('doctor does not want a socket opened to all users if an access list lets the proxy in', async ({
  world,
}) => {
  if (process.getuid?.() !== 0) return;
  await world.ship('v1');
  const socket = join(world.dir, 'a/app.sock');
  chmodSync(socket, 0o660);
  const advice = async () =>
    (await run('runner-doctor', ['--offline'], { root: world.root })).stdout.includes(
      'runner restart shop',
    );
  const without = await advice();
  execFileSync('setfacl', ['-m', 'u:nobody:rw', socket]);
  const stopped = await advice();
  const stop = await startProxy();
  const running = await advice();
  stop();
  assert.equal([without, stopped, running], [true, false, false]);
});

test.run();
