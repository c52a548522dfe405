/** Who is neither root nor the owner: a member of the group `runner-view`, and a user outside of it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asNobody, type Ended, run, shell } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, gate, makeWorld, TOKEN, type World } from './world.ts';

const GROUP = 64_123;
const OWNER = 64_124;
const SECRET = 'postgres://shop:8f2c91d7e6@db/shop';
const BOT = '123456789:AAviewersMustNotSeeThisToken0123456';

const test = suite<{ world: World }>('viewers');
const canShare =
  process.getuid?.() === 0 && spawnSync('setfacl', ['--version']).error === undefined;

/** The folders as the package makes them. */
function share(root: string): void {
  for (const name of ['view', 'logs'])
    mkdirSync(join(root, name), { recursive: true, mode: 0o750 });
  chmodSync(root, 0o750);
  const list = (...args: string[]) => execFileSync('setfacl', args);
  list('-m', `g:${GROUP}:x`, root);
  list('-R', '-m', `g:${GROUP}:rX,d:g:${GROUP}:rX`, join(root, 'view'), join(root, 'logs'));
}

const as = ({ root }: World, gid: number, tool: string, args: string): Promise<Ended> =>
  shell(`${asNobody(tool, gid)} ${args}`, { root });

test.before(async (context) => {
  if (!canShare) return;
  context.world = await makeWorld({ parent: '/tmp' });
  const { root, port, push, deploy } = context.world;
  share(root);
  await shell(
    `printf 'notify: { telegram_bot_token: "${BOT}", telegram_chat_id: "1" }\\n' >> '${root}/config.yml'`,
  );
  await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], { root, stdin: SECRET });
  await push('v1', { deploy: deployFile(port) });
  assert.is((await deploy(['--no-notify'])).status, 0);
  await push('v2', { deploy: 'build: echo "$DATABASE_URL" && exit 1\n' });
  assert.is((await deploy(['--no-notify'])).status, 1);
});
test.after(async ({ world }) => {
  await world?.close();
});

test('a member sees apps, deploys and failures', async ({ world }) => {
  if (!canShare) return;
  const seen = async (tool: string, args: string) => {
    const { status, stdout, stderr } = await as(world, GROUP, tool, args);
    assert.is(status, 0, `${tool} ${args}: ${stderr}`);
    return stdout;
  };
  assert.match(
    await seen('runner-list', ''),
    /^shop +failing +default +v1 .*http:\/\/127\.0\.0\.1:\d+/m,
  );
  assert.match(await seen('runner-status', 'shop'), /^ *token: +stored, encrypted$/m);
  assert.is(JSON.parse(await seen('runner-status', 'shop --json')).instances[0].running, null);
  assert.match(await seen('runner-history', ''), /v2/);
  assert.match(await seen('runner-stats', ''), /deploys/);
  const folder = temporaryFolder('report', '/tmp');
  chmodSync(folder, 0o777);
  await seen('runner-report', `--html '${folder}/report.html'`);
  assert.match(readFileSync(join(folder, 'report.html'), 'utf8'), /shop/);
  assert.match(await seen('runner-debug', 'last-error shop'), /^Last DeployFailure for shop:/);
  const why = await seen('runner-why', 'shop');
  assert.match(why, /failure: +v2, [\s\S]*since: +v1: 1 commit by [\s\S]*runs: +default: v1 /);
  assert.not.match(why, /files:|secret DATABASE_URL/);
  const changes = await as(world, GROUP, 'runner-changes', 'shop');
  assert.is(changes.status, 1);
  assert.match(changes.stderr, /^runner changes: .*use: sudo runner changes shop.*\n$/);
  assert.is((await run('runner-plan', ['restart', 'shop'], { root: world.root })).status, 0);
  const plans = await as(world, GROUP, 'runner-plan', 'list');
  assert.equal([plans.status, plans.stdout], [1, '']);
  assert.match(plans.stderr, /sudo runner plan list/, JSON.stringify(plans));
  const tokens = await as(world, GROUP, 'runner-tokens', 'list');
  assert.equal([tokens.status, tokens.stdout], [1, ''], tokens.stderr);
  assert.match(tokens.stderr, /^runner tokens list: cannot .*mkey: permission denied/);
  const tested = await as(world, GROUP, 'runner-tokens', 'test shop');
  assert.match(tested.stderr, /use: sudo runner tokens test shop/);
  const deploy = await as(world, GROUP, 'runner-deploy', 'shop');
  assert.is(deploy.status, 1);
  assert.match(deploy.stderr, /^runner deploy: .*use: sudo runner deploy shop.*\n$/);
});

