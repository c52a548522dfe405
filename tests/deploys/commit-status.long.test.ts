/** `notify.commit_status`: deploys and rollbacks as the code host shows them on their commits. */
import type { HostApiServer } from '@runner/testing/host-api-types';
import { run } from '@runner/testing/run';
import { findBytes } from '@runner/testing/secret-search';
import * as assert from 'uvu/assert';
import { hostSuite } from './host-suite.ts';
import { TOKEN } from './world.ts';

const test = hostSuite('commit status', 'notify: {commit_status: true}');

const DEPLOY = 'start: { type: command, run: "true" }\n';
const statusesOf = ({ posts }: HostApiServer, commit: string) =>
  posts
    .filter(({ path }) => path === `/repos/acme/shop/statuses/${commit}`)
    .map(({ body }) => `${body.context} ${body.state}: ${body.description}`);

test('an app without chats gets the result of each deploy and rollback on its commits', async ({
  world,
  api,
}) => {
  const first = await world.push('v1', { deploy: DEPLOY });
  assert.is((await world.deploy()).status, 0);
  const second = await world.push('v2', { deploy: DEPLOY });
  assert.is((await world.deploy()).status, 0);
  const broken = await world.push('v3', {
    deploy: `build: "echo 'Error: no such table' >&2; false"\n`,
  });
  assert.is((await world.deploy()).status, 1);
  const back = await run('runner-rollback', ['shop', '--to', 'v1'], { root: world.root });
  assert.is(back.status, 0, back.stderr);
  assert.match(
    statusesOf(api, first).join('\n'),
    /^runner\/shop pending: deploying v1\nrunner\/shop success: deployed v1 in .*\nrunner\/shop success: v1 is active again$/,
  );
  assert.match(statusesOf(api, second).at(-1) ?? '', /^runner\/shop failure: rolled back to v1/);
  assert.equal(statusesOf(api, broken).slice(1), [
    'runner/shop failure: build: Error: no such table',
  ]);
  assert.equal(findBytes(world.root, TOKEN), []);
  const before = api.posts.length;
  await world.push('v4', { deploy: DEPLOY });
  await world.deploy(['--no-notify']);
  assert.is(api.posts.length, before);
});

test('a host that is down delays only the status, which flush sends', async ({ world, api }) => {
  api.fail({ status: 503, body: {} }, Number.POSITIVE_INFINITY);
  const commit = await world.push('v1', { deploy: DEPLOY });
  assert.is((await world.deploy()).status, 0);
  assert.equal(statusesOf(api, commit), []);
  api.heal();
  await run('runner-notify', ['flush', '--now', '--channel', 'code-host'], { root: world.root });
  assert.match(statusesOf(api, commit).at(-1) ?? '', /success/);
});

test.run();
