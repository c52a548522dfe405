import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathsOf } from '@runner/common/foundation/paths';
import { ownName } from '@runner/deploy/instances/drivers/driver';
import { unitOf } from '@runner/deploy/instances/drivers/unit-state';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { recording } from './fake-programs.ts';
import { type World, worldSuite } from './world.ts';

const test = worldSuite('drivers');

const commit = (world: World, deploy: string, message = 'v') =>
  world.git.commit('acme/shop', { '.deploy.yml': deploy, message }, message);

test('systemd restarts the unit of the instance and looks whether it stays active', async ({
  world,
}) => {
  const { env, calls } = recording(
    ['systemctl', 'journalctl'],
    'test "$1" != is-active || echo active',
  );
  await commit(world, 'start: { type: systemd, unit: shop@.service }\ninstances: { web: {} }\n');
  const done = await world.deploy([], env);
  assert.is(done.status, 0, done.stderr);
  const show = 'systemctl show --property SubState,NRestarts,Type,Result -- shop@web.service';
  // Before it, the preflight looks at the unit.
  const made = calls();
  assert.equal(made.slice(made.findIndex((each) => each.includes('reset-failed'))), [
    'systemctl reset-failed -- shop@web.service',
    'systemctl restart -- shop@web.service',
    'systemctl is-active -- shop@web.service',
    show,
    'systemctl is-active -- shop@web.service',
    show,
  ]);
});

test('systemd reloads, and uses the user manager, if .deploy.yml says so', async ({ world }) => {
  const { env, calls } = recording(['systemctl'], 'echo active');
  await commit(world, 'start: { type: systemd, unit: shop.service, user: true, reload: true }\n');
  await world.deploy([], env);
  assert.ok(calls().includes('systemctl --user reload-or-restart -- shop.service'));
});

test('a unit that does not stay active fails the deploy with its journal in the error', async ({
  world,
}) => {
  const { env } = recording(
    ['systemctl', 'journalctl'],
    'case $0 in *journalctl) echo "no such table: users" ;; *) test "$1" != is-active || echo failed ;; esac',
  );
  await commit(world, 'start: { type: systemd, unit: shop.service }\n');
  const done = await world.deploy([], env);
  assert.is(done.status, 1);
  assert.is(
    world.events().at(-1)?.error,
    'start: the unit shop.service is failed\nno such table: users',
  );
});

test('compose brings up one project per instance from the release, and takes it down on a failure', async ({
  world,
}) => {
  const { env, calls } = recording(['docker'], 'test ! -e fail || exit 9');
  await commit(world, 'start: { type: compose, file: deploy/compose.yml }\n');
  assert.is((await world.deploy([], env)).status, 0);
  const acts = () => calls().filter((call) => / (up|down) /.test(call));
  assert.is(acts().length, 1);
  assert.match(
    acts()[0] ?? '',
    /^docker compose --project-name runner-shop-default-[0-9a-f]{4} --file deploy\/compose\.yml up --detach --wait --remove-orphans$/,
  );
  await world.git.commit('acme/shop', { fail: '' }, 'broken');
  const done = await world.deploy([], env);
  assert.is(done.status, 1);
  assert.match(done.stdout, /Rolled back/);
  assert.is(acts().length, 3);
});

test('compose builds again what has no image of its own, which would be that of an earlier release', async ({
  world,
}) => {
  const config = (web: string) =>
    `case $* in *' config '*) echo '{"services":{"db":{"image":"pg"},"web":{${web}}}}' ;; esac`;
  await commit(world, 'start: { type: compose }\n');
  const pulled = '"build":{"context":"."},"image":"shop:1"';
  for (const [web, wanted] of [
    [`"build":{"context":"."}},"pulled":{${pulled}`, [/ build web$/, / up .* --remove-orphans$/]],
    [pulled, [/ up .* --remove-orphans$/]],
  ] as const) {
    const { env, calls } = recording(['docker'], config(web));
    await commit(world, 'start: { type: compose }\n', web);
    const done = await world.deploy([], env);
    assert.is(done.status, 0, done.stderr);
    const acts = calls().filter((call) => / (?:build|up) /.test(call));
    assert.is(acts.length, wanted.length, acts.join('\n'));
    for (const [at, pattern] of wanted.entries()) assert.match(acts[at] as string, pattern);
    const again = await run('runner-restart', ['shop'], { root: world.root, env });
    assert.is(again.status, 0, again.stderr);
    assert.is(calls().filter((call) => / build /.test(call)).length, wanted.length - 1);
  }
});

