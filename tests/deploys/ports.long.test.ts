/** Health comes from what was started, and instances that are renamed or swap ports can be deployed. */
import { createServer } from 'node:http';
import { freePort, page } from '@runner/testing/app';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, TOKEN, type World } from './world.ts';

const test = suite<{ world: World }>('ports');

test.before.each(async (context) => {
  context.world = await makeWorld();
});
test.after.each(async ({ world }) => {
  for (const app of ['shop', 'other']) {
    await run('runner-remove', [app, '--yes', '--force'], { root: world.root });
  }
  await world.close();
});

/** Answers 200 on a port while `body` runs. */
async function withStranger(port: number, body: () => Promise<void>): Promise<void> {
  const server = createServer((_, response) => response.end('stranger\n'));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  try {
    await body();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const twoInstances = (ports: Record<string, number>) => {
  const instances = Object.entries(ports).map(
    ([name, port]) => `${name}: { env: { PORT: "${port}" } }`,
  );
  return `instances: { ${instances.join(', ')} }
start: { type: process, run: exec node server.js }
health: { url: "http://127.0.0.1:\${PORT}/health", interval: 50ms, within: 20s }
`;
};

async function listed(world: World): Promise<string[]> {
  const { stdout } = await run('runner-list', ['--json'], { root: world.root });
  const { apps } = JSON.parse(stdout) as { apps: { instances: { instance: string }[] }[] };
  return (apps[0]?.instances ?? []).map(({ instance }) => instance);
}

async function deployed(world: World, version: string, deploy: string): Promise<void> {
  await world.push(version, { deploy });
  const done = await world.deploy();
  assert.is(done.status, 0, done.stdout + done.stderr);
}

for (const [kind, health] of [
  ['url', 'url: "http://127.0.0.1:${PORT}/health"'],
  ['tcp', 'tcp: "localhost:${PORT}"'],
] as const) {
  test(`an answer of another process to ${kind} does not make a process healthy`, async ({
    world,
  }) => {
    await withStranger(world.port, async () => {
      const deploy = deployFile(world.port)
        .replace('exec node server.js', 'exec sleep 300')
        .replace(
          /health: \{ url: "[^"]*", interval: 50ms, within: 60s/,
          `health: { ${health}, interval: 50ms, within: 1s`,
        );
      await world.push('v1', { deploy });
      const done = await world.deploy();
      assert.is(done.status, 1, done.stdout);
      assert.match(
        String(world.events().at(-1)?.error),
        /^health: \S+ is answered by another process \(.*\), not by what was started/,
      );
    });
  });
}

test('an answer of another app does not count while processes of the started app come and go', async ({
  world,
}) => {
  await deployed(world, 'v1', deployFile(world.port));
  await world.git.createRepo('acme/other');
  const add = ['--repo', 'acme/other', '--branch', 'main', '--token', '-'];
  await run('runner-add', add, { root: world.root, stdin: TOKEN });
  const spin = '(while :; do sleep 0.002; done) &';
  const deploy = deployFile(world.port)
    .replace('exec node server.js', JSON.stringify(`${spin} ${spin} ${spin} ${spin} wait`))
    .replace('interval: 50ms, within: 60s', 'interval: 10ms, within: 5s');
  await world.git.commit('acme/other', { '.deploy.yml': deploy }, 'one');
  const done = await run('runner-deploy', ['other'], { root: world.root });
  assert.is(done.status, 1, done.stdout);
  const failure = world.events().findLast((event) => event.event_type === 'DeployFailure');
  assert.match(
    String(failure?.error),
    /is answered by another process \(.*\), not by what was started/,
  );
});

test('a command is not healthy by the answer of another registered app, whose port --check finds', async ({
  world,
}) => {
  await world.git.createRepo('acme/other');
  const add = ['--repo', 'acme/other', '--branch', 'main', '--token', '-'];
  await run('runner-add', add, { root: world.root, stdin: TOKEN });
  await deployed(world, 'v1', deployFile(world.port));
  const deploy = deployFile(world.port)
    .replace('type: process, run: exec node server.js', 'type: command, run: "true"')
    .replace('within: 60s', 'within: 1s');
  await world.git.commit('acme/other', { '.deploy.yml': deploy }, 'one');
  const checked = await run('runner-deploy', ['other', '--check'], { root: world.root });
  assert.is(checked.status, 1);
  const clash = `port ${world.port} is used by shop (default) and by other (default): change one of them`;
  assert.ok(checked.stdout.includes(clash), checked.stdout);
  const done = await run('runner-deploy', ['other'], { root: world.root });
  assert.is(done.status, 1, done.stdout);
  assert.match(
    String(world.events().at(-1)?.error),
    /is answered by the app shop \(default\), not by what was started/,
  );
});

test('an app that cannot have its port is explained by the app or the program that has it', async ({
  world,
}) => {
  await world.git.createRepo('acme/other');
  const add = ['--repo', 'acme/other', '--branch', 'main', '--token', '-'];
  await run('runner-add', add, { root: world.root, stdin: TOKEN });
  await deployed(world, 'v1', deployFile(world.port));
  const files = {
    'server.js': `require('node:http').createServer().listen(${world.port}, '127.0.0.1');`,
  };
  const errorOn = async (deploy: string, message: string) => {
    await world.git.commit('acme/other', { ...files, '.deploy.yml': deploy }, message);
    assert.is((await run('runner-deploy', ['other'], { root: world.root })).status, 1);
    const { error, cause } = world.events().at(-1) ?? {};
    assert.match(String(cause), /^port \d+ is used by /);
    return String(error).split('\n')[0];
  };
  const ended = '`exec node server.js` ended with status 1';
  assert.match(
    (await errorOn(deployFile(world.port), 'one')) ?? '',
    `: ${ended}; port ${world.port} is used by the app shop (default)`,
  );
  await run('runner-stop', ['shop'], { root: world.root });
  await withStranger(world.port, async () => {
    assert.match(
      (await errorOn(deployFile(world.port), 'two')) ?? '',
      new RegExp(`: ${ended}; port ${world.port} is used by another process \\(.+, \\d+\\)$`),
    );
  });
});

test('two active apps on one port are found by doctor', async ({ world }) => {
  await world.git.createRepo('acme/other');
  const add = ['--repo', 'acme/other', '--branch', 'main', '--token', '-'];
  await run('runner-add', add, { root: world.root, stdin: TOKEN });
  const deploy = `instances: { default: { env: { PORT: "${world.port}" } } }
start: { type: command, run: "true" }
`;
  await deployed(world, 'v1', deploy);
  await world.git.commit('acme/other', { '.deploy.yml': deploy }, 'one');
  assert.is((await run('runner-deploy', ['other'], { root: world.root })).status, 0);
  const { stdout } = await run('runner-doctor', ['--offline'], { root: world.root });
  assert.ok(
    stdout.includes(`port ${world.port} is used by other (default) and by shop (default)`),
    stdout,
  );
});

test('a renamed instance takes the port of the old one, which is gone', async ({ world }) => {
  await deployed(world, 'v1', twoInstances({ old: world.port }));
  await deployed(world, 'v2', twoInstances({ new: world.port }));
  assert.is(await world.page(), 'v2');
  assert.equal(await listed(world), ['new']);
});

test('a renamed instance that fails leaves the old one running and is not listed', async ({
  world,
}) => {
  await deployed(world, 'v1', twoInstances({ old: world.port }));
  const deploy = twoInstances({ new: world.port }).replace('within: 20s', 'within: 300ms');
  await world.push('v2', { deploy, health: 503 });
  const done = await world.deploy();
  assert.is(done.status, 1, done.stdout + done.stderr);
  assert.match(done.stdout, /Rolled back\. v1 is active\./);
  assert.is(await world.page(), 'v1');
  assert.equal(await listed(world), ['old']);
});

test('two instances swap their ports, and go back when the second fails, and by hand', async ({
  world,
}) => {
  const [one, two] = [world.port, await freePort()];
  await deployed(world, 'v1', twoInstances({ a: one, b: two }));
  await deployed(world, 'v2', twoInstances({ a: two, b: one }));
  assert.equal([await page(one), await page(two)], ['v2', 'v2']);
  const back = twoInstances({ a: one, b: two });
  await world.push('v3', { deploy: `${back}hooks: { pre_switch: "test $RUNNER_INSTANCE = a" }\n` });
  const done = await world.deploy();
  assert.is(done.status, 1, done.stdout + done.stderr);
  assert.equal([await page(one), await page(two)], ['v2', 'v2']);
  const byHand = await run('runner-rollback', ['shop', '--to', 'v1'], { root: world.root });
  assert.is(byHand.status, 0, byHand.stdout + byHand.stderr);
  assert.equal([await page(one), await page(two)], ['v1', 'v1']);
});

test.run();
