/** `runner verify`: what runs is what was deployed. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import * as assert from 'uvu/assert';
import { makeWorld, worldSuite } from '../deploys/world.ts';
import { makeUnitWorld } from './unit-world.ts';
import { deployed, releaseOf, relink, sha256, verify } from './verify.ts';

const test = worldSuite('verify');
/** The next letter of base64. */
const NEXT: Record<string, string> = { A: 'B', Q: 'R', g: 'h', w: 'x' };

test('units and the file with the secrets are looked at; no value is printed', async () => {
  const world = await makeUnitWorld();
  await world.push('v1', { deploy: 'start: { type: systemd, unit: shop.service }\n' });
  const made = await world.deploy([], world.env);
  assert.is(made.status, 0, made.stderr);
  const good = await world.verify();
  assert.is(good.status, 0, good.stdout + good.stderr);
  const set = ['set', 'shop', 'TOKEN', '--file', '-'];
  await run('runner-env', set, { root: world.root, env: world.env, stdin: 'not-yet-used-value-9' });
  assert.is((await world.verify()).status, 0, 'what was started has the value from before');
  const env = world.envFile;
  assert.match(readFileSync(env, 'utf8'), /^TOKEN="correct-horse-battery-7"\n$/);
  writeFileSync(env, 'TOKEN="correct-horse-battery-8"\n');
  appendFileSync(world.unit, '# x\n');
  unlinkSync(world.dropIn);
  const bad = await world.verify();
  assert.is(bad.status, 1);
  for (const line of [
    `env: ${env} has changed`,
    `unit: ${world.unit} has changed`,
    `unit: ${world.dropIn} has changed`,
  ])
    assert.ok(bad.stdout.includes(`  ${line}\n`), bad.stdout);
  assert.not.match(bad.stdout + bad.stderr, /battery/);
  unlinkSync(env);
  assert.match((await world.verify()).stdout, / {2}env: default\.env is gone\n/);
  await world.close();
});

test('with traffic the links of the slot are looked at', async () => {
  const world = await makeWorld({ parent: '/tmp' });
  await world.git.commit(
    'acme/shop',
    { ...trafficFiles('v1'), '.deploy.yml': trafficFile() },
    'v1',
  );
  assert.is((await world.deploy()).status, 0);
  const good = await verify(world);
  assert.is(good.status, 0, good.stdout);
  const instance = join(world.root, 'apps/shop/instances/default');
  const slot = readlinkSync(join(instance, 'live'));
  for (const [path, target] of [
    ['live', slot === 'a' ? 'b' : 'a'],
    ['current', `${slot}/current`],
    [`${slot}/current`, '../../../releases/other'],
  ] as const) {
    const before = readlinkSync(join(instance, path));
    relink(join(instance, path), target);
    const bad = await verify(world);
    assert.is(bad.status, 1);
    assert.ok(bad.stdout.includes(`  link: ${join(instance, path)} has changed\n`), bad.stdout);
    relink(join(instance, path), before);
  }
  assert.is((await run('runner-stop', ['shop'], { root: world.root })).status, 0);
  const stopped = await verify(world);
  assert.is(stopped.status, 0, stopped.stdout);
  relink(join(instance, 'live'), slot === 'a' ? 'b' : 'a');
  assert.is((await verify(world)).status, 1);
  relink(join(instance, 'live'), slot);
  writeFileSync(join(instance, slot, 'env'), 'PORT=1\n');
  assert.match((await verify(world)).stdout, / {2}env: \S+\/env has changed\n/);
  await world.close();
});