test('a project of compose that dies after its start fails with its own words', async ({
  world,
}) => {
  const { env } = recording(
    ['docker'],
    "case $* in *' logs '*) echo 'no such table: users' ;; esac",
  );
  const health = `health: { url: "http://127.0.0.1:${world.port}/", within: 60s }\n`;
  await commit(world, `start: { type: compose }\n${health}`);
  const done = await world.deploy([], env);
  assert.is(done.status, 1);
  assert.match(
    done.stderr,
    /^health: no container of the project runner-shop-default-[0-9a-f]{4} runs\n {2}no such table: users$/m,
  );
});

/** A pm2 that lists what was started last. */
const PM2 = `list=$(dirname "$0")/list
case $1 in
  start) echo "[{\\"pm_id\\":7,\\"name\\":\\"x\\",\\"pm2_env\\":{\\"status\\":\\"online\\",\\"RUNNER_SHARED\\":\\"$RUNNER_SHARED\\",\\"RUNNER_APP\\":\\"$RUNNER_APP\\",\\"RUNNER_INSTANCE\\":\\"$RUNNER_INSTANCE\\"}}]" >"$list" ;;
  jlist) cat "$list" 2>/dev/null || echo '[]' ;;
esac`;

test('pm2 deletes and starts again from the folder of the release', async ({ world }) => {
  const { env, calls } = recording(['pm2'], PM2);
  await commit(world, 'start: { type: pm2, run: node server.js }\n');
  assert.is((await world.deploy([], env)).status, 0);
  assert.is((await world.deploy([], env)).status, 0);
  const [first, remove, start] = calls().filter((call) => !call.endsWith(' jlist'));
  assert.is(remove, 'pm2 delete 7');
  for (const call of [first, start]) {
    assert.match(
      call ?? '',
      /^pm2 start node server\.js --name runner-shop-default-[0-9a-f]{4} --cwd \/.*\/releases\/[0-9TZ]+-[0-9a-f]{12} --update-env$/,
    );
  }
});

test('if the type changes between releases, the old version is stopped with the old type first', async ({
  world,
}) => {
  const { env, calls } = recording(
    ['pm2', 'systemctl'],
    `${PM2}\ntest "$1" != is-active || echo active`,
  );
  await commit(world, 'start: { type: pm2, run: node server.js }\n', 'one');
  await world.deploy([], env);
  await commit(world, 'start: { type: systemd, unit: shop.service }\n', 'two');
  assert.is((await world.deploy([], env)).status, 0);
  const acts = calls().filter((call) => !/ (jlist|is-active|show) ?/.test(call));
  assert.equal(acts.slice(1), [
    'pm2 delete 7',
    'systemctl reset-failed -- shop.service',
    'systemctl restart -- shop.service',
  ]);
});

test('a unit that is renamed between releases is stopped first', async ({ world }) => {
  const { env, calls } = recording(['systemctl'], 'test "$1" != is-active || echo active');
  await commit(world, 'start: { type: systemd, unit: shop.service }\n', 'one');
  await world.deploy([], env);
  const before = calls().length;
  await commit(world, 'start: { type: systemd, unit: store.service }\n', 'two');
  assert.is((await world.deploy([], env)).status, 0);
  const acts = calls()
    .slice(before)
    .filter((call) => !/ (is-active|show) /.test(call));
  assert.equal(acts, [
    'systemctl stop -- shop.service',
    'systemctl reset-failed -- store.service',
    'systemctl restart -- store.service',
  ]);
});

test('removing an app stops it according to its type', async ({ world }) => {
  const { env, calls } = recording(['systemctl'], 'echo active');
  await commit(world, 'start: { type: systemd, unit: shop.service }\n');
  await world.deploy([], env);
  const done = await run('runner-remove', ['shop', '--yes'], { root: world.root, env });
  assert.is(done.status, 0, done.stderr);
  assert.is(calls().at(-1), 'systemctl stop -- shop.service');
});

