/**
 * Chapter about commits that want out: what each of their commands can do, as the package installs it, by the
 * timer and by hand; then for a user with a root of their own, and for root. `ESCAPES` are the attempts.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { appFiles } from '@runner/testing/app';
import { distFolder } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { ESCAPES, escapeScript } from './escapes.ts';
import { install } from './packages.ts';
import { type Server, startServer, TOKEN } from './server.ts';

/** Planted for them to find. The account's are in its home. */
const PLANTED = {
  key: 'the master key',
  state: 'a state file',
  journal: 'Zq81-secret-in-the-journal',
  rootOnly: 'only-root-may-read-this-91x',
  bell: 'bell-secret-of-other-app-77',
  account: 'netrc-of-the-account-55',
  other: 'file-of-another-app-33',
};

const PHASES = ['build', 'pre_switch', 'app', 'health', 'post_deploy'] as const;

function deployFile(root: string, account: string): string {
  const run = (phase: string) => `ROOT=${root} ACCOUNT=${account} sh escapes.sh ${phase}`;
  return `build: ${JSON.stringify(run('build'))}
start: { type: process, run: ${JSON.stringify(`${run('app')}; exec sleep 600`)} }
hooks: { pre_switch: ${JSON.stringify(run('pre_switch'))}, post_deploy: ${JSON.stringify(run('post_deploy'))}, timeout: 10m }
health: { cmd: ${JSON.stringify(`test -e $RUNNER_SHARED/health/done || ${run('health')}`)}, timeout: 5m, within: 10m }
`;
}

/** Where an app is deployed, and by whom. */
interface Stage {
  readonly name: string;
  readonly root: string;
  readonly account: string;
  /** Runs a command of `runner` there. */
  readonly as: (command: string) => string;
  readonly config: string;
}

/** What a run of all attempts reached, by phase; the server must show no trace of it. */
async function reachedIn({ container }: Server, stage: Stage): Promise<Map<string, string[]>> {
  const { root } = stage;
  const key = (await container.ok(`cat ${root}/mkey | tr -d '\\n'`)).slice(0, 40);
  const needles = [key, ...Object.values(PLANTED).slice(2), '"repohost_token"', 'REACHED'];
  const found = new Map<string, string[]>();
  for (const phase of PHASES) {
    const file = `${root}/apps/evil/instances/default/shared/${phase}/loot`;
    const loot = (await container.ok(`cat ${file}`)).split('\n== ').slice(1);
    const names = loot.flatMap((part) => {
      const [name = '', ...lines] = part.split('\n');
      const text = lines.map((line) => [...line].reverse().join('')).join('\n');
      return needles.some((needle) => text.includes(needle)) ? [name] : [];
    });
    found.set(phase, names);
  }
  return found;
}

/** What the attempts leave on the server when they succeed; empty if they do not. */
async function tracesOn({ container }: Server): Promise<string> {
  return container.ok(`ls /var/lib/systemd/linger 2>/dev/null || :
systemctl is-active --quiet other.service || echo other.service was stopped
hostname | grep reached || :
for each in /var/lib/runner /home/ada /root; do grep -l from-a-commit $each/.bashrc $each/.profile $each/.npmrc $each/.gitconfig $each/.forward $each/.ssh/rc || :; ls $each/.config/systemd/user 2>/dev/null || :; done 2>/dev/null
ls /etc/cron.d/from-a-commit /etc/cron.hourly/from-a-commit /var/spool/cron/from-a-commit /var/spool/cron/crontabs/* /etc/systemd/system/from-a-commit.service /run/systemd/system/from-a-commit.service /etc/ld.so.preload 2>/dev/null || :
grep from-a-commit /etc/runner/units /proc/sys/kernel/core_pattern || :
for each in a b; do test ! -L /opt/runner/apps/evil/instances/default/$each/env || echo slot; done
find /run/runner -type l`);
}

async function plant({ container, git }: Server): Promise<void> {
  await container.ok(`useradd -m ada 2>/dev/null || :
mkdir -p /var/log/journal && systemd-tmpfiles --create --prefix /var/log/journal && journalctl --flush
systemd-run --quiet --wait --unit=noisy --uid=nobody sh -c 'echo DATABASE_URL=postgres://app:${PLANTED.journal}@db/x'
echo DB_ROOT_PASSWORD=${PLANTED.rootOnly} > /etc/other-service.env; chmod 600 /etc/other-service.env
mkdir -p /var/lib/runner-bell/secrets /var/lib/runner-bell/wake; echo ${PLANTED.bell} > /var/lib/runner-bell/secrets/other; chown -R runner /var/lib/runner-bell
printf '[Service]\\nExecStart=/bin/bash -c "exec -a other-service-process sleep 100000"\\n' > /etc/systemd/system/other.service
systemctl daemon-reload; systemctl start other.service; echo other.service >> /etc/runner/units
for home in /var/lib/runner /home/ada /root; do echo ${PLANTED.account} > $home/.netrc; chown --reference=$home $home/.netrc; chmod 600 $home/.netrc; done`);
  await git.createRepo('acme/evil');
  await git.createRepo('acme/other');
  await git.commit('acme/other', { file: `${PLANTED.other}\n`, '.deploy.yml': '{}\n' }, 'o1');
}

