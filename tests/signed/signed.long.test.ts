import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { suiteOf, type World } from '../deploys/world.ts';
import { edit, fetch, keyFile, line, makeSignedWorld } from './signed.ts';

const test = suiteOf('signed commits', makeSignedWorld);

const verify = (world: World, ...args: string[]) =>
  run('runner-verify', ['shop', ...args], { root: world.root });

test('strict asks for every commit since the last accepted one, head for the newest alone', async ({
  world,
}) => {
  world.list(line('ada'), line('bob'));
  world.commit('v0');
  await edit(world, 'strict');
  world.commit('v1', 'ada');
  assert.is((await world.deploy()).status, 0, 'the first deploy asks for its own commit');
  world.commit('v2', 'bob');
  const bad = world.commit('v3');
  world.commit('v4', 'ada');
  const refused = await world.deploy();
  assert.equal(
    [refused.status, refused.stderr.includes(`the commit ${bad.slice(0, 12)} is not signed`)],
    [1, true],
  );
  const listed = await verify(world, '--last', '4', '--json');
  assert.is(listed.status, 1);
  const { commits, refused: count } = JSON.parse(listed.stdout);
  assert.equal(
    commits.map(
      (each: {
        subject: string;
        refused: string | null;
        signed_by: { principal: string } | null;
      }) => [each.subject, each.signed_by?.principal ?? each.refused],
    ),
    [
      ['v4', 'ada@example.org'],
      ['v3', 'is not signed'],
      ['v2', 'bob@example.org'],
      ['v1', 'ada@example.org'],
    ],
  );
  assert.is(count, 1);
  assert.is((await verify(world)).status, 0, 'what runs is signed');
  const changes = await run('runner-changes', ['shop', '--json'], { root: world.root });
  assert.equal(
    JSON.parse(changes.stdout).commits.map((each: { refused: string | null }) => each.refused),
    [null, 'is not signed', null],
  );
  assert.match((await run('runner-changes', ['shop'], { root: world.root })).stdout, /SIGNED BY/);
  await edit(world, 'head');
  assert.is((await world.deploy()).status, 0);
});

