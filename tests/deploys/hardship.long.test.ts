import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killedAfter, recorded } from '@runner/testing/killing';
import { asNobody, run, shell, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { deployFile, worldSuite } from './world.ts';

const test = worldSuite('hardship');

test('killed right after its success was recorded, a deploy is a success for the next command', async ({
  world,
}) => {
  await world.push('v1');
  const killed = await world.deploy([], killedAfter(recorded('DeploySuccess')));
  assert.is(killed.signal, 'SIGKILL');
  assert.is(world.state().deploying === null, false);
  await world.push('v2', { deploy: deployFile(world.port, 'build: exit 1') });
  await world.deploy();
  assert.equal(world.kinds(), ['DeployStarted', 'DeploySuccess', 'DeployStarted', 'DeployFailure']);
  assert.is(world.events().at(-1)?.previous_version, 'v1');
  assert.is(await world.page(), 'v1');
});

test('killed right after its failure was recorded, the cause is reported once and stays the last error', async ({
  world,
}) => {
  await world.push('v1', {
    deploy: deployFile(world.port, 'build: "echo the real cause; exit 4"'),
  });
  const killed = await world.deploy([], killedAfter(recorded('DeployFailure')));
  assert.is(killed.signal, 'SIGKILL');
  await world.launch('v2');
  assert.equal(world.kinds(), ['DeployStarted', 'DeployFailure', 'DeployStarted', 'DeploySuccess']);
  const why = await run('runner-debug', ['last-error', 'shop'], { root: world.root });
  assert.match(why.stdout, /the real cause/);
});

test('an instance that cannot be switched brings back those that were, and the failure is recorded', async ({
  world,
}) => {
  const instances = 'instances: { a: {}, b: {} }\n';
  await world.launch('v1', { deploy: instances });
  await world.push('v2', { deploy: instances });
  // A folder in the place of the temporary link: also root cannot unlink it.
  const blocked = join(world.root, 'apps/shop/instances/b/.current.tmp');
  spawnSync('mkdir', ['-p', join(blocked, 'x')]);
  const done = await world.deploy();
  assert.is(done.status, 1, done.stderr);
  assert.not.match(done.stderr, / at .*\.cjs:/);
  const versions = ['a', 'b'].map((name) =>
    readFileSync(join(world.root, `apps/shop/instances/${name}/current/VERSION`), 'utf8').trim(),
  );
  assert.equal(versions, ['v1', 'v1']);
  assert.ok(world.kinds().slice(2).includes('DeployFailure'));
  assert.is(world.state().deploying, null);
});

test('what the system refuses is said in a sentence, also where no one expected it', async ({
  world,
}) => {
  if (process.getuid?.() !== 0) return;
  await world.launch('v1');
  const releases = join(world.root, 'apps/shop/releases');
  spawnSync('sh', ['-c', `chown -R 65534:65534 '${world.root}'/..; chmod 0 '${releases}'`]);
  const { status, stderr } = await shell(`${asNobody('runner-verify')} shop`, { root: world.root });
  assert.is(status, 1);
  assert.match(
    stderr,
    /^runner verify: cannot use \S+\/apps\/shop\/releases\/\S+ \(lstat\): permission denied \(file_unreadable\)\n$/,
  );
  spawnSync('chmod', ['0', join(releases, '..')]);
  const list = await shell(asNobody('runner-list'), { root: world.root });
  assert.match(
    list.stderr,
    /^runner list: cannot read \S+\/live: permission denied \(file_unreadable\)\n$/,
  );
});

test('files with export attributes are deployed as committed', async ({ world }) => {
  const files = {
    '.gitattributes': 'VERSION export-ignore\nid export-subst\n',
    id: '$Format:%H$\n',
  };
  await world.launch('v1', { files });
  const current = join(world.root, 'apps/shop/instances/default/current');
  assert.is(readFileSync(join(current, 'VERSION'), 'utf8'), 'v1\n');
  assert.is(readFileSync(join(current, 'id'), 'utf8'), '$Format:%H$\n');
});

test('an instance missing from the commit is stopped and forgotten, and the output says so', async ({
  world,
}) => {
  await world.launch('v1', { deploy: deployFile(world.port).replace('default:', 'old:') });
  await world.push('v2', { deploy: 'instances: { new: {} }\nbuild: exit 1\n' });
  const failed = await world.deploy();
  assert.match(failed.stdout, /v1 is active\.\n$/);
  const done = await world.launch('v3', { deploy: 'instances: { new: {} }\n' });
  assert.match(done.stderr, /the instance old is no longer in \.deploy\.yml: it was stopped/);
  assert.is(await world.page(), null);
  assert.equal(Object.keys(world.state().instances as object), ['new']);
});

test('waiting records are appended before last-error answers', async ({ world }) => {
  const log = join(world.root, 'logs/deploy-events.jsonl');
  await world.push('v1', {
    deploy: `build: "mv '${log}' '${log}.kept' && mkdir '${log}' && exit 3"\n`,
  });
  assert.is((await world.deploy()).status, 1);
  spawnSync('sh', ['-c', `rmdir '${log}' && mv '${log}.kept' '${log}'`]);
  const why = await run('runner-debug', ['last-error', 'shop'], { root: world.root });
  assert.match(why.stdout, /ended with status 3/);
});

test('a first deploy that fails at its .deploy.yml reports only that', async ({ world }) => {
  await world.push('v1', { deploy: 'nope: 1\n' });
  const done = await world.deploy();
  assert.not.match(done.stderr, /ENOENT|removed/);
  assert.not.ok(existsSync(join(world.root, 'apps/shop/releases')));
});

test('without tar, the failure says so, and does not count', async ({ world }) => {
  await world.push('v1');
  const programs = temporaryFolder('programs');
  for (const name of ['node', 'git', 'flock', 'sh', 'sync', 'cat'])
    spawnSync('sh', ['-c', `ln -s "$(command -v ${name})" '${programs}'`]);
  const line = `tool=$(command -v runner-deploy); PATH='${programs}'; exec "$tool" shop`;
  const done = await shell(line, { root: world.root });
  assert.is(done.status, 1);
  assert.match(
    done.stderr,
    /\nexport: the commit cannot be exported: tar cannot be started: is it installed\?\n/,
  );
  assert.is(world.state().failures, null);
});

test('a root below a folder that was deleted meanwhile is refused, not made elsewhere', async ({
  world,
}) => {
  const gone = join(temporaryFolder('gone'), 'here');
  spawnSync('mkdir', [gone]);
  const script = `cd '${gone}' && rmdir '${gone}' && exec runner-add --repo acme/x --branch main --public --root relative`;
  const done = await shell(script, { root: world.root });
  assert.is(done.status, 1);
  assert.match(done.stderr, /the current directory no longer exists \(file_unreadable\)\n$/);
});

test('secrets in a config.yml that others can read are reported, with the fixing command', async ({
  world,
}) => {
  await world.push('v1');
  const config = join(world.root, 'config.yml');
  writeFileSync(config, `code_host_git_url: ${world.git.url}\nnotify: {}\n`);
  spawnSync('chmod', ['644', config]);
  assert.not.match((await world.deploy()).stderr, /chmod/);
  writeFileSync(
    config,
    `code_host_git_url: ${world.git.url}\ndiscord_webhook: https://127.0.0.1:1/x\n`,
  );
  const done = await world.deploy();
  assert.is(done.status, 0);
  assert.ok(
    done.stderr.includes(
      `runner deploy: others may read the secrets in ${config}: run chmod 600 ${shellWord(config)}\n`,
    ),
  );
});

test('a deploy does its work when its progress cannot be printed', async ({ world }) => {
  await world.push('v1');
  const done = await shell('exec runner-deploy shop 2>/dev/full', { root: world.root });
  assert.is(done.status, 0);
  assert.is(await world.page(), 'v1');
});

test.run();
