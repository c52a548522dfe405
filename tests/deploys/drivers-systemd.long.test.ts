import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { bootContainer, type Container, whyNoContainer } from '@runner/testing/container';
import { startGitServer } from '@runner/testing/git-server';
import { distFolder } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { driverContract, type Place, shows } from '../../libs/deploy/test/drivers/contract.ts';
import { newestError, statusOf } from '../../libs/deploy/test/drivers/place.ts';
import { REPO, TOKEN } from './world.ts';

const test = suite('systemd for real');
const why = whyNoContainer();
if (why !== undefined) process.stderr.write(`skipped: ${why}\n`);

const DIST = '/srv/dist';
let container: Container;

/** How the unit is called and where, and who deploys. */
interface Kind {
  readonly start: string;
  /** Path of the unit's file inside. */
  readonly file: string;
  readonly instance?: string;
  /** More lines of [Service]. */
  readonly service?: string;
  /** Who deploys, with a manager of their own; default: root. */
  readonly user?: string;
}

/** A root inside, owned by the user who deploys, with the app registered and its unit there. */
async function placeInside({ start, file, instance = 'default', service = '', user }: Kind) {
  const git = await startGitServer({ token: TOKEN });
  await git.createRepo(REPO);
  const port = await freePort();
  const root = `/srv/${instance}-${port}`;
  const env = { RUNNER_ROOT: root, PATH: `${DIST}/bin:/usr/local/bin:/usr/bin:/bin` };
  const inside = { env: user === undefined ? env : { ...env, HOME: `/home/${user}` } };
  const asUser = user === undefined ? inside : { ...inside, user };
  const current = `${root}/apps/shop/instances/${instance}/current`;
  const unit = `[Service]
WorkingDirectory=${current}
Environment=PORT=${port}
ExecStart=/usr/bin/env node server.js
${service}`;
  const owner = user ?? 'root';
  await container.ok(
    `install -d -o ${owner} -g ${owner} -m 0750 ${root}
printf 'code_host_git_url: %s\\n' ${git.url} > ${root}/config.yml
chown ${owner}: ${root}/config.yml; chmod 600 ${root}/config.yml
install -d -o ${owner} -g ${owner} $(dirname ${file})
cat > ${file}`,
    { stdin: unit },
  );
  const manager = user === undefined ? '' : '--user';
  await container.ok(
    `XDG_RUNTIME_DIR=/run/user/$(id -u) systemctl ${manager} daemon-reload`,
    asUser,
  );
  await container.ok(`runner add --repo ${REPO} --branch main --token -`, {
    ...asUser,
    stdin: TOKEN,
  });
  const deployFile = `instances: { ${instance}: {} }\nstart: ${start}\n`;
  // The driver of this test asks the systemd inside.
  const asked = temporaryFolder('systemctl');
  const place: Place = {
    git,
    port,
    deployFile,
    deploy: () => container.sh('runner deploy shop', asUser),
    remove: () => container.sh('runner remove shop --yes', asUser),
    async lastError() {
      const { stdout } = await container.sh(`cat ${root}/logs/deploy-events.jsonl`);
      const lines = stdout.split('\n').filter(Boolean);
      return newestError(lines.map((line) => JSON.parse(line)));
    },
    async status() {
      const answers: string[] = [];
      for (const verb of ['is-active', 'show']) {
        const unitName = file.slice(dirname(file).length + 1).replace('@.', `@${instance}.`);
        const script = `export XDG_RUNTIME_DIR=/run/user/$(id -u); systemctl ${manager} ${verb} ${unitName}`;
        const { stdout } = await container.sh(script, asUser);
        answers.push(`*${verb}*) cat <<'END'\n${stdout}\nEND\n;;`);
      }
      const script = `#!/bin/sh\ncase "$*" in\n${answers.join('\n')}\nesac\n`;
      writeFileSync(join(asked, 'systemctl'), script, { mode: 0o755 });
      return statusOf(root, deployFile, { PATH: `${asked}:/usr/bin:/bin` });
    },
    close: () => git.close(),
  };
  return { ...place, root, asUser };
}

