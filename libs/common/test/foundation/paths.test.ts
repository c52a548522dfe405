import { type AppPaths, chooseRoot, type Paths, pathsOf } from '@runner/common/foundation/paths';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('--root comes first, then RUNNER_ROOT, then /opt/runner, always absolute', () => {
  const env = { RUNNER_ROOT: '/env/root' };
  for (const [option, environment, root] of [
    [undefined, {}, '/opt/runner'],
    [undefined, { RUNNER_ROOT: '' }, '/opt/runner'],
    [undefined, env, '/env/root'],
    ['/own', env, '/own'],
    ['own', env, '/here/own'],
    ['../own/', {}, '/own'],
    ['.', {}, '/here'],
    [undefined, { RUNNER_ROOT: 'rel' }, '/here/rel'],
    ['/a/../b//c/', {}, '/b/c'],
    ['~', {}, '/here/~'],
  ] as const) {
    assert.is(
      chooseRoot(option, environment, () => '/here'),
      root,
    );
  }
});

test('every path is under the root, as documented', () => {
  const paths = pathsOf('/r');
  assert.equal(
    [paths.root, paths.config, paths.mkey, paths.stateDir, paths.state('blog')],
    ['/r', '/r/config.yml', '/r/mkey', '/r/state', '/r/state/blog.json'],
  );
  assert.equal(
    [
      paths.logsDir,
      paths.auditLog,
      paths.fetchLog,
      paths.deployLogs('blog'),
      paths.deployLog('blog', '3f9a21c0'),
    ],
    [
      '/r/logs',
      '/r/logs/deploy-events.jsonl',
      '/r/logs/fetch.log',
      '/r/logs/deploys/blog',
      '/r/logs/deploys/blog/3f9a21c0.log',
    ],
  );
  assert.equal(
    [paths.locksDir, paths.registryLock, paths.lock('blog'), paths.auditSpool, paths.notifySpool],
    [
      '/r/locks',
      '/r/locks/registry.lock',
      '/r/locks/blog.lock',
      '/r/spool/audit',
      '/r/spool/notify',
    ],
  );
  const app = paths.app('blog');
  assert.equal(
    [app.dir, app.repo, app.releases, app.release('one')],
    ['/r/apps/blog', '/r/apps/blog/repo.git', '/r/apps/blog/releases', '/r/apps/blog/releases/one'],
  );
  const instance = app.instance('eu');
  const dir = '/r/apps/blog/instances/eu';
  assert.equal(
    [instance.dir, instance.current, instance.shared, instance.run],
    [dir, `${dir}/current`, `${dir}/shared`, `${dir}/run`],
  );
});

/** Every path that a layout names, for an app and an instance called like this. */
function all(paths: Paths, name: string): string[] {
  const app: AppPaths = paths.app(name);
  const values = [
    ...Object.values(paths),
    ...Object.values(app),
    ...Object.values(app.instance(name)),
  ];
  const fixed = values.filter((value) => typeof value === 'string');
  return [
    ...fixed,
    paths.state(name),
    paths.lock(name),
    paths.deployLog(name, name),
    app.release(name),
  ];
}

test('no valid name leads out of the root', () => {
  for (const name of ['blog', 'x.', 'a.b', '007', 'constructor']) {
    for (const path of all(pathsOf('/r/o'), name)) assert.match(path, /^\/r\/o(\/|$)/);
  }
});

test.run();
