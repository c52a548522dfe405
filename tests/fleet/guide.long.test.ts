/**
 * "Five servers in ten minutes" of docs/fleet.md, block by block as it stands there, in booted systems: a broker, an
 * operator's machine and five servers. They share the network of this machine, each with an address of its own.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { certificates } from '@runner/testing/certificates';
import { bootContainer, type Container, whyNoContainer } from '@runner/testing/container';
import { checkoutFolder } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, REPO, TOKEN } from '../deploys/world.ts';

const checkout = checkoutFolder();
/** Fewer make it quicker. */
const COUNT = Number(process.env.FLEET_GUIDE_SERVERS ?? 5);
const SERVERS = ['web1', 'web2', 'web3', 'web4', 'web5'].slice(0, COUNT);
const BROKER = 'nats.example.org';
/** What the guide takes for granted: a way in by SSH, and sudo. */
const DEBS = [
  'openssh-client',
  'openssh-server',
  'openssh-sftp-server',
  'sudo',
  'libwrap0',
  'ucf',
  'runit-helper',
];

/** The blocks of the section, in order. */
function blocks(): string[] {
  const page = readFileSync(join(checkout, 'docs/fleet.md'), 'utf8');
  const section = page.split('## Five servers in ten minutes')[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text]) =>
    (text as string).replaceAll('web1 web2 web3 web4 web5', SERVERS.join(' ')),
  );
}

/** Where the packages are that the guests get; undefined where they cannot be had. */
function packages(): string | undefined {
  const folder = temporaryFolder('packages');
  const own = process.env.FLEET_GUIDE_DEBS;
  if (own) for (const name of readdirSync(own)) copyFileSync(join(own, name), join(folder, name));
  else if (
    spawnSync('apt-get', ['download', ...DEBS], { cwd: folder, stdio: 'ignore' }).status !== 0
  )
    return undefined;
  execFileSync(
    process.execPath,
    [join(checkout, 'scripts/package/main.mjs'), '--to', join(folder, 'release')],
    {
      stdio: 'ignore',
    },
  );
  return folder;
}

const why =
  whyNoContainer() ??
  (existsSync('/usr/sbin/nats-server') ? undefined : 'nats-server is not installed');
const whenPossible = why === undefined ? test : test.skip;
if (why !== undefined) process.stderr.write(`skipped: ${why}\n`);

whenPossible('five servers in ten minutes', async () => {
  const debs = packages();
  if (debs === undefined) throw new Error('apt-get cannot download openssh-server');
  const world = await makeWorld();
  const tls = certificates(BROKER);
  // Another run at the same time has others on the same loopback.
  const net = `127.77.${1 + (process.pid % 250)}`;
  const hosts = [BROKER, 'ops', ...SERVERS].map((name, index) => `${net}.${index + 1} ${name}`);
  const bind = { '/srv/debs': debs, '/srv/tls': dirname(tls.ca) };
  const guests: Record<string, Container> = {};
  const say = (text: string) => process.stdout.write(`${text}\n`);
  try {
    for (const line of hosts) {
      const [address = '', name = ''] = line.split(' ');
      const guest = await bootContainer(bind);
      guests[name] = guest;
      await guest.ok(`cat >> /etc/hosts`, { stdin: `${hosts.join('\n')}\n` });
      // The package's own sshd would listen on every address, those of the other guests included.
      await guest.ok('systemctl mask ssh.service ssh.socket 2>/dev/null');
      await guest.ok('dpkg -i /srv/debs/*.deb || true', { timeout: 600_000 });
      await guest.ok(`
        useradd --password '*' --create-home --shell /bin/bash alice
        echo 'alice ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/alice
        install -d -o alice -g alice -m 0700 /home/alice/.ssh
        printf 'ListenAddress ${address}:22\\n' > /etc/ssh/sshd_config
        getent passwd sshd >/dev/null || useradd --system --home-dir /run/sshd sshd
        mkdir -p /run/sshd; ssh-keygen -A >/dev/null
        systemd-run --quiet --property=Type=notify --unit=guide-sshd /usr/sbin/sshd -D`);
      say(`booted ${name}`);
    }
    const on = (name: string) => guests[name] as Container;
    const home = { HOME: '/home/alice', USER: 'alice' };
    const alice = async (name: string, script: string) => {
      const options = { user: 'alice', env: home, timeout: 600_000, stdin: 'y\n' };
      const done = await on(name).sh(`cd; ${script}`, options);
      say(`\n[${name}]$ ${script.trim()}\n${done.stdout}${done.stderr}`);
      if (done.status !== 0) throw new Error(`${name}: status ${done.status}: ${script}`);
      return done.stdout;
    };
    await on('ops').ok(
      `su alice -c "ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519; printf 'StrictHostKeyChecking accept-new\\n' > ~/.ssh/config"
       install -o alice /srv/tls/ca.pem /home/alice/nats-ca.pem`,
    );
    const key = await on('ops').ok('cat /home/alice/.ssh/id_ed25519.pub');
    for (const guest of Object.values(guests))
      await guest.ok('tee /home/alice/.ssh/authorized_keys /home/alice/alice.pub', { stdin: key });
    await on(BROKER).ok(
      'install -d /etc/nats && install -o nats -m 0400 /srv/tls/cert.pem /srv/tls/key.pem /etc/nats',
    );
    await world.push('v1', { deploy: 'build: "true"\n' });

    const [broker, install, operator, server, add, ...none] = blocks();
    assert.equal([typeof add, none], ['string', []]);
    await alice(BROKER, broker ?? '');
    for (const name of ['ops', ...SERVERS]) await alice(name, `cd /srv/debs/release; ${install}`);
    for (const name of SERVERS) {
      await on(name).ok(
        `cat > /opt/runner/config.yml; chown runner:runner /opt/runner/config.yml; chmod 600 /opt/runner/config.yml
        install -m 0644 /srv/tls/ca.pem /etc/runner/nats-ca.pem; systemctl disable --now runner-fetch.timer`,
        {
          stdin: `code_host_git_url: ${world.git.url}\n`,
        },
      );
      await on(name).ok(`runner add --repo ${REPO} --branch main --token -`, { stdin: TOKEN });
    }
    await alice('ops', operator ?? '');
    for (const name of SERVERS) await alice(name, (server ?? '').replaceAll('web1', name));
    await alice('ops', `${operator?.split('\n')[0]}\n${add}`);
    const ops = (script: string) => alice('ops', `export RUNNER_ROOT=$HOME/.runner; ${script}`);
    const all = async () =>
      (await ops('runner fleet status --strict; true')).match(/ up \d+ ms/g)?.length;
    while ((await all()) !== SERVERS.length)
      await new Promise((resolve) => setTimeout(resolve, 500));
    const done = await ops('runner fleet deploy shop --on web --canary 1 --max-parallel 2');
    assert.match(done, new RegExp(`done: ${COUNT} done`));
    assert.match(await ops('runner fleet verify'), /all in order/);
    const score = await on('web1').ok(
      'systemd-analyze security --no-pager runner-agent.service | tail -n 1',
    );
    say(score);
    assert.ok(Number(/: ([\d.]+) /.exec(score)?.[1]) < 3.5, score);
  } finally {
    for (const guest of Object.values(guests)) await guest.close();
    await world.close();
  }
});

test.run();
