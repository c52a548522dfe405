import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asNobody, run, shell } from '@runner/testing/run';
import { findBytes } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditLog, contentOf, newRoot, newServer, register, remove, TOKEN } from './server.ts';

test('--yes removes the registration, and nothing of any other app', async () => {
  const root = await newRoot();
  const before = contentOf(root);
  const { status, stdout, stderr } = await remove(root, ['shop', '--yes']);
  assert.equal([status, stdout, stderr], [0, 'Removed shop\n', '']);
  const { 'state/shop.json': _, 'apps/shop/': __, ...rest } = before;
  const after = contentOf(root);
  const kept = Object.entries(after).filter(([path]) => !path.startsWith('logs/'));
  assert.equal(Object.fromEntries(kept), rest);
  assert.equal((await run('runner-list', ['--json'], { root })).stdout.includes('shop'), false);
});

test('what runner setup made for it is named, by doctor as well, until it is undone', async () => {
  const root = await newRoot();
  const env = { RUNNER_ETC: temporaryFolder('etc') };
  const setups = join(env.RUNNER_ETC, 'runner/setup');
  mkdirSync(setups, { recursive: true });
  const made = (path: string) => [{ id: '', kind: 'access', state: 'made', fields: { path } }];
  const record = (app: string, path: string) =>
    writeFileSync(
      join(setups, `${app}.json`),
      JSON.stringify({ version: 1, app, choices: {}, made: made(path) }),
    );
  record('shop', root);
  record('blog', root);
  record('other', '/opt/another/root');
  const { status, stdout, stderr } = await remove(root, ['shop', '--yes'], { env });
  assert.equal([status, stdout], [0, 'Removed shop\n']);
  const undo = 'sudo runner setup shop --undo';
  assert.is(stderr, `runner remove: what runner setup made for shop stays; to undo it: ${undo}\n`);
  const { findings } = JSON.parse(
    (await run('runner-doctor', ['--offline', '--json'], { root, env })).stdout,
  );
  const units = findings
    .filter(({ check }: { check: string }) => check === 'units')
    .map(({ level, message, fix }: Record<string, string>) => [level, message, fix?.slice(0, 29)]);
  const message = 'runner setup made things for shop, which is not registered';
  assert.equal(units, [['warning', message, undo]]);
});

test('what --purge could not remove is kept, not gone', async () => {
  if (process.getuid?.() !== 0) return;
  const root = await newRoot();
  const shared = join(root, 'apps/shop/instances/default/shared');
  mkdirSync(join(shared, 'db'), { recursive: true });
  writeFileSync(join(shared, 'db/file'), '');
  spawnSync('chown', ['-R', '65534:65534', dirname(root)]);
  spawnSync('chown', ['12345:12345', join(shared, 'db')]);
  const ended = await shell(`${asNobody('runner-remove')} shop --yes --purge`, { root, cwd: '/' });
  const own = join(root, 'apps/shop');
  assert.is(ended.stdout, `Removed shop\nKept ${own}\n`);
  assert.is(ended.stderr, `runner remove: ${own} cannot be removed: permission denied\n`);
});

test('an unknown app is reported before the question', async () => {
  const root = await newRoot();
  for (const app of ['nope', '../shop', '__proto__']) {
    for (const more of [[], ['--yes']]) {
      const { status, stdout, stderr } = await remove(root, [app, ...more]);
      const sentence = `no app called '${app}' is registered on this server; registered: blog, shop`;
      assert.equal(
        [status, stdout, stderr],
        [1, '', `runner remove: ${sentence} (app_not_found)\n`],
      );
    }
  }
});

test('without a terminal --yes is required', async () => {
  const root = await newRoot();
  const before = contentOf(root);
  const { status, stdout, stderr } = await remove(root, ['shop'], { stdin: 'y\n' });
  assert.equal(
    [status, stdout, stderr],
    [
      2,
      '',
      'error: the following required arguments were not provided: --yes (stdin is not a terminal)\n',
    ],
  );
  const json = await remove(root, ['shop', '--json']);
  assert.is(JSON.parse(json.stdout).error, 'usage');
  assert.equal(contentOf(root), before);
});

test('what runs is stopped, releases go; audit log, deploy logs and shared files stay', async () => {
  const server = await newServer();
  const { root } = server;
  const shared = join(root, 'apps/shop/instances/default/shared');
  assert.is(await server.page(), 'v1');
  const log = auditLog(root);
  assert.ok(log.includes('DeploySuccess'));
  const { status, stdout, stderr } = await remove(root, ['shop', '--yes']);
  assert.equal([status, stdout, stderr], [0, `Removed shop\nKept ${shared}\n`, '']);
  assert.is(await server.page(), null);
  assert.is(auditLog(root), log);
  const paths = Object.keys(contentOf(root));
  assert.equal(
    paths.filter((path) => path.startsWith('apps/')),
    [
      'apps/',
      'apps/shop/',
      'apps/shop/instances/',
      'apps/shop/instances/default/',
      'apps/shop/instances/default/shared/',
      'apps/shop/instances/default/shared/.env',
    ],
  );
  assert.ok(paths.some((path) => /^logs\/deploys\/shop\/\w+\.log$/.test(path)));
  assert.equal(findBytes(root, TOKEN), []);
  // The same name again finds its shared files.
  await register(root, 'shop');
  assert.is((await server.deploy()).status, 0);
  assert.is(await server.page(), 'v1');
  assert.is(readFileSync(join(shared, '.env'), 'utf8'), 'KEEP=1\n');
  await server.close();
});

test.run();