test('an unsigned commit of a merged branch is found, a signed one is not asked for its elders', async ({
  world,
}) => {
  world.list(line('ada'));
  world.commit('v0');
  world.inClone('branch', 'side');
  await edit(world, 'strict');
  world.commit('v1', 'ada');
  assert.is((await world.deploy()).status, 0);
  const signing = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${keyFile('ada')}`];
  const merge = (...files: string[]) => {
    world.inClone('checkout', '-q', 'side');
    world.inClone(...files);
    world.inClone('checkout', '-q', 'main');
    world.inClone(...signing, 'merge', '-q', '-S', '-s', 'ours', '--no-ff', '-m', 'merge', 'side');
    world.inClone('push', '-q', 'origin', 'HEAD:main');
  };
  merge(...signing, 'commit', '-q', '-S', '--allow-empty', '-m', 'signed side');
  assert.is((await world.deploy()).status, 0);
  merge('commit', '-q', '--no-gpg-sign', '--allow-empty', '-m', 'unsigned side');
  assert.match((await world.deploy()).stderr, /is not signed \(commit_not_signed\)/);
});

test('a rewrite is refused until an operator accepts it, which is recorded', async ({ world }) => {
  world.list(line('ada'));
  await edit(world, 'head');
  const first = world.commit('v1', 'ada');
  await world.deploy();
  const second = world.commit('v2', 'ada');
  await world.deploy();
  const rewritten = world.commit('v2b', 'ada', '--amend');
  const refused = await fetch(world, '--json');
  const { error, text } = JSON.parse(refused.stdout);
  assert.equal(
    [error, text.endsWith('runner deploy shop --accept-rewrite')],
    ['lineage_broken', true],
    text,
  );
  assert.match(
    (await world.deploy(['--ref', first])).stderr,
    `: runner deploy shop --ref ${first} --accept-rewrite (lineage_broken)`,
  );
  const accepted = await world.deploy(['--accept-rewrite']);
  assert.is(accepted.status, 0, accepted.stderr);
  assert.equal(
    world
      .events()
      .slice(-3)
      .map(({ event_type, commit, rewrite_of }) => [event_type, commit, rewrite_of]),
    [
      ['DeployStarted', rewritten, second],
      ['DeploySuccess', rewritten, second],
      ['CheckRecovered', undefined, undefined],
    ],
  );
  assert.is(
    (await run('runner-rollback', ['shop', '--no-notify'], { root: world.root })).status,
    0,
  );
  world.commit('v3', 'ada');
  assert.match((await fetch(world)).stdout, /deployed/);
});

test('where deploys need approvals, a plan accepts the rewrite, and shows it', async ({
  world,
}) => {
  const { root } = world;
  const runner = (tool: string, ...args: string[]) => run(`runner-${tool}`, args, { root });
  world.list(line('ada'));
  await edit(world, 'head');
  world.commit('v1', 'ada');
  await world.deploy();
  appendFileSync(
    join(root, 'config.yml'),
    'require_approval: { shop: { deploy: 1, by: [root] } }\n',
  );
  const rewritten = world.commit('v1b', 'ada', '--amend');
  const refused = await runner('plan', 'deploy', 'shop');
  assert.match(refused.stderr, 'deploy it anyway: runner plan deploy shop --accept-rewrite');
  const planned = await runner('plan', 'deploy', 'shop', '--accept-rewrite');
  assert.is(planned.status, 0, planned.stderr);
  assert.match(planned.stdout, /accepts: +a commit that does not descend from the last accepted/);
  const id = /p-[0-9a-f]{8}/.exec(planned.stdout)?.[0] ?? '';
  await runner('approve', id, '--no-apply');
  const done = await runner('apply', id);
  assert.is(done.status, 0, done.stderr);
  assert.is(world.events().at(-1)?.commit, rewritten);
});

test('a rewrite that was accepted is recorded whatever is killed, and needs to be accepted once', async ({
  world,
}) => {
  world.list(line('ada'));
  await edit(world, 'head');
  const first = world.commit('v1', 'ada');
  await world.deploy();
  const go = join(world.root, '..', 'go');
  world.commit(`v2; touch ${go}.there; test -e ${go} || sleep 30; echo`, 'ada', '--amend');
  const killed = start('runner-deploy', ['shop', '--accept-rewrite'], { root: world.root });
  await until(() => existsSync(`${go}.there`), 'the build has not begun');
  killed.kill('SIGKILL');
  await killed.done;
  writeFileSync(go, '');
  const again = await world.deploy();
  assert.is(again.status, 0, again.stderr);
  assert.equal(
    world
      .events()
      .slice(-4)
      .map(({ event_type, rewrite_of, signed_by }) => [
        event_type,
        rewrite_of,
        (signed_by as { principal: string }).principal,
      ]),
    ['DeployStarted', 'DeployFailure', 'DeployStarted', 'DeploySuccess'].map((kind) => [
      kind,
      first,
      'ada@example.org',
    ]),
  );
});

test('an annotated tag must be signed itself and have its own name; tags do not go down', async ({
  world,
}) => {
  world.list(line('ada'));
  await run('runner-edit', ['shop', '--tags', 'v*'], { root: world.root });
  await edit(world, 'head');
  const signing = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${keyFile('ada')}`];
  const tag = (name: string, ...how: string[]) => {
    world.inClone(...signing, 'tag', '-f', ...how, name);
    world.inClone('push', '-q', '--force', 'origin', `refs/tags/${name}`);
  };
  world.commit('one');
  tag('v1.0.0', '-s', '-m', 'v1');
  const first = await world.deploy();
  assert.is(first.status, 0, first.stderr);
  assert.is((await verify(world)).status, 0);
  world.commit('two', 'ada');
  tag('v1.1.0', '-a', '-m', 'not signed');
  assert.match((await world.deploy()).stderr, /the tag v1.1.0 is not signed/);
  // The signed object of another name.
  const object = world.inClone('rev-parse', 'refs/tags/v1.0.0');
  world.inClone('push', '-q', '--force', 'origin', `${object}:refs/tags/v1.2.0`);
  assert.match((await world.deploy()).stderr, /the tag v1.2.0 is not the tag of its commit/);
  tag('v1.3.0');
  assert.is((await world.deploy()).status, 0, 'a lightweight tag counts as its commit');
  const down = await world.deploy(['--ref', 'v1.0.0']);
  assert.match(down.stderr, /has the tag v1.0.0, which is lower than v1.3.0/);
  world.commit('three', 'ada');
  tag('v1.3.0');
  assert.match((await world.deploy()).stderr, /is where the tag v1.3.0 was moved to/);
  const moved = await fetch(world);
  assert.equal([moved.status, / stays/.test(moved.stdout)], [1, true], moved.stdout);
  assert.is((await run('runner-fetch', [], { root: world.root })).status, 0);
  const check = await run('runner-status', ['--check'], { root: world.root });
  assert.match(check.stdout, /^shop: stale: .*is where the tag v1.3.0 was moved to/);
});