test('a statement is verified on another machine, by runner and by openssl', async ({ world }) => {
  const early = await verify(world, '--public-key');
  assert.match(
    early.stderr,
    /there is no key yet: the first deploy makes it \(version_not_found\)/,
  );
  const commit = await deployed(world);
  const folder = temporaryFolder('elsewhere');
  const [file, key, copy] = ['shop.json', 'server.pub', 'copy'].map((each) =>
    join(folder, each),
  ) as [string, string, string];
  writeFileSync(key, (await verify(world, '--public-key')).stdout);
  const { stdout: text } = await verify(world, 'shop', '--statement');
  writeFileSync(file, text);
  const success = world.events().find(({ event_type }) => event_type === 'DeploySuccess');
  assert.is(success?.statement, sha256(text));
  execFileSync('cp', ['-a', releaseOf(world), copy]);
  const check = (...args: string[]) =>
    run('runner-verify', [...args, '--key', key], { root: join(folder, 'none'), stdin: text });
  const good = await check(file, '--tree', copy);
  assert.is(good.status, 0, good.stdout + good.stderr);
  assert.match(good.stdout, /^shop v1, commit /);
  assert.match(good.stdout, /shop\.json: as it was deployed\n$/);
  const alone = await check('-');
  assert.is(alone.status, 0, alone.stderr);
  assert.match(
    alone.stdout,
    /\n-: the signature is good; no release was compared: add --tree DIR\n$/,
  );
  assert.is(JSON.parse((await check('-', '--json')).stdout).compared, false);
  const { payloadType, payload, signatures } = JSON.parse(text);
  const bytes = Buffer.from(payload, 'base64');
  const [{ keyid, sig }] = signatures;
  // Of the last character of 64 bytes in base64 four bits do not count.
  const padded = sig.replace(/.==$/, (end: string) => `${NEXT[end[0] as string]}==`);
  for (const changed of [
    { keyid: keyid.replace(/^./, (first: string) => (first === '0' ? '1' : '0')), sig },
    { keyid, sig: sig.replace('==', '=') },
    { keyid, sig: `${sig}\n` },
    { sig },
    { keyid, sig: padded },
  ]) {
    writeFileSync(file, JSON.stringify({ payloadType, payload, signatures: [changed] }));
    assert.match((await check(file)).stdout, /has no good signature of the server's key/);
  }
  writeFileSync(
    join(folder, 'pae'),
    Buffer.concat([
      Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `),
      bytes,
    ]),
  );
  writeFileSync(join(folder, 'sig'), Buffer.from(signatures[0].sig, 'base64'));
  const openssl = [
    'pkeyutl',
    '-verify',
    '-pubin',
    '-inkey',
    key,
    '-rawin',
    '-in',
    'pae',
    '-sigfile',
    'sig',
  ];
  assert.match(
    execFileSync('openssl', openssl, { cwd: folder }).toString(),
    /Verified Successfully/,
  );
  const statement = JSON.parse(bytes.toString());
  assert.equal(
    [statement._type, statement.predicateType, statement.subject[0].digest.sha256],
    ['https://in-toto.io/Statement/v1', 'https://slsa.dev/provenance/v1', success?.tree],
  );
  const { resolvedDependencies: from } = statement.predicate.buildDefinition;
  assert.is(from[0].digest.gitCommit, commit);
  appendFileSync(join(copy, 'dist/main.js'), 'x');
  const changed = await check(file, '--tree', copy);
  assert.is(changed.status, 1);
  assert.match(changed.stdout, / {2}release: \S+copy has changed\n/);
  const forged = {
    ...statement,
    subject: [{ ...statement.subject[0], digest: { sha256: sha256('x') } }],
  };
  writeFileSync(
    file,
    JSON.stringify({
      payloadType,
      payload: Buffer.from(JSON.stringify(forged)).toString('base64'),
      signatures,
    }),
  );
  const bad = await check(file);
  assert.match(bad.stdout, /has no good signature of the server's key/);
  assert.is(bad.status, 1);
  writeFileSync(file, '{}');
  assert.match((await check(file)).stderr, /is no statement about a release \(signature_invalid\)/);
});

test('of instances on different versions one statement is asked for by name', async ({ world }) => {
  const two = 'instances: { blue: {}, green: {} }\n';
  await world.launch('v1', { deploy: two });
  assert.is((await verify(world, 'shop', '--statement')).status, 0);
  await world.push('v2', { deploy: two });
  assert.is((await world.deploy(['--instance', 'green'])).status, 0);
  const unclear = await verify(world, 'shop', '--statement');
  assert.is(unclear.status, 2);
  assert.match(unclear.stderr, /run different releases \(blue v1, green v2\): add --instance/);
  for (const [name, version] of [
    ['blue', 'v1'],
    ['green', 'v2'],
  ] as const) {
    const { stdout, stderr } = await verify(world, 'shop', '--statement', '--instance', name);
    assert.ok(stdout, stderr);
    const text = Buffer.from(JSON.parse(stdout).payload, 'base64').toString();
    assert.match(text, `"version":"${version}"`);
  }
});

test('a rollback makes no new statement, prune removes old ones, and an older release has none', async ({
  world,
}) => {
  await deployed(world);
  const files = join(world.root, 'apps/shop/files');
  const first = readdirSync(files);
  assert.is(first.length, 3);
  await deployed(world, 'v2');
  assert.is((await run('runner-rollback', ['shop'], { root: world.root })).status, 0);
  assert.is(readdirSync(files).length, 6);
  const back = await verify(world);
  assert.is(back.status, 0, back.stdout);
  assert.match(back.stdout, /^default: v1,/);
  for (const version of ['v3', 'v4', 'v5', 'v6']) await deployed(world, version);
  assert.equal(
    readdirSync(files).filter((each) => first.includes(each)),
    [],
  );

  const log = join(world.root, 'logs/deploy-events.jsonl');
  writeFileSync(log, readFileSync(log, 'utf8').replaceAll(/,"tree":"\w+","statement":"\w+"/g, ''));
  for (const each of readdirSync(files)) if (!each.endsWith('.yml')) unlinkSync(join(files, each));
  const old = await verify(world);
  assert.is(old.status, 0, old.stdout);
  assert.match(old.stdout, /note: no statement: it was deployed by an older version of runner\n/);
});

test('root may look at the root of another user, and leaves nothing of its own there', async ({
  world,
}) => {
  if (process.getuid?.() !== 0) return;
  await deployed(world);
  execFileSync('chown', ['-R', '65534:65534', world.root]);
  const { status, stdout, stderr } = await verify(world);
  assert.is(status, 0, stdout + stderr);
  assert.match((await verify(world, 'shop', '--statement')).stdout, /^\{"payloadType"/);
  assert.is(execFileSync('find', [world.root, '-user', 'root']).toString(), '');
  const refused = await verify(world, 'shop', '--last', '3');
  assert.match(refused.stderr, /runner verify shop --last 3 --root \S+ \(guard_tripped\)/);
  execFileSync('chown', ['-R', '0:0', world.root]);
});

test('a malformed key ends the deploy before the switch, and what runs stays', async ({
  world,
}) => {
  await deployed(world);
  const before = world.current();
  const key = join(world.root, 'statement.key');
  await world.push('v2', { deploy: 'build: touch built\n' });
  const doctor = async () => run('runner-doctor', ['--offline'], { root: world.root });
  chmodSync(key, 0o644);
  assert.match(
    (await doctor()).stdout,
    /problem +keys .* others may read .*\n +chmod 600 \S+key\n/,
  );
  assert.match((await world.deploy()).stderr, /release: not to be trusted: others may read/);
  chmodSync(key, 0o600);
  writeFileSync(key, 'x');
  assert.match((await doctor()).stdout, /statement\.key does not hold a key: .*\n +rm \S+key\n/);
  const failed = await world.deploy();
  assert.is(failed.status, 1);
  assert.match(
    failed.stderr,
    /statement\.key does not hold a key: restore it, or run rm \S+ for a new one/,
  );
  assert.is(world.current(), before);
  const log = readFileSync(String(world.events().at(-1)?.log), 'utf8');
  assert.not.match(log, /\$ touch/, 'it was not built');
  assert.is((await run('runner-verify', ['shop'], { root: world.root })).status, 1);
  unlinkSync(key);
  assert.match((await verify(world)).stdout, /has no good signature/);
  assert.is((await world.deploy()).status, 0);
  assert.is((await verify(world)).status, 0);
});

test.run();
