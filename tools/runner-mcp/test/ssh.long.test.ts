/** A real sshd on loopback, with the keys of grants and the package's own settings. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { atExit } from '@runner/testing/cleanup';
import { checkoutFolder, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, type World } from '../../../tests/deploys/world.ts';
import { commandLines, cutSessions, dataOf, withAgent } from './agent.ts';

const SSHD = '/usr/sbin/sshd';
const test = suite<{ world: World; ssh: readonly [string, ...string[]] }>('ssh');
const NO_INPUT = { input: '', encoding: 'utf8', timeout: 20_000 } as const;
const isPossible = process.getuid?.() === 0 && existsSync(SSHD);

/** The settings of the package, for root instead of runner, and these keys. */
function settings(etc: string, root: string, port: number, hostKey: string): string {
  const own = readFileSync(join(checkoutFolder(), 'packaging/mcp/sshd.conf'), 'utf8');
  const changed = own
    .replace('Match User runner', 'Match User root')
    .replace('/etc/runner/agent_keys', join(etc, 'runner/agent_keys'));
  return `Port ${port}
ListenAddress 127.0.0.1
HostKey ${hostKey}
PidFile none
UsePAM no
# Folders of tests are in /tmp, which others may write.
StrictModes no
PermitRootLogin forced-commands-only
SetEnv RUNNER_ROOT=${root} RUNNER_ETC=${etc} PATH=${process.env.PATH}
${changed}`;
}

test.before(async (context) => {
  if (!isPossible) return;
  const world = await makeWorld();
  context.world = world;
  const folder = temporaryFolder('sshd');
  const etc = join(folder, 'etc');
  const key = (name: string) => {
    const path = join(folder, name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path]);
    return path;
  };
  const [hostKey, agentKey] = [key('host'), key('agent')];
  await world.push('v1', { deploy: deployFile(world.port) });
  assert.is((await world.deploy(['--no-notify'])).status, 0);
  const grant = ['add', 'helper', '--level', 'propose', '--app', 'shop'];
  const added = await run('runner-grant', [...grant, '--key', `${agentKey}.pub`], {
    root: world.root,
    env: { RUNNER_ETC: etc },
  });
  assert.is(added.status, 0, added.stderr);
  const port = await freePort();
  const config = join(folder, 'sshd_config');
  writeFileSync(config, settings(etc, world.root, port, hostKey));
  mkdirSync('/run/sshd', { recursive: true });
  const checked = spawnSync(SSHD, ['-t', '-f', config], { encoding: 'utf8' });
  assert.is(checked.status, 0, checked.stderr);
  const sshd = spawn(SSHD, ['-D', '-e', '-f', config], { stdio: 'ignore' });
  sshd.unref();
  atExit(() => sshd.kill());
  const given = [
    ...['-o', `UserKnownHostsFile=${join(folder, 'known')}`, '-o', 'StrictHostKeyChecking=no'],
    ...['-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes', '-F', 'none', '-q'],
    ...['-p', String(port), '-i', agentKey],
  ];
  context.ssh = ['ssh', ...given, '-T', 'root@127.0.0.1'];
  const answers = () => spawnSync('ssh', [...context.ssh.slice(1)], { input: '' }).status === 0;
  await until(answers, 'sshd does not answer');
});
test.after(async ({ world }) => {
  await world?.close();
});

test('an agent works over plain ssh, and plans as its grant', async ({ world, ssh }) => {
  if (!isPossible) return;
  await withAgent(
    world,
    async (agent) => {
      assert.is((await agent.client.listTools()).tools.length, 7);
      assert.match(dataOf((await agent.call('status', { app: 'shop' })).text), /"state":"ok"/);
      const plan = await agent.call('plan', { app: 'shop', verb: 'restart' });
      assert.is(JSON.parse(dataOf(plan.text)).grant, 'helper');
    },
    ssh,
  );
});

test('its key gives no command, no terminal and no forwarding', async ({ ssh }) => {
  if (!isPossible) return;
  const [, ...args] = ssh;
  const typed = spawnSync('ssh', [...args, 'id; cat /etc/shadow'], NO_INPUT);
  assert.equal([typed.status, typed.stdout], [0, '']);
  const raised = spawnSync('ssh', [...args, 'runner-mcp --grant root'], NO_INPUT);
  assert.equal([raised.status, raised.stdout], [0, '']);
  const terminal = spawnSync('ssh', ['-tt', ...args.filter((arg) => arg !== '-T')], NO_INPUT);
  assert.is(terminal.stdout, '');
  const forwarding = ['-W', '127.0.0.1:22', ...args.filter((arg) => arg !== '-T')];
  const forwarded = spawnSync('ssh', forwarding, NO_INPUT);
  assert.is.not(forwarded.status, 0);
  const sftp = spawnSync('ssh', ['-s', ...args, 'sftp'], NO_INPUT);
  assert.is(sftp.stdout, '');
});

test('a connection that is cut at any step leaves no process and no half plan', async ({
  world,
  ssh,
}) => {
  if (!isPossible) return;
  await cutSessions(ssh, async (wait) => {
    const isGone = () =>
      !commandLines().some((line) =>
        [`--root ${world.root}`, 'runner-mcp --grant helper'].some((each) => line.includes(each)),
      );
    await until(isGone, `a process is left after ${wait} ms`);
    const plans = await run('runner-plan', ['list', '--json'], { root: world.root });
    assert.is(plans.status, 0, plans.stderr);
  });
});

test.run();