test('OpenPGP counts only with the key in commit_signers.gpg', async ({ world }) => {
  if (spawnSync('gpg', ['--version']).status !== 0) return;
  const home = temporaryFolder('gpg', '/tmp');
  chmodSync(home, 0o700);
  const gpg = (...args: string[]) =>
    execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  gpg(
    '--passphrase',
    '',
    '--quick-generate-key',
    'GitHub <noreply@github.com>',
    'rsa2048',
    'sign',
    'never',
  );
  const wrapper = join(home, 'gpg');
  writeFileSync(wrapper, `#!/bin/sh\nexec gpg --homedir ${home} "$@"\n`, { mode: 0o755 });
  world.list(line('ada'));
  await edit(world, 'head');
  world.commit('v0');
  world.inClone(
    '-c',
    `gpg.program=${wrapper}`,
    '-c',
    'user.signingkey=noreply@github.com',
    'commit',
    '-q',
    '-S',
    '--allow-empty',
    '-m',
    'merge',
  );
  world.inClone('push', '-q', 'origin', 'HEAD:main');
  assert.match(
    (await world.deploy()).stderr,
    /is signed with OpenPGP, and there is no \S+commit_signers\.gpg/,
  );
  for (const armour of [[], ['--armor']]) {
    writeFileSync(`${world.signers}.gpg`, gpg(...armour, '--export'));
    const { status, stderr } = await world.deploy();
    assert.is(status, 0, stderr);
  }
  assert.match(
    JSON.stringify(world.events().at(-1)?.signed_by),
    /"principal":"GitHub <noreply@github.com>","key":"[0-9A-F]{40}","kind":"openpgp"/,
  );
  // Where hooks and apps have their temporary files, another of the same user could exchange the keys.
  const nowhere = await world.deploy([], { TMPDIR: join(home, 'none') });
  assert.is(nowhere.status, 0, nowhere.stderr);
  gpg(
    '--passphrase',
    '',
    '--quick-generate-key',
    'Eve <eve@example.org>',
    'rsa2048',
    'sign',
    'never',
  );
  writeFileSync(`${world.signers}.gpg`, gpg('--export', 'eve@example.org'));
  assert.match((await world.deploy()).stderr, /with no key of \S+commit_signers\.gpg that is good/);
  const both = (first: string[], second: string[]) =>
    Buffer.concat([
      gpg(...first, '--export', 'eve@example.org'),
      gpg(...second, '--export', 'noreply@github.com'),
    ]);
  for (const [first, second] of [
    [['--armor'], []],
    [[], ['--armor']],
    [['--armor'], ['--armor']],
    [[], []],
  ] as [string[], string[]][]) {
    writeFileSync(`${world.signers}.gpg`, both(first, second));
    const { status, stderr } = await world.deploy();
    assert.is(status, 0, stderr);
  }
  const doctor = async () => run('runner-doctor', ['--offline'], { root: world.root });
  assert.match((await doctor()).stdout, / lists 1 key, \S+\.gpg 2 keys of OpenPGP\n/);
  for (const wrong of [
    randomBytes(200),
    both([], []).subarray(1),
    both(['--armor'], []).subarray(0, -9),
  ]) {
    writeFileSync(`${world.signers}.gpg`, wrong);
    const words = /commit_signers\.gpg has something that is not an OpenPGP key, or none/;
    assert.match((await world.deploy()).stderr, words);
    assert.match((await doctor()).stdout, words);
  }
});

