/** What an app prints, and commands in its active release. */
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { atExit } from '@runner/testing/cleanup';
import { run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { runOnTerminal } from '@runner/testing/terminal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, type World } from './world.ts';

const test = suite<{ world: World }>('logs and exec');
const SECRET = 'planted-value-1234';

test.before.each(async (context) => {
  const world = await makeWorld();
  context.world = world;
  await run('runner-env', ['set', 'shop', 'KEY', '--file', '-'], {
    root: world.root,
    stdin: SECRET,
  });
  const chatty =
    'i=0; while [ $i -lt 150 ]; do i=$((i+1)); echo "line $i $KEY"; done; exec node server.js >/dev/null';
  const deploy = deployFile(world.port).replace('exec node server.js', JSON.stringify(chatty));
  await world.launch('v1', { deploy });
});
test.after.each(async ({ world }) => {
  await world.close();
});

test('logs shows the last lines, redacted, and follows through a restart', async ({ world }) => {
  const { root } = world;
  const shown = await run('runner-logs', ['shop', '-n', '2'], { root });
  assert.is(shown.stdout, 'line 149 [REDACTED]\nline 150 [REDACTED]\n');
  assert.is((await run('runner-logs', ['shop'], { root })).stdout.trim().split('\n').length, 100);
  const [first] = (await run('runner-logs', ['shop', '--json'], { root })).stdout.split('\n');
  assert.equal(JSON.parse(String(first)), { instance: 'default', line: 'line 51 [REDACTED]' });
  const following = start('runner-logs', ['shop', '-f', '-n', '1'], { root });
  const seen: string[] = [];
  const reading = (async () => {
    for await (const line of following.stdout) {
      seen.push(line);
      if (seen.length === 151) break;
    }
  })();
  while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.is((await run('runner-restart', ['shop'], { root })).status, 0);
  await reading;
  following.kill('SIGINT');
  assert.is((await following.done).status, 130);
  const all = Array.from({ length: 150 }, (_, at) => `line ${at + 1} [REDACTED]`);
  assert.equal(seen, ['line 150 [REDACTED]', ...all]);
});

test('logs --since begins where the output was when runner last looked, and says when', async ({
  world,
}) => {
  const { root } = world;
  const path = `${root}/apps/shop/instances/default/run/output.log`;
  const since = (time: string) =>
    run('runner-logs', ['shop', '-n', '999', '--since', time], { root });
  const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
  for (const ago of ['1h', '7d', '999999999w'])
    assert.is((await since(ago)).stdout.split('\n').length, 151);
  const few = await run('runner-logs', ['shop', '-n', '2', '--since', '1h'], { root });
  assert.is(few.stdout, 'line 149 [REDACTED]\nline 150 [REDACTED]\n');
  assert.match(few.stderr, /^runner logs: only the newest 2 lines since \S+ are shown; .*-n\n$/);
  await run('runner-fetch', [], { root });
  await pause();
  const time = new Date().toISOString();
  const none = await since(time);
  assert.is(none.stdout, '');
  assert.match(none.stderr, /^runner logs: no output since \S+Z$/m);
  const timed = await run('runner-logs', ['shop', '-n', '1', '-t'], { root });
  assert.match(timed.stderr, /^runner logs: lines carry no time/);
  await pause();
  appendFileSync(path, 'later 1\n');
  const shown = await since(time);
  assert.is(shown.stdout, 'later 1\n');
  const [, from = ''] =
    /^runner logs: lines carry no time: shown from (\S+) on\n$/.exec(shown.stderr) ?? [];
  assert.ok(from < time && Date.parse(time) - Date.parse(from) < 600_000, shown.stderr);
  await run('runner-fetch', [], { root });
  await pause();
  appendFileSync(path, 'much later\n');
  const night = await run('runner-logs', ['shop', '--since', time, '--until', time], { root });
  assert.match(
    night.stderr,
    /invalid value '.*' for '--until <TIME>': it must be later than --since/,
  );
  const until = new Date(Date.parse(time) + 1).toISOString();
  const period = ['shop', '--since', time, '--until', until];
  const some = await run('runner-logs', period, { root });
  assert.is(some.stdout, 'later 1\n');
  assert.match(some.stderr, /^runner logs: lines carry no time: shown from \S+ on, until \S+\n$/);
  const early = await run('runner-logs', ['shop', '--until', '2026-01-01'], { root });
  assert.equal(
    [early.stdout, early.stderr],
    ['', 'runner logs: no output until 2026-01-01T23:59:59.999Z\n'],
  );
  const clock = await run('runner-logs', ['shop', '--since', '22:00', '--until', '21:59'], {
    root,
  });
  assert.is(clock.stdout.split('\n').length > 1, true, clock.stderr);
  const line = readFileSync(path, 'utf8').replace('much later\n', '');
  writeFileSync(path, line);
  renameSync(path, `${path}.1`);
  assert.is((await run('runner-restart', ['shop'], { root })).status, 0);
  const both = (await since(time)).stdout.split('\n');
  assert.equal([both[0], both[1], both.length], ['later 1', 'line 1 [REDACTED]', 152]);
});

test('logs of type command shows what the key logs prints', async ({ world }) => {
  const { root } = world;
  const file = '"$RUNNER_SHARED/out"';
  const logs = `mkdir -p $RUNNER_SHARED; echo "since \${RUNNER_SINCE:-ever} $KEY" >> ${file}; tail -n $RUNNER_LINES \${RUNNER_FOLLOW:+-F} ${file}`;
  const command = 'start: { type: command, run: "true" }\nstop: "true"\n';
  await world.launch('v2', { deploy: command });
  const none = await run('runner-logs', ['shop'], { root });
  assert.match(none.stderr, /where 'shop' \(start\.type command\) prints to: add the key logs/);
  await world.launch('v3', { deploy: `${command}logs: ${JSON.stringify(logs)}\n` });
  const shown = await run('runner-logs', ['shop', '--since', '2026-05-04T00:00Z'], { root });
  assert.equal([shown.status, shown.stdout], [0, 'since 2026-05-04T00:00:00.000Z [REDACTED]\n']);
  const following = start('runner-logs', ['shop', '-f', '-n', '1'], { root });
  for await (const line of following.stdout) {
    assert.is(line, 'since ever [REDACTED]');
    break;
  }
  following.kill('SIGINT');
  assert.is((await following.done).status, 130);
  await world.push('v4', { deploy: 'logs: cat\n' });
  assert.match((await world.deploy()).stderr, /logs: only works with start\.type command/);
});

test('logs -f goes on when the containers of a project are replaced', async ({ world }) => {
  const { root } = world;
  const folder = temporaryFolder('bin');
  const script = `case "$*" in *" logs "*--since*) echo second; exec sleep 60 ;; *" logs "*) echo first ;; esac`;
  writeFileSync(join(folder, 'docker'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const memory = `/dev/shm/runner-logs-${process.pid}`;
  mkdirSync(memory, { mode: 0o700 });
  atExit(() => rmSync(memory, { recursive: true, force: true }));
  const env = { PATH: `${folder}:${process.env.PATH}`, XDG_RUNTIME_DIR: memory };
  await world.push('v2', { deploy: 'start: { type: compose }\n', files: { 'compose.yaml': '' } });
  const deployed = await world.deploy([], env);
  assert.is(deployed.status, 0, deployed.stderr);
  const following = start('runner-logs', ['shop', '-f'], { root, env });
  const seen: string[] = [];
  for await (const line of following.stdout) if (seen.push(line) === 2) break;
  assert.equal(seen, ['first', 'second']);
  following.kill('SIGINT');
  assert.is((await following.done).status, 130);
});

test('status shows the names of secrets, and uptime and memory of what runs', async ({ world }) => {
  const { root } = world;
  const { stdout } = await run('runner-status', ['shop', '--json'], { root });
  const { secrets, usage } = JSON.parse(stdout);
  assert.equal(secrets, ['KEY']);
  assert.ok(usage.default.memory > 1_000_000 && usage.default.up_s >= 0, stdout);
  const shown = (await run('runner-status', ['shop'], { root })).stdout;
  assert.match(shown, / process \d+, up [\d.]+ s, \d+ MB\n/);
  assert.match(shown, /secrets: +KEY\n/);
  assert.not.ok(shown.includes(SECRET));
});

test('exec passes environment, input, status and signals through', async ({ world }) => {
  const { root } = world;
  const exec = (args: string[], stdin = '') =>
    run('runner-exec', ['shop', ...args], { root, stdin });
  const shown = await exec(
    ['--', 'sh', '-c', 'echo "$KEY $RUNNER_VERSION"; cat; ls server.js; exit 7'],
    'input\n',
  );
  assert.equal([shown.status, shown.stdout], [7, `${SECRET} v1\ninput\nserver.js\n`]);
  assert.is((await exec(['--', 'sh', '-c', 'kill -TERM $$'])).status, 143);
  assert.is((await exec(['--', 'sh', '-c', 'kill -KILL $$'])).status, 137);
  assert.match((await exec(['--instance', 'web', '--', 'true'])).stderr, /instance_not_found/);
  const { text } = await runOnTerminal('runner-exec', ['shop', '--', 'sh', '-c', 'echo $TERM'], {
    root,
  });
  assert.is(text, 'xterm\r\n');
  assert.is((await exec(['--', 'sh', '-c', 'echo $TERM'])).stdout, '\n');
  const statuses: [string, number, RegExp][] = [
    [
      'nosuch',
      127,
      /: cannot run 'nosuch': there is no such program on PATH \(program_not_found\)\n$/,
    ],
    ['', 127, /program_not_found/],
    ['./nosuch', 127, /: cannot run '\.\/nosuch': there is no such file \(program_not_found\)\n$/],
    ['./server.js', 126, /it is not an executable file \(program_not_executable\)\n$/],
    ['/usr', 126, /program_not_executable/],
  ];
  for (const [file, status, message] of statuses) {
    const refused = await exec(['--', file]);
    assert.is(refused.status, status, file);
    assert.match(refused.stderr, message);
  }
  for (const signal of ['TERM', 'QUIT', 'ALRM', 'USR1', 'USR2']) {
    const trap = `trap "echo ended; exit 5" ${signal}; echo ready; while :; do sleep 0.1; done`;
    const running = start('runner-exec', ['shop', '--', 'sh', '-c', trap], { root });
    for await (const line of running.stdout) if (line === 'ready') break;
    process.kill(running.pid, `SIG${signal}`);
    const { status, stdout } = await running.done;
    assert.equal([status, stdout], [5, 'ready\nended\n'], signal);
  }
});

test('Ctrl-C ends logs although what its command left behind still holds the output', async ({
  world,
}) => {
  const off = { RUNNER_SANDBOX: 'off' };
  const deploy = 'start: { type: command, run: "true" }\nlogs: "setsid sleep 5 & echo hello"\n';
  await world.push('v2', { deploy });
  assert.is((await world.deploy([], off)).status, 0);
  const following = start('runner-logs', ['shop', '-f'], { root: world.root, env: off });
  for await (const line of following.stdout) if (line === 'hello') break;
  process.kill(following.pid, 'SIGINT');
  const { status, stderr } = await following.done;
  assert.equal([status, stderr], [130, '']);
});

test.run();
