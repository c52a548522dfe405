/** The units of the package runner-bell, in a booted system. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { bootContainer, type Container, whyNoContainer } from '@runner/testing/container';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { checkoutFolder, distFolder } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { headersOf, send } from './clients.ts';
import { stormOn } from './storm.ts';

const test = suite('units of the bell');
const LIB = '/usr/lib/runner';
const REPO = 'acme/shop';
/** Pushes that are timed, one after the other. */
const PUSHES = 20;
/** Rounds of pushes whose calls are doubled and lost. */
const ROUNDS = 20;
const EVENTS = '/opt/runner/logs/deploy-events.jsonl';
const BODY = '{"ref":"refs/heads/main"}';
const packaging = join(checkoutFolder(), 'packaging');

let container: Container;
let git: GitServer;
let port: number;
let secret: string;

const unit = (path: string) =>
  readFileSync(join(packaging, path), 'utf8').replaceAll('@LIBDIR@', LIB);
const place = (file: string, text: string) =>
  container.ok(`mkdir -p "$(dirname ${file})"; cat > ${file}`, { stdin: text });
const asRunner = (script: string) =>
  container.ok(
    `setpriv --reuid=runner --regid=runner --init-groups ${LIB}/bin/${script} --root /opt/runner`,
  );

/** What the package and its dependency bring. */
async function install(): Promise<void> {
  await container.ok(
    'useradd --system runner; install -d -o runner -g runner /opt/runner /var/lib/runner /var/lib/runner/tmp',
  );
  for (const name of readdirSync(join(packaging, 'bell')).filter((each) =>
    each.startsWith('runner-bell'),
  ))
    await place(`/etc/systemd/system/${name}`, unit(`bell/${name}`));
  await place('/etc/systemd/system/runner-fetch.service', unit('systemd/runner-fetch.service'));
  await place(
    '/etc/systemd/system/runner-fetch.service.d/runner-bell.conf',
    unit('bell/runner-fetch.conf'),
  );
  await place(
    '/etc/systemd/system/runner-bell.socket.d/port.conf',
    `[Socket]\nListenStream=\nListenStream=127.0.0.1:${port}\n`,
  );
  await place('/root/postinst', unit('bell/postinst'));
  await container.ok('sh /root/postinst configure; sh /root/postinst configure');
}

const call = (headers = headersOf('github', secret, BODY)) =>
  send(port, { path: '/shop', headers, body: BODY });

const isActive = async (commit: string) => {
  const { instances } = JSON.parse(await container.ok('cat /opt/runner/state/shop.json'));
  return instances.default?.current?.commit === commit;
};
const deployed = (commit: string) =>
  until(
    () => isActive(commit),
    () => `${commit} is not deployed`,
  );

