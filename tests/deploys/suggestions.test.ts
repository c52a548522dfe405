/** What a misspelled name, a missing root and an ordinary user are answered. */
import { chmodSync, chownSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { word } from '@runner/common/text/shell';
import { asNobody, run, shell } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, type World } from './world.ts';

const test = suite<{ world: World }>('suggestions');

test.before(async (context) => {
  context.world = await makeWorld();
  await context.world.push('v1.2');
  assert.is((await context.world.deploy()).status, 0);
});
test.after(({ world }) => world.close());

/** The last line on stderr. */
async function said(root: string, tool: string, ...args: string[]): Promise<string> {
  const { stderr } = await run(tool, args, { root });
  return stderr.trimEnd().split('\n').at(-1) ?? '';
}

test('names within two edits are suggested: apps, instances, versions and refs', async ({
  world: { root },
}) => {
  const ends = (line: string, end: string) => assert.ok(line.endsWith(end), line);
  const meant = (name: string, code: string) => `; did you mean '${name}'? (${code})`;
  ends(await said(root, 'runner-status', 'sohpp'), meant('shop', 'app_not_found'));
  const add = ['--repo', 'acme/new', '--branch', 'main', '--token-from', 'shp'];
  ends(await said(root, 'runner-add', ...add), meant('shop', 'token_source_not_found'));
  ends(await said(root, 'runner-audit', 'list', '--project', 'shpo'), "; did you mean 'shop'?");
  const instance = ['shop', '--instance', 'defalt'];
  const noInstance = "has no instance 'defalt'";
  for (const tool of ['runner-deploy', 'runner-rollback']) {
    const line = await said(root, tool, ...instance);
    assert.match(line, noInstance);
    ends(line, '; it has: default (instance_not_found)');
  }
  const ref = ['shop', '--ref', 'v12'];
  ends(await said(root, 'runner-deploy', ...ref), meant('v1.2', 'ref_not_found'));
  ends(await said(root, 'runner-audit', 'emti'), "; a similar subcommand exists: 'emit'");
  ends(await said(root, 'runner-audit', 'lits'), "; a similar subcommand exists: 'list'");
  ends(await said(root, 'runner-tokens', 'rkye'), "; a similar subcommand exists: 'rekey'");
});

test('a missing root is reported, not treated as a healthy server', async () => {
  const root = temporaryFolder('gone');
  rmSync(root, { recursive: true });
  const missing = `the root ${root} does not exist`;
  for (const tool of ['runner-status', 'runner-deploy', 'runner-rollback', 'runner-cancel'])
    assert.is(
      await said(root, tool, 'shop'),
      `${tool.replace('-', ' ')}: no app called 'shop' is registered on this server: ${missing} (app_not_found)`,
    );
  assert.is(
    await said(root, 'runner-fetch', '--deploy'),
    `runner fetch: ${missing} (file_unreadable)`,
  );
  assert.is(await said(root, 'runner-tokens', 'list'), `runner tokens list: ${missing}`);
  const checked = await run('runner-status', ['--check'], { root });
  assert.equal([checked.status, checked.stderr], [1, `runner status: ${missing}\n`]);
  const json = await run('runner-status', ['--check', '--json'], { root });
  assert.is(JSON.parse(json.stdout).healthy, false);
});

test('an ordinary user is shown the command to type, without a token', async ({ world }) => {
  if (process.getuid?.() !== 0) return;
  const { root } = world;
  chownSync(root, 1, 1);
  const as = async (tool: string, args: string, env = {}) => {
    const command = `exec ${asNobody(tool)} ${args}`;
    const { stderr } = await shell(command, { root, cwd: '/', env });
    return /; use: (.*) \(\w+\)$/m.exec(stderr)?.[1];
  };
  assert.is(await as('runner-list', ''), `sudo -u '#1' runner list --root ${word(root)}`);
  assert.is(
    await as('runner-deploy', 'shop'),
    `sudo -u '#1' runner deploy shop --root ${word(root)}`,
  );
  assert.is(
    await as('runner-status', `shop --root ${word(root)}`),
    `sudo -u '#1' runner status shop --root ${word(root)}`,
  );
  assert.is(
    await as('runner-edit', 'shop --token ghp_secretsecret'),
    `sudo -u '#1' runner edit --root ${word(root)}`,
  );
  assert.is(
    await as('runner-add', '--repo acme/x --branch main --public'),
    `sudo -u '#1' runner add --repo acme/x --branch main --public --root ${word(root)}`,
  );
});

test('a user whom the system does not know, without HOME, can deploy', async () => {
  if (process.getuid?.() !== 0) return;
  const world = await makeWorld();
  const { root } = world;
  await world.push('v1', { deploy: 'build: node -p process.env.PM2_HOME\n' });
  chmodSync(dirname(root), 0o755);
  const own = await shell('chown -R 54321:54321 "$RUNNER_ROOT"', { root });
  assert.is(own.status, 0, own.stderr);
  const as = asNobody('runner-deploy').replaceAll('65534', '54321');
  const { status, stderr } = await shell(`exec ${as} shop -v`, {
    root,
    cwd: '/',
    env: { HOME: undefined },
  });
  assert.is(status, 0, stderr);
  assert.match(stderr, /^ *\/\.pm2$/m);
  await world.close();
});

test.run();
