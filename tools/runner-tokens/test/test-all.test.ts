import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { refusals } from '@runner/testing/code-host';
import * as assert from 'uvu/assert';
import { askAll, configure, FINE, GONE, GOOD, testAllSuite, verdictsIn } from './test-all.ts';

const test = testAllSuite('tokens test --all');

test('each distinct token is asked about once', async ({ host, root }) => {
  const { status } = await askAll(root);
  assert.is(status, 1);
  assert.equal(
    host.requests.map(({ method, path, authorization }) => [method, path, authorization]).sort(),
    [FINE, GONE, GOOD].map((token) => ['GET', '/user', `Bearer ${token}`]).sort(),
  );
});

test('when every token is valid the status is 0', async ({ host, root }) => {
  host.allow(GONE, { login: 'back', scopes: [] });
  const { status, stderr } = await askAll(root);
  assert.equal([status, stderr], [0, '']);
});

test('what could not be found out is unknown, is no valid token, and hides no other', async ({
  host,
  root,
}) => {
  host.allow(GONE, { login: 'back', scopes: [] });
  for (const [fault, error, httpStatus] of [
    [refusals.rateLimited, 'rate_limited', null],
    [refusals.unavailable, 'code_host_error', 503],
    ['drop', 'network_error', null],
    ['html', 'code_host_error', 502],
  ] as const) {
    host.fail(fault, 1);
    const ended = await askAll(root, ['--json']);
    assert.is(ended.status, 1, error);
    const verdicts = Object.values(verdictsIn(ended));
    const unknown = verdicts.filter(({ valid }) => valid === null);
    assert.equal(
      unknown.map((each) => [each.error, each.http_status, typeof each.message]),
      [[error, httpStatus, 'string']],
    );
    assert.is(verdicts.filter(({ valid }) => valid === true).length, 2);
  }
  host.fail('drop', 1);
  assert.match((await askAll(root)).stdout, / {2}unknown {2}.* {2}network_error\n/);
});

test('a wrong configuration or a lost key is reported once, and no host is asked', async ({
  host,
  root,
}) => {
  configure(root, 'http://example.org');
  const wrong = await askAll(root, ['--json']);
  assert.is(wrong.status, 1);
  assert.match(JSON.parse(wrong.stdout).error, /^(insecure_address|config_invalid)$/);
  configure(root, host.apiUrl);
  chmodSync(join(root, 'mkey'), 0o644);
  const exposed = await askAll(root, ['--json']);
  assert.equal([exposed.status, JSON.parse(exposed.stdout).error], [1, 'mkey_exposed']);
  assert.match(
    exposed.stderr,
    /^runner tokens test: others may read the master key: run chmod 600 /,
  );
  assert.is(host.requests.length, 0);
});

test.run();
