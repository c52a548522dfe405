/**
 * `npm run test:system -- agents`: docs/approvals.md is followed on a booted server: an agent logs in with its
 * key, plans what a person approves with another, and applies it. Its sessions are cut at each step, and the
 * package leaves again.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, page } from '@runner/testing/app';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { cutSessions, dataOf, withAgent } from '../../tools/runner-mcp/test/agent.ts';
import { type Fence, fencesOf } from '../docs/pages.ts';
import { addApp, deployByTimer } from './deploys.ts';
import { booted, typed } from './guest.ts';
import { install } from './packages.ts';
import { PORT, type Server } from './server.ts';
import { push } from './shop.ts';

const RULE = 'require_approval: { shop: { deploy: 0, by: [ada] } }\n';

/** A pair of keys outside the server; returns the path of the private one. */
function makeKey(folder: string, name: string): string {
  const path = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path]);
  return path;
}

/** sshd of the server, on a port of its own: it shares the loopback with this machine. */
async function startSshd({ container }: Server): Promise<number> {
  const port = await freePort();
  await container.ok('cat > /etc/ssh/sshd_config.d/port.conf', { stdin: `Port ${port}\n` });
  await container.ok('ssh-keygen -A && systemctl start ssh.service');
  return port;
}

/** Plays it; returns how many steps it has. Throws at the first that goes wrong. */
export async function agents(): Promise<number> {
  if (!existsSync('/usr/sbin/sshd')) {
    process.stdout.write('agents: skipped: the Debian package openssh-server is not installed\n');
    return 0;
  }
  const { server, version } = await booted();
  const { container, step, type } = server;
  const folder = temporaryFolder('agents');
  const [agentKey, personKey] = [makeKey(folder, 'claude'), makeKey(folder, 'ada')];
  const publicKey = (path: string) => readFileSync(`${path}.pub`, 'utf8');
  try {
    await install(server, version);
    await addApp(server, RULE);
    await deployByTimer(server);
    await type('systemctl stop runner-fetch.timer runner-fetch.service');
    step(
      'the commands of docs/approvals.md: the package, a grant, and a login that is only runner mcp',
    );
    const port = await startSshd(server);
    await container.ok('cat > /root/claude.pub', { stdin: publicKey(agentKey) });
    await container.ok('cat > /etc/runner/approvers', { stdin: `ada ${publicKey(personKey)}` });
    const [setUp, login] = fencesOf('docs/approvals.md#agents');
    const used = new Set<string>();
    const instead: [string, string][] = [
      [
        'apt install ./runner-mcp_0.2.0_all.deb',
        `dpkg -i /srv/release/runner-mcp_${version}_all.deb`,
      ],
      ['--key claude.pub', '--key /root/claude.pub'],
    ];
    const commands = typed(setUp as Fence, instead, used)
      .trim()
      .split('\n');
    for (const command of commands) await type(command);
    assert.is(used.size, instead.length, 'the page no longer says what is typed here');
    assert.is(login?.text.trim(), 'ssh -i ~/.ssh/claude -T runner@server');
    const ssh = [
      ...['ssh', '-i', agentKey, '-T', '-p', String(port), '-F', 'none', '-q'],
      ...['-o', `UserKnownHostsFile=${join(folder, 'known')}`, '-o', 'StrictHostKeyChecking=no'],
      ...['-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes', 'runner@127.0.0.1'],
    ] as const;

    step('an agent plans v2, cannot apply it alone, and does once ada has signed');
    await push(server, 'v2');
    await withAgent(
      { root: '' },
      async ({ client, call }) => {
        assert.is((await client.listTools()).tools.length, 7);
        const plan = JSON.parse(dataOf((await call('plan', { app: 'shop', verb: 'deploy' })).text));
        assert.is(plan.grant, 'claude');
        const early = await call('apply', { plan: plan.id });
        assert.match(dataOf(early.text), /approv/);
        assert.is(await page(PORT), 'v1');
        const text = await container.ok(`runner plan show ${plan.id} --text`);
        const signature = execFileSync(
          'ssh-keygen',
          ['-Y', 'sign', '-n', 'runner-approval', '-f', personKey],
          { input: text, stdio: ['pipe', 'pipe', 'ignore'] },
        );
        await type(`runner approve ${plan.id} --no-apply --signature -`, {
          stdin: String(signature),
        });
        const applied = await call('apply', { plan: plan.id });
        assert.not(applied.isError, applied.text);
        await server.shows('v2');
      },
      ssh,
    );
    assert.match(
      await type('runner audit list --event AgentCall --json | tail -n 1'),
      /"tool":"apply"/,
    );

    step('sessions that are cut at any step leave no process and no half plan');
    await cutSessions(ssh, async () => {
      await server.until('pgrep -c -f "[r]unner-mcp --grant" || :', /^0$/m);
      await container.ok('runner plan list --json');
    });

    step('without its grant the key opens nothing; the package leaves no login behind');
    await type('runner grant remove claude');
    assert.throws(() => execFileSync(ssh[0], ssh.slice(1), { input: '', stdio: 'pipe' }));
    await type('dpkg --remove runner-mcp');
    assert.match(await type('getent passwd runner'), /\/nologin$/m);
    return server.steps();
  } finally {
    await server.close();
  }
}
