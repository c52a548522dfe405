/** What a build of a hostile commit may have planted does nothing in a later command. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, type World } from '../deploys/world.ts';
import { bytes, startRawHost } from './raw-host.ts';
import { selfSigned } from './self-signed.ts';

const test = suite<{ world: World; home: string }>('planted');

test.before.each(async (context) => {
  context.world = await makeWorld();
  context.home = temporaryFolder('home');
});
test.after.each(async ({ world }) => {
  await world.close();
});

async function addApp(world: World, name: string, deploy: string): Promise<void> {
  await world.git.createRepo(`acme/${name}`);
  await world.git.commit(`acme/${name}`, { '.deploy.yml': deploy }, name);
  const args = ['--repo', `acme/${name}`, '--branch', 'main', '--token-from', 'shop'];
  const added = await run('runner-add', args, { root: world.root });
  assert.is(added.status, 0, added.stderr);
}

test('each app has a HOME of its own, so that a build plants nothing for another one', async ({
  world,
  home,
}) => {
  const made = join(world.root, 'apps/zoo/instances/default/current/made');
  writeFileSync(join(home, '.npmrc'), 'script-shell=/of/the/user\n');
  await world.push('v1', {
    deploy: `build: 'echo script-shell=/evil > ~/.npmrc; echo $HOME > made'\nhooks: { post_deploy: 'echo hook >> ~/.profile' }\n`,
  });
  await addApp(
    world,
    'zoo',
    `build: 'echo "$HOME"; echo "$HOME" > made; cat ~/.npmrc ~/.profile >> made || true'\n`,
  );
  const done = await world.deploy([], { HOME: home });
  assert.is(done.status, 0, done.stderr);
  const zoo = await run('runner-deploy', ['zoo'], { root: world.root, env: { HOME: home } });
  assert.is(zoo.status, 0, zoo.stderr);
  assert.is(readFileSync(made, 'utf8'), `${join(world.root, 'apps/zoo/home')}\n`);
  assert.is(readFileSync(join(home, '.npmrc'), 'utf8'), 'script-shell=/of/the/user\n');
  const own = join(world.root, 'apps/shop/home');
  assert.is(readFileSync(join(own, '.npmrc'), 'utf8'), 'script-shell=/evil\n');
  assert.is(readFileSync(join(own, '.profile'), 'utf8'), 'hook\n');
  const removed = await run('runner-remove', ['shop', '--yes'], { root: world.root });
  assert.is(removed.status, 0, removed.stderr);
  assert.not(existsSync(own));
});

/** A configuration that sends git to another host, in every way that one may. */
function evilConfig(port: number, real: string): string {
  const evil = `http://127.0.0.1:${port}`;
  const folder = temporaryFolder('include');
  const included = join(folder, 'more');
  writeFileSync(included, `[url "${evil}/included/"]\n\tinsteadOf = ${real}/\n`);
  return `[core]
\trepositoryformatversion = 0
\tbare = true
\tsshCommand = touch ${folder}/ran
\tfsmonitor = touch ${folder}/ran
\talternateRefsCommand = touch ${folder}/ran
[http]
\tproxy = ${evil}
\tsslVerify = false
[http "https://127.0.0.1"]
\tsslVerify = false
[include]
\tpath = ${included}
[url "${evil}/"]
\tinsteadOf = ${real}/
`;
}

/** A repository with this configuration. */
function plantRepository(folder: string, config: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('git', ['init', '--quiet', '--bare', folder]);
  writeFileSync(join(folder, 'config'), config);
}

/** Plants it in HOME, in the folders above the mirror, and, if there is one, in the mirror. */
function plantEverywhere(world: World, home: string, config: string): void {
  const app = join(world.root, 'apps/shop');
  const above = [dirname(world.root), world.root, join(world.root, 'apps'), app];
  for (const folder of above) plantRepository(join(folder, '.git'), config);
  // The app's own folder as a bare repository.
  plantRepository(app, config);
  mkdirSync(join(home, '.config/git'), { recursive: true });
  for (const name of ['.gitconfig', '.config/git/config']) writeFileSync(join(home, name), config);
  const mirror = join(app, 'repo.git');
  if (!existsSync(mirror)) return;
  writeFileSync(join(mirror, 'config'), config);
  writeFileSync(join(mirror, 'commondir'), `${join(world.root, '.git')}\n`);
}

test('no planted configuration redirects git to another host', async ({ world, home }) => {
  const host = await startRawHost(
    bytes('HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="x"\r\n\r\n'),
  );
  const config = evilConfig(host.port, world.git.url);
  await world.push('v1', { deploy: '{}\n' });
  for (const version of ['v1', 'v2', 'v3']) {
    await world.push(version, { deploy: `keep: ${version.slice(1)}\n` });
    plantEverywhere(world, home, config);
    const done = await world.deploy([], { HOME: home });
    assert.is(done.status, 0, done.stderr);
    const fetched = await run('runner-fetch', [], { root: world.root, env: { HOME: home } });
    assert.is(fetched.status, 0, fetched.stderr);
  }
  assert.is(host.received(), '');
  await host.close();
});

test('the certificate of the code host is verified, whatever the configuration says', async ({
  world,
  home,
}) => {
  const host = await startRawHost(
    bytes('HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="x"\r\n\r\n'),
    selfSigned(),
  );
  const url = `https://127.0.0.1:${host.port}`;
  await world.launch('v1', { deploy: '{}\n' });
  writeFileSync(join(world.root, 'config.yml'), `code_host_git_url: ${url}\n`, { mode: 0o600 });
  plantEverywhere(world, home, evilConfig(host.port, 'http://nowhere'));
  for (const args of [['runner-deploy', 'shop'], ['runner-fetch']]) {
    const [program = '', ...rest] = args;
    const done = await run(program, rest, { root: world.root, env: { HOME: home } });
    assert.is(done.status, 1);
    assert.match(done.stdout + done.stderr, /certificate/);
  }
  assert.is(host.received(), '');
  await host.close();
});

test.run();