test('command starts with its line, and its stop runs when the first deploy fails', async ({
  world,
}) => {
  const trace = join(temporaryFolder('trace'), 'trace');
  await commit(
    world,
    `start: { type: command, run: "echo start $RUNNER_INSTANCE >> '${trace}'" }\nstop: echo stop >> '${trace}'\nhealth: { cmd: "false", interval: 50ms, within: 2s }\n`,
  );
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.is(readFileSync(trace, 'utf8'), 'start default\nstop\n');
  assert.match(
    String(world.events().at(-1)?.error),
    /^health: `false` ended with status 1, not healthy within 2 s/,
  );
});

test('health by tcp waits for a port, and by cmd for status 0', async ({ world }) => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const tcp = `instances: { default: { env: { PORT: "${port}" } } }\nhealth: { tcp: "127.0.0.1:\${PORT}", interval: 50ms, within: 3s }\n`;
  await commit(world, tcp, 'tcp');
  assert.is((await world.deploy()).status, 0);
  await new Promise((resolve) => server.close(resolve));
  const refused = await world.deploy();
  // The version before asks for the same port.
  assert.is(refused.status, 3);
  assert.match(
    String(world.events().at(-1)?.error),
    new RegExp(`^health: 127\\.0\\.0\\.1:${port} cannot be reached \\(ECONNREFUSED\\)`),
  );
  await commit(
    world,
    'health: { cmd: "test \\"$PWD\\" = \\"$RUNNER_RELEASE\\"", interval: 50ms, within: 60s }\n',
    'cmd',
  );
  const done = await world.deploy();
  assert.is(done.status, 0, done.stderr);
});

test('a last attempt that was cut short does not hide earlier findings', async ({ world }) => {
  let asked = 0;
  const server = createHttpServer((_, response) => {
    asked += 1;
    if (asked === 1) response.writeHead(503).end('no database');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await commit(world, `health: { url: "http://127.0.0.1:${port}/", interval: 50ms, within: 3s }\n`);
  assert.is((await world.deploy()).status, 1);
  assert.ok(asked > 1);
  server.closeAllConnections();
  server.close();
  assert.match(
    String(world.events().find(({ error }) => error)?.error),
    /^health: http:\S+ answered 503 instead of 200-299, not healthy within 3 s\nbody: no database$/,
  );
});

test('hooks run in their order and find the variables of message templates', async ({ world }) => {
  const trace = join(temporaryFolder('trace'), 'trace');
  const note = (hook: string) =>
    `echo ${hook} $PROJECT $RUNNER_INSTANCE $VERSION "$PREVIOUS_VERSION" $DOMAIN >> "${trace}"`;
  const hooks = ['pre_build', 'post_build', 'pre_switch', 'post_deploy', 'on_failure']
    .map((hook) => `  ${hook}: '${note(hook)}'`)
    .join('\n');
  await world.git.commit(
    'acme/shop',
    { '.deploy.yml': `instances: { default: { domain: shop.example.org } }\nhooks:\n${hooks}\n` },
    'one',
    { tag: 'v1' },
  );
  assert.is((await world.deploy()).status, 0);
  assert.is(
    readFileSync(trace, 'utf8'),
    'pre_build shop default v1  shop.example.org\npost_build shop default v1  shop.example.org\npre_switch shop default v1  shop.example.org\npost_deploy shop default v1  shop.example.org\n',
  );
  writeFileSync(trace, '');
  await world.git.commit(
    'acme/shop',
    { '.deploy.yml': `build: exit 1\nhooks: { on_failure: 'echo "$ERROR" >> "${trace}"' }\n` },
    'two',
    { tag: 'v2' },
  );
  assert.is((await world.deploy()).status, 1);
  assert.is(readFileSync(trace, 'utf8'), 'build: `exit 1` ended with status 1\n');
});

test('names of units and projects follow the rules of their supervisors', () => {
  assert.is(unitOf('app@.service', 'web'), 'app@web.service');
  assert.is(unitOf('app@%i.service', 'web'), 'app@web.service');
  assert.is(unitOf('app.service', 'web'), 'app.service');
  const paths = pathsOf('/opt/runner').app('My.App').instance('Web_1');
  const instance = { name: 'Web_1', domain: undefined, env: {} };
  const name = ownName({ app: 'My.App', instance, slot: undefined, paths });
  assert.match(name, /^runner-My\.App-Web_1-[0-9a-f]{4}$/);
});

test.run();
