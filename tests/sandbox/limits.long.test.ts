/** The limits of a build, in a booted system. */
import { bootContainer, type Container, whyNoContainer } from '@runner/testing/container';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { distFolder } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { REPO, TOKEN } from '../deploys/world.ts';

const test = suite('limits of a build');
const why = whyNoContainer();
if (why !== undefined) process.stderr.write(`skipped: ${why}\n`);

const ROOT = '/srv/limited';
const inside = { env: { RUNNER_ROOT: ROOT, PATH: '/srv/dist/bin:/usr/sbin:/usr/bin:/sbin:/bin' } };
const ALLOCATE = `const held = [];
for (let i = 0; i < 30; i += 1) held.push(Buffer.alloc(10_000_000, 1));
console.log('allocated ' + held.length);
`;
/** With cgroups of version 1 systemd-nspawn shows the controllers and lets no one write to them. */
const TAKE_CONTROLLERS = `cd /sys/fs/cgroup
for each in memory cpu cpuacct; do [ ! -d $each ] || mount -o remount,rw,bind /sys/fs/cgroup/$each; done
systemctl daemon-reexec`;
let container: Container;
let git: GitServer;

async function ship(version: string, limits: string) {
  const deploy = `build: { run: node build.js${limits} }\n`;
  const files = { '.deploy.yml': deploy, 'build.js': ALLOCATE };
  await git.commit(REPO, files, version, { tag: version });
  return container.sh('runner deploy shop', inside);
}

if (why !== undefined) {
  test.skip(`limits in a container: ${why}`, () => {});
} else {
  test('a system boots', async () => {
    container = await bootContainer({ '/srv/dist': distFolder() });
    await container.sh(TAKE_CONTROLLERS);
    git = await startGitServer({ token: TOKEN });
    await git.createRepo(REPO);
    await container.ok(
      `mkdir ${ROOT}; echo code_host_git_url: ${git.url} > ${ROOT}/config.yml; chmod 600 ${ROOT}/config.yml`,
    );
    await container.ok(`runner add --repo ${REPO} --branch main --token -`, {
      ...inside,
      stdin: TOKEN,
    });
  });

  test('a build above its memory limit is killed, or the limit is refused by name', async () => {
    const done = await ship('v1', ', memory: 100M');
    assert.is(done.status, 1, done.stderr);
    assert.not.match(done.stderr, /allocated/);
    // Which of the two depends on the controllers that the machine gives to a container.
    const isKilled = /build: .*(?:137|SIGKILL|killed)/i.test(done.stderr);
    process.stdout.write(`(memory is ${isKilled ? 'limited' : 'refused'} here)\n`);
    if (!isKilled) assert.match(done.stderr, /build\.memory cannot be limited here: /, done.stderr);
    else assert.is((await ship('v2', ', memory: 2G')).status, 0);
  });

  test('a build stays within its CPU limit, or the limit is refused by name', async () => {
    const done = await ship('v3', ', cpu: 20%');
    // Before the build begins, the limit of its scope is read from the kernel.
    if (done.status !== 0)
      assert.match(done.stderr, /build\.cpu cannot be limited here: /, done.stderr);
    process.stdout.write(`(cpu is ${done.status === 0 ? 'limited' : 'refused'} here)\n`);
  });

  test.after(async () => {
    await git?.close();
    await container?.close();
  });
}

test.run();
