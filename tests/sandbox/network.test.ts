/** A build that may reach only some hosts. */
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { inWorld } from '../deploys/world.ts';
import { logOf } from './deploys.ts';
import { ask, fieldOf, push, REQUIRED, sandbox, test, withServer } from './network.ts';

test('a build reaches a host of its list, and the record says so', () =>
  inWorld((world) =>
    withServer(async (port) => {
      const asks = ask(`http://localhost:${port}/`);
      await push(world, 'v1', { run: asks, network: [`localhost:${port} private`] });
      const done = await world.deploy([], REQUIRED);
      assert.is(done.status, 0, done.stderr);
      const [host] = fieldOf(world, 'network');
      assert.is(host?.host, 'localhost');
      assert.is(host?.port, port);
      assert.is(host?.connections, 1);
      assert.ok(Number(host?.up) > 50 && Number(host?.down) > 50, JSON.stringify(host));
      const verified = await run('runner-verify', ['shop'], { root: world.root });
      assert.match(verified.stdout, new RegExp(`, reached localhost:${port}, release `));
    }),
  ));

test('another host is refused, and the failure names it, its command and the line to add', () =>
  inWorld(async (world) => {
    await push(world, 'v1', {
      run: ask('https://evil.example.org/'),
      network: ['good.example.org'],
    });
    const done = await world.deploy([], REQUIRED);
    assert.is(done.status, 1);
    const event = world.events().at(-1);
    const [first] = String(event?.cause).split('\n');
    assert.match(
      first ?? '',
      /^it may not reach evil\.example\.org \(asked for by node -e fetch\(.*\); to allow it, add to build\.network of \.deploy\.yml: evil\.example\.org$/,
    );
    assert.match(
      done.stderr,
      /^ {2}it may not reach evil\.example\.org \(asked for by .* add to /m,
    );
    const last = await run('runner-debug', ['last-error', 'shop'], { root: world.root });
    assert.match(last.stdout, /it may not reach evil\.example\.org \(asked for by .* add to /);
    const [refused] = fieldOf(world, 'network_refused');
    assert.is(refused?.host, 'evil.example.org');
    assert.is(refused?.why, 'unlisted');
    // A command that goes on without what it needs leaves the failure to the next one.
    const evil = `${ask('https://evil.example.org/')} || true`;
    await push(world, 'v2', { run: [evil, 'exit 3'], network: ['good.example.org'] });
    assert.match(
      (await world.deploy([], REQUIRED)).stderr,
      /^build: `exit 3` ended with status 3; it may not reach evil\.example\.org \(asked for by node .* add to build\.network of \.deploy\.yml: evil\.example\.org$/m,
    );
  }));

test('after a failed build on_failure has its list, and new caches stay; what was refused before is named', () =>
  inWorld(async (world) => {
    const evil = ask('https://evil.example.org/');
    const cache = 'mkdir ~/.pnpm-store && touch ~/.pnpm-store/a';
    const network = ['a.example.org'];
    const build = JSON.stringify({ run: [cache, `${evil} || true`, evil], network });
    const registry = 'https://registry.example.org/';
    const on_failure = `touch $RUNNER_SHARED/ran; ${ask(registry)}`;
    const hooks = JSON.stringify({ on_failure, network: ['npm'] });
    const env = `instances: { default: { env: { npm_config_registry: "${registry}" } } }\n`;
    await world.push('v1', { deploy: `build: ${build}\nhooks: ${hooks}\n${env}` });
    const done = await world.deploy([], REQUIRED);
    assert.match(done.stderr, /^ {2}it may not reach evil\.example\.org /m);
    assert.match(done.stderr, /^runner deploy: hook: .*; there is no address of registry\.exa/m);
    const app = join(world.root, 'apps/shop');
    assert.ok(existsSync(join(app, 'instances/default/shared/ran')), done.stderr);
    assert.ok(existsSync(join(app, 'home/.pnpm-store/a')));
  }));

test('a program on the PATH of a commit is not run while the channel to runner is open', () =>
  inWorld(async (world) => {
    const script = (name: string) => `#!/bin/sh\necho null >&5\nexec /usr/bin/${name} "$@"\n`;
    const files = Object.fromEntries(
      ['env', 'setpriv'].map((name) => [`bin/${name}`, script(name)]),
    );
    const env = { PATH: './bin:/usr/local/bin:/usr/bin:/bin', UID: '5', NOTE: `a "b" $c\n'd` };
    const run = ['chmod +x bin/*', 'env; test "$NOTE" = "$(cat note)"'];
    const build = { run, network: ['good.example.org'] };
    const deploy = `instances: ${JSON.stringify({ default: { env } })}\nbuild: ${JSON.stringify(build)}\n`;
    await world.push('v1', { deploy, files: { ...files, note: env.NOTE } });
    const done = await world.deploy([], REQUIRED);
    assert.is(done.status, 0, done.stderr);
    assert.not.match(logOf(world), /RUNNER_LATER/);
    assert.match(logOf(world), /^PATH=\.\/bin:/m);
  }));

test("what a build leaves in its HOME does not widen the operator's list for hooks", () =>
  inWorld(async (world) => {
    appendFileSync(join(world.root, 'config.yml'), 'sandbox: { network: { shop: [npm] } }\n');
    const run = 'echo registry=https://evil.example.org/ > ~/.npmrc';
    const pre_switch = `${ask('https://evil.example.org/')} || true`;
    const hooks = JSON.stringify({ pre_switch, network: ['npm'] });
    await world.push('v1', { deploy: `build: ${JSON.stringify(run)}\nhooks: ${hooks}\n` });
    const done = await world.deploy([], REQUIRED);
    assert.is(done.status, 0, done.stderr);
    const refused = fieldOf(world, 'network_refused').map(({ host, why }) => `${host} ${why}`);
    assert.equal(refused, ['evil.example.org unlisted']);
  }));

sandbox.run();