test('files that others may write, that are missing or that cannot be read are refused by edit and named by doctor', async ({
  world,
}) => {
  const expected = async (pattern: RegExp) => {
    const edited = await edit(world, 'head');
    assert.equal([edited.status, pattern.test(edited.stderr)], [1, true], edited.stderr);
  };
  await expected(
    /there is no \S+commit_signers: list in it the keys that sign commits, as root \(signers_invalid\)/,
  );
  world.list(line('ada'), 'bob ssh-ed25519 AAAA');
  await expected(/commit_signers:2: has no key that counts/);
  world.list(line('ada', 'cert-authority'));
  await expected(/commit_signers:1: has cert-authority, which is not supported/);
  world.list(line('ada'));
  assert.is((await edit(world, 'strict')).status, 0);
  chmodSync(world.signers, 0o666);
  await expected(/can be written by others: run sudo chmod go-w/);
  const doctor = await run('runner-doctor', ['--offline'], { root: world.root });
  assert.match(doctor.stdout, /problem +signers +not to be trusted: \S+ can be written by others/);
  chmodSync(world.signers, 0o644);
  writeFileSync(`${world.signers}.revoked`, 'nonsense\n');
  world.commit('v1', 'ada');
  assert.match(
    (await world.deploy()).stderr,
    /commit_signers\.revoked:1: has no key that counts.*signers_invalid/,
  );
  const revoked = await run('runner-doctor', ['--offline'], { root: world.root });
  assert.match(revoked.stdout, /sudo \$\{EDITOR:-vi\} \S+commit_signers\.revoked\n/);
  writeFileSync(`${world.signers}.revoked`, `${line('ada').split(' ').slice(2).join(' ')}\n`);
  assert.match((await world.deploy()).stderr, /is signed by the revoked key SHA256:/);
  assert.is((await edit(world, 'off')).status, 0);
  assert.equal([world.state().require_signed, (await world.deploy()).status], [undefined, 0]);
});

test('a deploy that brings back what ran before a restore has its signer again', async ({
  world,
}) => {
  world.list(line('ada'));
  await edit(world, 'strict');
  const v1 = world.commit('v1', 'ada');
  assert.is((await world.deploy()).status, 0);
  const folder = temporaryFolder('moved');
  const [root, file, key] = ['root', 'b.age', 'key'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(key, 'correct horse battery staple\n');
  const how = ['--passphrase-file', key];
  const made = await run('runner-backup', ['--to', file, ...how], { root: world.root });
  assert.is(made.status, 0, made.stderr);
  assert.is((await run('runner-restore', [file, ...how], { root })).status, 0);
  const back = await run('runner-fetch', ['--deploy'], { root });
  assert.is(back.status, 0, back.stdout + back.stderr);
  const verified = await run('runner-verify', ['shop'], { root });
  assert.match(
    verified.stdout,
    new RegExp(`commit ${v1.slice(0, 12)}, signed by ada@example\\.org \\(SHA256:`),
  );
});

test('a host that serves neither partial clones nor single commits is asked for whole histories', async () => {
  const world = await makeSignedWorld(true);
  try {
    world.list(line('ada'));
    await edit(world, 'strict');
    world.commit('v0');
    world.commit('v1', 'ada');
    assert.is((await world.deploy()).status, 0);
    world.commit('v2', 'ada');
    world.commit('v3', 'ada');
    const good = await world.deploy();
    assert.is(good.status, 0, good.stderr);
    const bad = world.commit('v4');
    world.commit('v5', 'ada');
    assert.match(
      (await world.deploy()).stderr,
      new RegExp(`the commit ${bad.slice(0, 12)} is not signed`),
    );
  } finally {
    await world.close();
  }
});

test('nothing of a refused commit is read: its .deploy.yml may be wrong', async ({ world }) => {
  world.list(line('ada'));
  await edit(world, 'head');
  world.commit('"');
  const { status, stderr } = await world.deploy();
  assert.is(status, 1);
  assert.match(stderr, /is not signed \(commit_not_signed\)\n$/);
  const plan = await world.deploy(['--check']);
  assert.equal([plan.status, plan.stderr.includes('(commit_not_signed)')], [1, true]);
});

test('a refusal is shown while its reason is there, whichever fetch looks again, and no longer', async ({
  world,
}) => {
  const { root, signers } = world;
  world.list(line('ada'));
  await edit(world, 'head');
  world.commit('v1', 'ada');
  assert.is((await world.deploy()).status, 0);
  const check = async (...fetching: string[]) => {
    const { status, stderr } = await run('runner-fetch', fetching, { root });
    const shown = await run('runner-status', ['--check'], { root });
    return [status, stderr, shown.status, shown.stdout.replace(/^(shop: stale).*/, '$1')];
  };
  const well = [0, '', 0, '1 app checked: none is broken, down, blocked or stale\n'];
  const stale = [0, '', 1, 'shop: stale\n'];
  for (const fetching of [['--deploy'], []]) {
    writeFileSync(`${signers}.revoked`, readFileSync(`${keyFile('ada')}.pub`));
    assert.match((await world.deploy()).stderr, /commit_not_signed/);
    assert.equal(await check(...fetching), stale, `revoked, fetch ${fetching}`);
    writeFileSync(`${signers}.revoked`, '');
    assert.equal(await check(...fetching), well, `not revoked, fetch ${fetching}`);
  }
});

test.run();
