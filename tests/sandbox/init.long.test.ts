/** `runner init` writes which hosts a build reaches. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { preloading, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { inWorld } from '../deploys/world.ts';
import { REQUIRED, sandbox, test, withServer } from './network.ts';

const SERVER = `require('node:http').createServer((req, res) => res.end('ok')).listen(process.env.PORT);\n`;
const HINT = '# Safer: build: { run: …, network: [npm] }; network: learn lists the hosts it needs.';

/** A build on npm whose second command is a program. */
const repository = (build: string, dependencies: object = {}) => ({
  'package.json': JSON.stringify({
    scripts: { build: 'node build.js', start: 'node server.js' },
    dependencies,
  }),
  '.npmrc': 'registry=http://registry.example.org/\nfetch-retries=0\n',
  'build.js': build,
  'server.js': SERVER,
});

function laidOut(files: Record<string, string>): string {
  const folder = join(temporaryFolder('repository'), 'shop');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function initIn(files: Record<string, string>, env: Record<string, string>, config = '') {
  const folder = laidOut(files);
  const root = join(temporaryFolder('root'), 'root');
  mkdirSync(root);
  if (config) writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  const ended = await run('runner-init', [folder, '--yes', '--json'], { root, env });
  const answer = JSON.parse(ended.stdout);
  return { ...ended, answer, file: readFileSync(join(folder, '.deploy.yml'), 'utf8') };
}

/** Hosts with public addresses, all of which are a registry with one package, whose files are on another host. */
async function withRegistry(body: (env: Record<string, string>) => Promise<void>): Promise<void> {
  const folder = temporaryFolder('package');
  mkdirSync(join(folder, 'package'));
  const made = { name: 'pad', version: '1.0.0', main: 'index.js' };
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify(made));
  writeFileSync(join(folder, 'package/index.js'), 'module.exports = (text) => text;\n');
  execFileSync('tar', ['-czf', 'pad.tgz', 'package'], { cwd: folder });
  const dist = { tarball: 'http://tarballs.example.org/pad.tgz' };
  const about = { name: 'pad', 'dist-tags': { latest: '1.0.0' } };
  const metadata = JSON.stringify({ ...about, versions: { '1.0.0': { ...made, dist } } });
  const server = createServer((request, answer) => {
    if (request.url === '/pad') answer.end(metadata);
    else if (request.url === '/pad.tgz') answer.end(readFileSync(join(folder, 'pad.tgz')));
    else answer.end('hello');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const preload = join(folder, 'internet.js');
  writeFileSync(
    preload,
    `const dns = require('dns'), net = require('net'), { connect } = net;
dns.promises.lookup = async (host) => {
  if (!host.endsWith('.example.org')) throw new Error('no such host');
  return [{ address: '198.51.100.7', family: 4 }];
};
net.connect = (to, ...rest) =>
  connect(to.host === '198.51.100.7' ? { ...to, host: '127.0.0.1', port: ${port} } : to, ...rest);
`,
  );
  try {
    await body({ ...REQUIRED, ...preloading(preload) });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const FILES = repository(
  `require('pad'); fetch('http://files.example.org/').then((r) => r.text()).then((text) => process.exit(text === 'hello' ? 0 : 1));\n`,
  { pad: '1.0.0' },
);

test('what a build reaches becomes its list, and a deploy with that list passes', () =>
  withRegistry((env) =>
    inWorld(async (world) => {
      const { status, answer, file, stderr } = await initIn(FILES, env);
      assert.is(status, 0, stderr);
      const list = ['npm', 'files.example.org:80', 'tarballs.example.org:80'];
      assert.equal(answer.proof.network, list);
      const [network] = answer.settings.filter((each: { key: string }) => /network/.test(each.key));
      assert.equal(network, {
        key: 'build.network',
        value: list,
        reason: 'learned from a build: what it reached, and the servers of its package manager',
      });
      assert.match(file, / {2}network:\n {4}- npm\n {4}- files\.example\.org:80\n/);
      assert.not.match(file, 'Safer');
      const deploy = file.replace('PORT: "3000"', `PORT: "${world.port}"`).replace('10m', '1m');
      await world.push('v1', { deploy, files: FILES });
      const done = await world.deploy([], env);
      assert.is(done.status, 0, done.stderr);
      assert.is(world.events().at(-1)?.network_refused, undefined);
      // Its HOME has downloads now, which would hide hosts.
      const again = await run('runner-init', ['--app', 'shop', '--force'], {
        root: world.root,
        env: { ...env, TMPDIR: temporaryFolder('scratch') },
      });
      assert.match(again.stdout, HINT, again.stderr);
      assert.not.match(again.stdout, '  network:');
    }),
  ));

test('a build that reaches nothing keeps the set of its package manager', async () => {
  const { status, answer, stderr } = await initIn(repository(''), REQUIRED);
  assert.is(status, 0, stderr);
  assert.equal(answer.proof.network, []);
  assert.match(answer.file, '  network:\n    - npm\n');
});

test('a build that fails for what is refused is proven without a list', () =>
  withServer(async (port) => {
    const build = `fetch('http://localhost:${port}/').catch(() => process.exit(1));\n`;
    const { status, answer, file, stderr } = await initIn(repository(build), REQUIRED);
    assert.is(status, 0, stderr);
    assert.match(stderr, 'build failed while its hosts were learned: it is tried again without');
    assert.is(answer.proof.result, 'proven');
    assert.not.ok('network' in answer.proof);
    assert.match(file, HINT);
    assert.not.match(file, '  network:');
  }));

test('nothing is written where a list has no use: no sandbox, a proxy, a list of the operator', async () => {
  for (const [env, config] of [
    [{ RUNNER_SANDBOX: 'off' }, ''],
    [{ ...REQUIRED, https_proxy: 'http://127.0.0.1:9' }, ''],
    [REQUIRED, 'sandbox: { network: { shop: [a.example.org] } }\n'],
    [REQUIRED, 'build: { network: false }\n'],
  ] as const) {
    const { status, answer, file, stderr } = await initIn(repository(''), env, config);
    assert.is(status, 0, stderr);
    assert.is(answer.proof.result, 'proven');
    assert.match(file, HINT);
    assert.not.match(file, '  network:');
  }
});

sandbox.run();
