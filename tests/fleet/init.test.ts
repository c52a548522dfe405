/** `fleet init`, `fleet add` and `agent init`: what is not an address, a name or a file is refused, and nothing is written. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FleetServer } from '../../libs/fleet/src/files/operator.ts';
import { makeOperator, must, resultIn } from './world.ts';

const GOOD = 'nats://127.0.0.1:4222';

test('an address without a host or port, with a path or a password, is refused', async () => {
  const root = temporaryFolder('init');
  const bad = [
    ...['x', 'tls://', 'tls://:4222', 'tls://host', 'tls://host:x', 'tls://host:99999'],
    ...['tls://host:4222/path', 'nats://10.0.0.1:4222', 'tls://user:secret@host:4222'],
  ];
  const ended = await Promise.all(
    bad.flatMap((broker) => [
      run('runner-fleet', ['init', '--broker', broker], { root }),
      run('runner-agent', ['init', 'web1', '--broker', broker], { root }),
    ]),
  );
  for (const { status, stdout, stderr } of ended) {
    assert.equal([status, stdout], [1, ''], stderr);
    assert.match(
      stderr,
      /^runner (fleet|agent) init: the broker's address .* \(insecure_address\)\n$/,
    );
    assert.not.match(stderr, /secret|REDACTED/);
  }
  assert.not(existsSync(join(root, 'fleet')) || existsSync(join(root, 'agent')));
});

test('a name that allowed_signers cannot have, and a file that does not exist, are refused', async () => {
  const root = temporaryFolder('init');
  const init = (...args: string[]) =>
    run('runner-fleet', ['init', '--broker', GOOD, ...args], { root });
  for (const args of [
    ['--by', 'a b'],
    ['--key', 'nowhere'],
    ['--ca', 'nowhere'],
  ]) {
    const { status, stderr } = await init(...args);
    assert.equal([status, stderr.includes(`'${args[0]} <`)], [2, true], stderr);
  }
  assert.not(existsSync(join(root, 'fleet')));
});

test('an authority without the broker it is of is refused', async () => {
  const root = temporaryFolder('init');
  const { status, stderr } = await run('runner-agent', ['init', 'web1', '--ca', 'ca.pem'], {
    root,
  });
  assert.equal([status, existsSync(join(root, 'agent'))], [2, false]);
  assert.match(stderr, '--ca is of a broker: add --broker <URL>');
});

test('what is there is kept, and what was given otherwise is named', async () => {
  const root = temporaryFolder('init');
  const fleet = (...args: string[]) => run('runner-fleet', ['init', ...args], { root });
  const made = await fleet('--broker', GOOD, '--by', 'alice', '--json');
  assert.equal([made.status, made.stderr], [0, '']);
  const same = await fleet('--broker', GOOD, '--json');
  assert.equal([same.status, same.stderr], [0, '']);
  const results = [made, same].map(({ stdout }) => JSON.parse(stdout).result as string);
  assert.equal(results, ['created', 'kept']);
  const file = join(root, 'fleet/fleet.yml');
  const before = readFileSync(file, 'utf8');
  const other = await fleet('--broker', 'nats://127.0.0.1:9', '--by', 'bob');
  assert.equal([other.status, other.stdout.split('\n')[0]], [0, `Kept ${file}`]);
  const lines = 'url: "nats://127.0.0.1:9", by: "bob"';
  assert.is(other.stderr, `runner fleet init: ${file} is kept, and does not have: ${lines}\n`);
  assert.is(readFileSync(file, 'utf8'), before);
  const agent = (...args: string[]) => run('runner-agent', ['init', ...args], { root });
  const first = await agent('web1', '--broker', GOOD);
  assert.equal([first.status, first.stderr], [0, '']);
  const again = await agent('web2', '--broker', 'nats://127.0.0.1:9');
  assert.equal([again.status, again.stdout], [0, first.stdout]);
  const config = join(root, 'agent/agent.yml');
  const given = 'server: "web2", url: "nats://127.0.0.1:9"';
  assert.is(again.stderr, `runner agent init: ${config} is kept, and does not have: ${given}\n`);
});

test('a server may have a name that YAML takes for a number', async () => {
  for (const name of ['7', '1e3', 'null', 'true']) {
    const root = temporaryFolder('init');
    await must(run('runner-agent', ['init', name], { root }));
    const keys = JSON.parse(await must(run('runner-agent', ['keys', '--json'], { root })));
    assert.is(keys.server, name);
  }
});

test('a file of an order that is damaged hides no other', async () => {
  const root = temporaryFolder('init');
  const agent = (...args: string[]) => run('runner-agent', args, { root });
  await must(agent('init', 'web1'));
  mkdirSync(join(root, 'agent/orders'));
  const damaged = ['{}', '{"order":{"body":"{}"}}', '{"order":5,"result":5}'];
  for (const [at, text] of damaged.entries())
    writeFileSync(join(root, `agent/orders/r-0000000${at}.json`), text);
  const { status, stdout, stderr } = await agent('status', '--json');
  assert.equal([status, JSON.parse(stdout).orders, stderr], [0, [], '']);
});

test('add keeps the groups and the keys that a server had, also after remove', async () => {
  const { root, fleet, enrol } = await makeOperator();
  const [one, other] = [temporaryFolder('web1'), temporaryFolder('web1-again')];
  const known = async () =>
    (JSON.parse(await must(fleet(['list', '--json']))) as { servers: FleetServer[] }).servers[0];
  await enrol('web1', one, 'web,db');
  const before = await known();
  await enrol('web1', one);
  assert.equal(await known(), before);
  await must(fleet(['remove', 'web1']));
  await enrol('web1', other, 'web');
  const after = await known();
  assert.equal([after?.groups, after?.former], [['web'], [before?.key]]);
  assert.is.not(after?.key, before?.key);
  const stdin = await must(run('runner-agent', ['keys'], { root: other }));
  const same = await fleet(['add', 'web1', '--group', 'web1'], { stdin });
  assert.equal([same.status, /name_invalid/.test(same.stderr)], [1, true], same.stderr);
  const wrong = await fleet(['add', 'web1', '--group', 'a b'], { stdin });
  assert.equal([wrong.status, /lower-case letters/.test(wrong.stderr)], [2, true], wrong.stderr);
  assert.equal(readdirSync(join(root, 'fleet/servers')), ['web1.json']);
});

test('a file without a key is named', async () => {
  const root = temporaryFolder('init');
  assert.is((await run('runner-agent', ['init', 'web1', '--broker', GOOD], { root })).status, 0);
  const file = join(root, 'agent/sign.key');
  writeFileSync(file, 'junk\n');
  const { status, stderr } = await run('runner-agent', ['keys'], { root });
  assert.is(status, 1);
  assert.is(stderr, `runner agent keys: ${file} does not hold a key (fleet_not_configured)\n`);
});

test('an order whose signature cannot be checked for want of a temporary folder has failed', async () => {
  const { signed, enrol } = await makeOperator();
  const root = temporaryFolder('web1');
  await enrol('web1', root);
  const env = { TMPDIR: '/nonexistent' };
  const ended = await run('runner-agent', ['exec'], { root, stdin: signed('hold', 'shop'), env });
  const { status, code, message } = resultIn(ended.stdout);
  assert.equal([status, code], ['failed', 'not_writable'], ended.stderr);
  assert.match(String(message), 'cannot verify the signature with a file in /nonexistent: it does');
});

test('an order for a server that is not in the fleet is not sent to the others alone', async () => {
  const { fleet, enrol } = await makeOperator();
  for (const server of ['web1', 'web2']) await enrol(server, temporaryFolder(server));
  const order = await must(fleet(['order', 'hold', 'shop']));
  const stdin = await must(fleet(['sign'], { stdin: order }));
  await must(fleet(['remove', 'web2']));
  const { status, stdout, stderr } = await fleet(['send'], { stdin });
  assert.equal([status, stdout], [1, '']);
  assert.match(stderr, /line 1 is for 'web2', which is not in this fleet: .* \(server_unknown\)/);
});

test.run();