async function deployAt(server: Server, stage: Stage, version: string): Promise<void> {
  const { container, git, type } = server;
  const { root, account, as, config } = stage;
  await container.ok(
    `cat > ${root}/config.yml; chown --reference=${root} ${root}/config.yml; chmod 600 ${root}/config.yml`,
    {
      stdin: `code_host_git_url: ${git.url}\n${config}\n`,
    },
  );
  const files = {
    ...appFiles(version),
    '.deploy.yml': deployFile(root, account),
    'escapes.sh': escapeScript(),
  };
  await git.commit('acme/evil', files, version, { tag: version });
  for (const app of ['other', 'evil'])
    await container.sh(as(`add --repo acme/${app} --branch main --token -`), { stdin: TOKEN });
  await container.sh(as('deploy other'));
  await container.sh(`rm -rf ${root}/apps/evil/instances/default/shared/*`);
  await type(as('deploy evil'));
}

/** Plays it on a server of its own; returns how many steps it has. Throws at the first that goes wrong. */
export async function breakOut(): Promise<number> {
  const release = join(dirname(distFolder()), 'release');
  const { version } = JSON.parse(readFileSync(join(release, '../package.json'), 'utf8'));
  const server = await startServer({ '/srv/release': release });
  try {
    await install(server, version);
    await tryAll(server);
    return server.steps();
  } finally {
    await server.close();
  }
}

async function tryAll(server: Server): Promise<void> {
  const { container, step, type } = server;
  await plant(server);
  const own = (user: string, root: string) => (command: string) =>
    `runuser -u ${user} -- env HOME=$(getent passwd ${user} | cut -d: -f6) RUNNER_ROOT=${root} /usr/lib/runner/bin/runner ${command}`;
  await container.ok('install -d -o ada -m 700 /home/ada/r; install -d -m 700 /root/r');
  const stages: Stage[] = [
    {
      name: 'as the package installs it',
      root: '/opt/runner',
      account: '/var/lib/runner',
      as: (command) => `runner ${command}`,
      config: 'sandbox: required',
    },
    {
      name: 'for a user with a root of their own',
      root: '/home/ada/r',
      account: '/home/ada',
      as: own('ada', '/home/ada/r'),
      config: 'sandbox: required',
    },
    {
      name: 'for root with a root of its own',
      root: '/root/r',
      account: '/root',
      as: own('root', '/root/r'),
      config: 'sandbox: required',
    },
  ];
  const many = Object.keys(ESCAPES).length * PHASES.length;
  for (const [at, stage] of stages.entries()) {
    step(`${many} attempts to get out of the sandbox reach nothing, ${stage.name}`);
    await deployAt(server, stage, `e${at}`);
    const reached = await reachedIn(server, stage);
    for (const [phase, names] of reached)
      assert.equal(names, [], `${stage.name}: ${phase} reached ${names.join(', ')}`);
    const traces = await tracesOn(server);
    assert.is(traces, '', `${stage.name} left ${traces}`);
    await container.sh(stage.as('stop evil'));
  }
  step('the timer runs the same, and leaves the memory of apps alone');
  await container.ok(
    `setpriv --reuid=runner --regid=runner --clear-groups sh -c 'echo x > /dev/shm/appdata'`,
  );
  const [first] = stages as [Stage];
  await deployAt(server, first, 'timer-1');
  await type('systemctl start runner-fetch.service');
  await container.ok('test -e /dev/shm/appdata');
  assert.is(await tracesOn(server), '');
  step('without the sandbox most of them reach something: the attempts are real');
  await deployAt(server, { ...first, config: 'sandbox: off' }, 'off-1');
  const reached = [...(await reachedIn(server, first)).values()].map((names) => names.length);
  process.stdout.write(
    `(without the sandbox: ${reached.join(', ')} of ${Object.keys(ESCAPES).length})\n`,
  );
  assert.ok(Math.min(...reached) >= 15, reached.join(' '));
  await container.sh(
    'runner remove evil --yes; runner remove other --yes; loginctl disable-linger runner',
  );
}
