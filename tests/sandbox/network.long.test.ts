/** A build that may reach only some hosts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asNobody, preloading, run, shell } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { inWorld, makeWorld } from '../deploys/world.ts';
import { ask, fieldOf, push, REQUIRED, sandbox, test, withServer } from './network.ts';

/** Lets runner find these hosts; every connection to one of them leads to a server that says nothing. */
function internet(hosts: Record<string, string>): Record<string, string> {
  const file = join(temporaryFolder('internet'), 'internet.js');
  const text = `const dns = require('dns'), net = require('net');
const hosts = ${JSON.stringify(hosts)}, { connect } = net;
dns.promises.lookup = async (host) => {
  if (!hosts[host]) throw new Error('no such host');
  return [{ address: hosts[host], family: 4 }];
};
net.connect = (to, ...rest) => {
  if (!Object.values(hosts).includes(to.host)) return connect(to, ...rest);
  const server = net.createServer((socket) => { socket.end(); server.close(); }).listen(0);
  return connect({ ...to, host: '127.0.0.1', port: server.address().port }, ...rest);
};
`;
  writeFileSync(file, text);
  return preloading(file);
}

test('other ports, requests without a host, and names without an address are named', () =>
  inWorld(async (world) => {
    if (spawnSync('ip', ['-V']).status !== 0) return;
    const list = ['good.example.org', 'lost.example.org', 'good.example.org:80'];
    const tell = (host: string, port: number, what: string) =>
      `node -e "const s = require('net').connect(${port}, '${host}', () => s.end('${what}')).on('error', () => {}).on('close', () => {}).resume()"`;
    const own = `const s = require('net').createServer((c) => c.end()).listen(5000, () => require('net').connect(5000, '127.0.0.1').on('close', () => s.close()))`;
    const asks = [
      tell('198.51.100.7', 4444, ''),
      tell('2001:db8::7', 4445, ''),
      tell('good.example.org', 8443, ''),
      tell('good.example.org', 80, 'GET / HTTP/1.0\\r\\n\\r\\n'),
      tell('good.example.org', 80, 'GET / HTTP/1.1\\r\\nHost: localhost, evil.test\\r\\n\\r\\n'),
      'node -e "fetch(\'https://evil.example.org/\').catch(() => {})"',
      'node -e "fetch(\'https://lost.example.org/\').catch(() => {})"',
      `node -e "${own}"`,
    ];
    await push(world, 'v1', { run: asks.map((each) => `time ${each}`), network: list });
    const env = { ...REQUIRED, ...internet({ 'good.example.org': '198.51.100.8' }) };
    const done = await world.deploy([], env);
    assert.is(done.status, 0, done.stderr);
    const refused = fieldOf(world, 'network_refused');
    assert.equal(
      refused.map(({ host, port, why, count }) => [host, port, why, count]),
      [
        ['198.51.100.7', 4444, 'address', 1],
        ['2001:db8::7', 4445, 'address', 1],
        ['good.example.org', 8443, 'unlisted', 1],
        ['?', 80, 'other_name', 1],
        ['localhost, evil.test', 80, 'other_name', 1],
        ['evil.example.org', undefined, 'unlisted', 1],
        ['lost.example.org', 443, 'lookup', 1],
      ],
    );
    assert.match(String(refused[0]?.by), /^node -e const s = /);
    assert.match(
      done.stderr,
      /build\.network: refused: 198\.51\.100\.7:4444, \[2001:db8::7\]:4445, good\.example\.org:8443, a host that a request to port 80 does not name, "localhost, evil\.test":80, evil\.example\.org$/m,
    );
    assert.match(done.stderr, /build\.network: there is no address of: lost\.example\.org$/m);
    await push(world, 'v2', { run: [ask('https://lost.example.org/')], network: list });
    assert.is((await world.deploy([], env)).status, 1);
    const event = world.events().at(-1);
    assert.match(
      `${event?.error} ${event?.cause}`,
      /there is no address of lost\.example\.org \(asked for by node -e fetch/,
    );
  }));

test('a commit that widens its list is named in the record and in changes', () =>
  inWorld(async (world) => {
    await push(world, 'v1', { run: 'true', network: ['a.example.org'] });
    assert.is((await world.deploy([], REQUIRED)).status, 0);
    await push(world, 'v2', { run: 'true', network: ['a.example.org', '*.b.example.org'] });
    const listed = await run('runner-changes', ['shop'], { root: world.root });
    assert.is(listed.status, 0, listed.stderr);
    assert.match(listed.stdout, /^network: may now reach \*\.b\.example\.org$/m);
    assert.is((await world.deploy([], REQUIRED)).status, 0);
    const { changes } = world.events().at(-1) as { changes: Record<string, unknown> };
    assert.equal(changes.network_added, ['*.b.example.org']);
    // Also after a file that was accepted before a rule.
    const lists =
      'build: { run: "true", network: [a.example.org] }\nstart: { type: command, run: "true" }\n';
    await world.push('v3', { deploy: `${lists}watch: { for: 5m, latency: 3x }\n` });
    await world.deploy([], REQUIRED);
    await push(world, 'v4', { run: 'true', network: ['a.example.org', 'c.example.org'] });
    const later = await run('runner-changes', ['shop', 'v3', 'v4'], { root: world.root });
    assert.match(later.stdout, /^network: may now reach c\.example\.org$/m, later.stderr);
  }));

test("the operator's list bounds that of a commit, and what is outside is named", () =>
  inWorld((world) =>
    withServer(async (port) => {
      const local = `localhost:${port} private`;
      const config = JSON.stringify({ shop: [local] });
      const path = join(world.root, 'config.yml');
      const before = readFileSync(path, 'utf8');
      appendFileSync(path, `sandbox: { network: ${config} }\n`);
      const asks = ask(`http://localhost:${port}/`);
      await push(world, 'v1', { run: asks });
      const plain = await world.deploy([], REQUIRED);
      assert.is(plain.status, 0, plain.stderr);
      const evil = ask('https://evil.example.org/');
      await push(world, 'v2', { run: [asks, evil], network: [local, 'evil.example.org'] });
      const bounded = await world.deploy([], REQUIRED);
      assert.is(bounded.status, 1);
      assert.match(
        bounded.stderr,
        /build\.network: evil\.example\.org is refused: it is not in sandbox\.network\.shop of config\.yml/,
      );
      assert.match(
        String(world.events().at(-1)?.cause),
        /to allow it, add to sandbox\.network\.shop of config\.yml: evil\.example\.org/,
      );
      writeFileSync(path, `${before}build: { network: ["${local}"] }\n`);
      const build = { run: asks, network: [local, 'cargo', 'b.example.org'] };
      const cargo = '[registries.own]\nindex = "sparse+https://crates.example.org/"\n';
      const deploy = `build: ${JSON.stringify(build)}\n`;
      await world.push('v3', { deploy, files: { '.cargo/config.toml': cargo } });
      const of = 'in build.network of config.yml';
      const checked = await world.deploy(['--check', '--json'], REQUIRED);
      assert.is(checked.status, 0, checked.stderr);
      assert.equal(JSON.parse(checked.stdout).warnings, [
        `build.network: cargo is refused, unless its hosts are listed: it is not ${of}`,
        `build.network: b.example.org is refused: it is not ${of}`,
      ]);
      const third = await world.deploy([], REQUIRED);
      assert.is(third.status, 0, third.stderr);
      for (const line of [
        `build.network: cargo is refused: crates.example.org is not ${of}`,
        `build.network: b.example.org is refused: it is not ${of}`,
      ])
        assert.ok(third.stderr.includes(line), third.stderr);
      await push(world, 'v4', { run: asks });
      for (const wrong of ['{ network: [1] }', '{ min_package_age: x }', '{ netwrk: true }']) {
        writeFileSync(path, `${before}build: ${wrong}\n`);
        for (const args of [['--check'], []]) {
          const refused = await world.deploy(args, REQUIRED);
          assert.is(refused.status, 1, wrong);
          assert.match(refused.stderr, /config\.yml:\d+: build\..*\(config_invalid\)/);
        }
      }
      assert.is(world.state().attempts, null);
    }),
  ));

test('hooks and jobs may have a list, too', () =>
  inWorld(async (world) => {
    const evil = ask('https://evil.example.org/');
    const hooks = JSON.stringify({ pre_switch: evil, network: ['a.example.org'] });
    await world.push('v1', { deploy: `hooks: ${hooks}\n` });
    const done = await world.deploy([], REQUIRED);
    assert.is(done.status, 1);
    assert.match(
      String(world.events().at(-1)?.cause),
      /^it may not reach evil\.example\.org .* add to hooks\.network of \.deploy\.yml: evil\.example\.org\n/,
    );
    const jobs = { nightly: { run: evil, at: '03:00', network: ['a.example.org'] } };
    await world.push('v2', { deploy: `jobs: ${JSON.stringify(jobs)}\n` });
    assert.is((await world.deploy([], REQUIRED)).status, 0);
    const root = world.root;
    const args = ['run', 'shop', 'nightly', '--json'];
    const job = await run('runner-jobs', args, { root, env: REQUIRED });
    assert.is(job.status, 1, job.stderr);
    const log = readFileSync(String(JSON.parse(job.stdout).log), 'utf8');
    assert.match(log, /^it may not reach evil\.example\.org .* add to jobs\.nightly\.network/m);
    const shown = await run('runner-jobs', ['run', 'shop', 'nightly'], { root, env: REQUIRED });
    assert.match(
      shown.stdout,
      /ended with status 1; it may not reach evil\.example\.org .* jobs\.nightly\.network of/,
    );
  }));

test('learn lets public hosts through, and prints the list', () =>
  inWorld(async (world) => {
    const asks =
      "node -e \"require('net').connect(22, 'git.example.org').on('connect', () => console.log('through')).on('close', () => process.exit())\"";
    await push(world, 'v1', { run: asks, network: 'learn' });
    const hosts = internet({ 'git.example.org': '198.51.100.7' });
    const done = await world.deploy([], { ...REQUIRED, ...hosts });
    assert.is(done.status, 0, done.stderr);
    assert.match(
      done.stderr,
      /build\.network: to allow what was reached: \["git\.example\.org:22"\]/,
    );
  }));

test('it is the same for an ordinary user', async () => {
  const isReachable = (await shell(`${asNobody('runner-deploy')} --help`)).status === 0;
  if (process.geteuid?.() !== 0 || !isReachable) return;
  const world = await makeWorld({ parent: '/tmp' });
  try {
    await withServer(async (port) => {
      const asks = ask(`http://localhost:${port}/`);
      const evil = ask('https://evil.example.org/');
      const elsewhere = `${ask('http://198.51.100.7:4444/')} || true`;
      const list = [`localhost:${port} private`];
      await push(world, 'v1', {
        run: [asks, 'grep CapEff /proc/self/status', elsewhere, evil],
        network: list,
      });
      const top = dirname(world.root);
      execFileSync('chown', ['-R', '65534:65534', top]);
      const options = { root: world.root, env: { ...REQUIRED, HOME: top, TMPDIR: top } };
      const done = await shell(`cd / && ${asNobody('runner-deploy')} shop`, options);
      assert.is(done.status, 1, done.stderr);
      const log = readFileSync(String(world.events().at(-1)?.log), 'utf8');
      assert.match(log, /got 200 hello/);
      assert.match(log, /CapEff:\t0{16}\n/);
      assert.match(String(world.events().at(-1)?.cause), /^it may not reach evil\.example\.org \(/);
      assert.is(fieldOf(world, 'network')[0]?.host, 'localhost');
      const isNamed = fieldOf(world, 'network_refused').some(({ port: to }) => to === 4444);
      assert.is(isNamed, spawnSync('ip', ['-V']).status === 0);
    });
  } finally {
    await world.close();
  }
});

test('where the sandbox does not work, a list is refused', () =>
  inWorld(async (world) => {
    await push(world, 'v1', { run: 'true', network: ['a.example.org'] });
    const done = await world.deploy([], { RUNNER_SANDBOX: 'off' });
    assert.is(done.status, 1);
    const why =
      'the network cannot be limited here: the sandbox is switched off in config.yml or by RUNNER_SANDBOX';
    assert.match(String(world.events().at(-1)?.error), why);
    assert.not.match(done.stderr, /failed +export/);
    appendFileSync(
      join(world.root, 'config.yml'),
      'sandbox: { mode: off, network: { shop: [npm] } }\n',
    );
    await push(world, 'v2', { run: 'true' });
    const checked = await world.deploy(['--check', '--json'], {});
    assert.is(checked.status, 1);
    assert.equal(JSON.parse(checked.stdout).problems, [`build.network: ${why}`]);
  }));

sandbox.run();