const why = whyNoContainer();
if (why !== undefined) {
  test.skip(`a booted system: ${why}`, () => {});
} else {
  test('the package makes its user and its folder, and runner adds a bell', async () => {
    container = await bootContainer({ [LIB]: distFolder() });
    git = await startGitServer();
    port = await freePort();
    await git.createRepo(REPO, { public: true });
    await install();
    await place('/opt/runner/config.yml', `code_host_git_url: ${git.url}\nsandbox: off\n`);
    await container.ok('chown runner: /opt/runner/config.yml; chmod 600 /opt/runner/config.yml');
    await asRunner(`runner-add --repo ${REPO} --branch main --public`);
    secret = JSON.parse(await asRunner('runner-bell add shop --json')).secret;
    assert.is(
      await container.ok(
        "cd /var/lib/runner-bell; stat -c '%a %U:%G %n' secrets secrets/shop.json wake",
      ),
      '2750 runner:runner-bell secrets\n640 runner:runner-bell secrets/shop.json\n2770 runner-bell:runner wake\n',
    );
    await container.ok(
      'systemctl daemon-reload; systemctl start runner-bell.socket runner-bell.path',
    );
  });

  test('a signed call starts the fetch, an unsigned one nothing, and no process remains', async () => {
    const first = await git.commit(REPO, { '.deploy.yml': 'build: sleep 2\n' }, 'first');
    assert.is((await call({})).status, 401);
    assert.is(await container.ok('systemctl show -P InvocationID runner-fetch.service'), '\n');
    const { status, text } = await call();
    assert.equal([status, text], [202, '{"app":"shop","will":"fetch"}\n']);
    await deployed(first);
    await until(
      async () => (await container.ok('pgrep -u runner-bell || :')) === '',
      'a process stays',
    );
    assert.is(await container.ok('ls /var/lib/runner-bell/wake'), '');
    assert.match(await asRunner('runner-bell list'), /shop {2}github {2}\d{4}-\d\d-\d\d/);
  });

  test('a call during a deploy starts another fetch after it', async () => {
    const during = await git.commit(REPO, { more: '1' }, 'during');
    assert.is((await call()).status, 202);
    await until(async () => /deploying/.test(await asRunner('runner-list')), 'no deploy');
    const last = await git.commit(REPO, { more: '2' }, 'last');
    assert.is((await call()).status, 202);
    await deployed(last);
    assert.not.equal(during, last);
  });

  test('a burst of calls ends neither the socket nor the path, and the last commit is deployed', async () => {
    const last = await git.commit(REPO, { more: '3', '.deploy.yml': '' }, 'burst');
    for (let batch = 0; batch < 15; batch += 1)
      await Promise.all(Array.from({ length: 20 }, () => call()));
    await until(async () => (await call()).status === 202, 'it answers no more');
    await deployed(last);
    const units = 'systemctl is-active runner-bell.socket runner-bell.path';
    assert.is(await container.ok(units), 'active\nactive\n');
  });

  test('calls doubled, lost and in any order, during deploys: the last commit is deployed each time', async () => {
    // The timer makes up for lost calls: here every 5 s.
    const often = '[Timer]\nOnCalendar=\nOnCalendar=*:*:0/5\nRandomizedDelaySec=0\n';
    await place('/etc/systemd/system/runner-fetch.timer', unit('systemd/runner-fetch.timer'));
    await place('/etc/systemd/system/runner-fetch.timer.d/often.conf', often);
    await container.ok('systemctl daemon-reload; systemctl start runner-fetch.timer');
    const count = async () => Number(await container.ok(`grep -c DeployStarted ${EVENTS}`));
    const before = await count();
    const site = {
      push: (name: string) => git.commit(REPO, { more: name }, name),
      // Of too many at once systemd closes the connection: another lost call.
      call: async () => assert.ok([202, 0].includes((await call()).status)),
      isDeployed: isActive,
    };
    const { right, pushes, calls } = await stormOn(site, ROUNDS, 7);
    const deploys = (await count()) - before;
    console.log(`(${ROUNDS} rounds, ${pushes} pushes, ${calls} calls, ${deploys} deploys)`);
    assert.is(right, ROUNDS);
    assert.ok(deploys <= pushes, `${deploys} deploys of ${pushes} pushes`);
    await container.ok('systemctl stop runner-fetch.timer');
  });

  test('between push and DeployStarted there is no wait for the timer', async () => {
    const waits: number[] = [];
    for (let push = 0; push < PUSHES; push += 1) {
      const commit = await git.commit(REPO, { more: `timed ${push}` }, 'timed');
      const begun = Date.now();
      assert.is((await call()).status, 202);
      let started = '';
      const find = `grep DeployStarted ${EVENTS} | grep ${commit} || :`;
      await until(
        async () => {
          started = await container.ok(find);
          return started !== '';
        },
        () => `${commit} is not started`,
      );
      waits.push(Date.parse(JSON.parse(started).timestamp) - begun);
    }
    waits.sort((a, b) => a - b);
    const at = (part: number) => waits[Math.ceil(part * waits.length) - 1];
    console.log(`(${PUSHES} pushes, DeployStarted after ${at(0.5)} ms, p95 ${at(0.95)} ms)`);
  });

  test('its user can read no key, state or log', async () => {
    const script = 'cat /opt/runner/config.yml /opt/runner/state/shop.json || ls /opt/runner/logs';
    const { status } = await container.sh(
      `setpriv --reuid=runner-bell --regid=runner-bell --clear-groups sh -c '${script}'`,
    );
    assert.is.not(status, 0);
    await container.close();
    await git.close();
  });
}

test.run();