if (why !== undefined) {
  test.skip(`systemd in a container: ${why}`, () => {});
} else {
  // A test and no hook: uvu does not show why a hook threw.
  test('a system with a lingering user boots', async () => {
    container = await bootContainer({ [DIST]: distFolder() });
    await container.ok('useradd --create-home --shell /bin/sh deployer');
    await container.ok('mkdir -p /var/lib/systemd/linger; touch /var/lib/systemd/linger/deployer');
    await container.ok('systemctl start user@$(id -u deployer)');
  });

  driverContract(test, 'a unit', () =>
    placeInside({
      start: '{ type: systemd, unit: shop.service }',
      file: '/etc/systemd/system/shop.service',
    }),
  );
  driverContract(test, 'a unit that systemd restarts', () =>
    placeInside({
      start: '{ type: systemd, unit: shop-again.service }',
      file: '/etc/systemd/system/shop-again.service',
      service: 'Restart=always\nRestartSec=50ms\n',
    }),
  );
  driverContract(test, 'a template', () =>
    placeInside({
      start: '{ type: systemd, unit: shop@.service }',
      file: '/etc/systemd/system/shop@.service',
      instance: 'web',
    }),
  );
  driverContract(test, 'a unit of the user', () =>
    placeInside({
      start: '{ type: systemd, unit: shop.service, user: true }',
      file: '/home/deployer/.config/systemd/user/shop.service',
      user: 'deployer',
    }),
  );

  test('with reload the process stays and reads the new release', async () => {
    const place = await placeInside({
      start: '{ type: systemd, unit: shop-reload.service, reload: true }',
      file: '/etc/systemd/system/shop-reload.service',
      service: 'ExecReload=/bin/kill -HUP $MAINPID\n',
    });
    const server = `const { readFileSync } = require('node:fs');
let version;
const read = () => { version = readFileSync(process.env.PWD_CURRENT + '/VERSION', 'utf8'); };
process.on('SIGHUP', read);
process.env.PWD_CURRENT = ${JSON.stringify(`${place.root}/apps/shop/instances/default/current`)};
read();
require('node:http').createServer((_, answer) => answer.end(version)).listen(process.env.PORT);
`;
    const pids: string[] = [];
    for (const version of ['v1', 'v2']) {
      const files = { 'server.js': server, VERSION: version, '.deploy.yml': place.deployFile };
      await place.git.commit(REPO, files, version, { tag: version });
      const done = await place.deploy();
      assert.is(done.status, 0, done.stdout + done.stderr);
      await shows(place.port, version);
      pids.push(await container.ok('systemctl show -P MainPID shop-reload.service'));
    }
    assert.is(pids[0], pids[1]);
    await place.remove();
    await place.close();
  });

  test('logs --since and the error of a failed start show the newest lines', async () => {
    const place = await placeInside({
      start: '{ type: systemd, unit: shop-chatty.service }',
      file: '/etc/systemd/system/shop-chatty.service',
    });
    const print = 'for (let at = 1; at <= 80; at += 1) console.log(`line ${at}`);\n';
    for (const [version, then] of [
      ['v1', 'setInterval(() => {}, 1000);'],
      ['v2', 'process.exit(1);'],
    ] as const) {
      const files = { 'server.js': print + then, '.deploy.yml': place.deployFile };
      await place.git.commit(REPO, files, version, { tag: version });
      const done = await place.deploy();
      assert.is(done.status, version === 'v1' ? 0 : 1, done.stdout + done.stderr);
      if (version === 'v2') break;
      const shown = await container.sh('runner logs shop --since 1h -n 3', place.asUser);
      assert.is(shown.stdout, 'line 78\nline 79\nline 80\n');
      assert.match(
        shown.stderr,
        /^runner logs: only the newest 3 lines since \S+ are shown; .*-n\n$/,
      );
      const whole = await container.sh('runner logs shop --since 1h -n 999', place.asUser);
      assert.match(whole.stdout, /^Started .*\nline 1\n[\s\S]*line 80\n$/);
      assert.is(whole.stderr, '');
    }
    assert.match(await place.lastError(), /line 80\n/);
    await place.remove();
    await place.close();
  });

  test('a user without permission for the unit gets that error, and the commit is not blamed', async () => {
    const place = await placeInside({
      start: '{ type: systemd, unit: shop-forbidden.service }',
      file: '/home/deployer/.config/systemd/user/shop-forbidden.service',
      user: 'deployer',
    });
    await container.ok(
      'printf "[Service]\\nExecStart=/bin/sleep 1d\\n" | tee /etc/systemd/system/shop-forbidden.service; systemctl daemon-reload',
    );
    await place.git.commit(REPO, { '.deploy.yml': place.deployFile }, 'v1', { tag: 'v1' });
    const done = await place.deploy();
    assert.is(done.status, 1);
    assert.match(
      await place.lastError(),
      /^start: `systemctl restart shop-forbidden\.service`.*\n[\s\S]*authentication required|Access denied/,
    );
    const state = JSON.parse(await container.ok(`cat ${place.root}/state/shop.json`));
    assert.is(state.failures, null);
    await place.close();
  });

  test('the system is shut down', () => container.close());
}

test.run();