test('a member sees failures of an installation that belongs to its own user', async ({
  world,
}) => {
  if (!canShare) return;
  const { root } = world;
  const give = (uid: number) => execFileSync('chown', ['-R', String(uid), root]);
  give(OWNER);
  try {
    const why = (args: string) => as(world, GROUP, 'runner-debug', `last-error shop ${args}`);
    const { status, stdout, stderr } = await why('');
    assert.equal([status, stderr], [0, '']);
    assert.match(stdout, /^Last DeployFailure for shop:/);
    const named = await why(`--root '${root}'`);
    assert.is(named.status, 1);
    assert.match(named.stderr, /belongs to another user/);
  } finally {
    give(0);
  }
});

test('nothing that a member can read holds a secret, and a user outside reads nothing', async ({
  world,
}) => {
  if (!canShare) return;
  const { root } = world;
  const readable = async (gid: number) => {
    // By name: a member may enter the root, and not list it.
    const all = readdirSync(root).map((name) => `'${join(root, name)}'`);
    const find = `setpriv --reuid=65534 --regid=${gid} --clear-groups find ${all.join(' ')} -type f -readable`;
    return (await shell(`${find} 2>/dev/null || true`)).stdout.split('\n').filter(Boolean);
  };
  const files = await readable(GROUP);
  assert.equal(
    [...new Set(files.map((path) => path.slice(root.length + 1).split('/')[0]))].sort(),
    ['logs', 'view'],
  );
  const state = JSON.parse(readFileSync(join(root, 'state/shop.json'), 'utf8'));
  const sealed = JSON.parse(readFileSync(join(root, 'secrets/shop.json'), 'utf8'));
  const secrets = [
    TOKEN,
    SECRET,
    BOT,
    state.state.repohost_token,
    JSON.stringify(sealed).match(/"sealed":"([^"]+)"/)?.[1] ?? '',
    ...readFileSync(join(root, 'mkey'), 'utf8').trim().split('\n'),
  ];
  for (const path of files)
    for (const secret of secrets)
      assert.equal(findSecret(readFileSync(path), secret), [], `${path} holds a secret`);
  assert.equal(await readable(65_534), []);
  const list = await as(world, 65_534, 'runner-list', '');
  assert.equal([list.status, list.stdout], [1, '']);
});

test('a deploy that goes on is running in the history that a member sees', async ({ world }) => {
  if (!canShare) return;
  const { build, reached, open } = gate();
  await world.push('v3', { deploy: deployFile(world.port, build) });
  const deploy = world.deploy(['--no-notify']);
  await reached();
  const { stdout } = await as(world, GROUP, 'runner-history', 'shop --json');
  open();
  assert.is((await deploy).status, 0);
  assert.is(JSON.parse(stdout.trim().split('\n').at(-1) ?? '').result, 'running');
});

test('the view of an app ends with it', async ({ world }) => {
  if (!canShare) return;
  const { root } = world;
  assert.equal(readdirSync(join(root, 'view')), ['shop.json']);
  assert.is((await run('runner-remove', ['shop', '--yes'], { root })).status, 0);
  assert.equal(readdirSync(join(root, 'view')), []);
});

test.run();
