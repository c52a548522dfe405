import { type AddressInfo, createServer } from 'node:net';
import { refusals, startCodeHost } from '@runner/testing/code-host';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Asking, startAsking } from './asking.ts';
import { TOKEN } from './root.ts';

let host: Asking['host'];
let ask: Asking['ask'];
let refused: Asking['refused'];
test.before.each(async () => {
  ({ host, ask, refused } = await startAsking());
});
test.after.each(() => host.close());

test('a rate limit says nothing about the token', async () => {
  const wait = 'the code host limits the request rate';
  const reset = '2030-01-01T00:00:00.000Z';
  await refused(refusals.rateLimited, 'rate_limited', `${wait} (403), try again after ${reset}`);
  await refused(refusals.secondaryRateLimited, 'rate_limited', `${wait} (403), try again in 60 s`);
  await refused(refusals.tooManyRequests, 'rate_limited', `${wait} (429), try again in 30 s`);
  await refused(
    { status: 429, headers: { 'retry-after': 'soon' } },
    'rate_limited',
    `${wait} (429)`,
  );
});

test('a host that accepts connections and never answers is given up after ten seconds', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const env = { RUNNER_CODE_HOST_API_URL: url, RUNNER_CODE_HOST_GIT_URL: url };
  const before = performance.now();
  const { status, stderr } = await ask([], { env });
  const took = performance.now() - before;
  silent.close();
  assert.is(status, 1);
  assert.match(stderr, /no complete answer within 10 s \(network_error\)/);
  assert.ok(took < 20_000, `${took} ms`);
});

test('trouble of the host says nothing about the token', async () => {
  await refused(
    refusals.unavailable,
    'code_host_error',
    'the code host answered 503: No server is currently available to service your request.',
    { http_status: 503 },
  );
  await refused('html', 'code_host_error', 'the code host answered 502', { http_status: 502 });
  await refused({ status: 404 }, 'code_host_error', 'the code host answered 404', {
    http_status: 404,
  });
  await refused({ status: 304 }, 'code_host_error', 'the code host answered 304', {
    http_status: 304,
  });
});

test('an answer that is no account is no valid token', async () => {
  const message = 'the code host did not answer with an account: is the address right?';
  const html = { 'content-type': 'text/html' };
  for (const fault of [
    'not-json',
    { status: 200, body: '<html>welcome</html>', headers: html },
    { status: 200, body: '' },
    { status: 200, body: [] },
    { status: 200, body: null },
    { status: 200, body: {} },
    { status: 200, body: { login: 5 } },
    { status: 200, body: { login: '' } },
  ] as const) {
    await refused(fault, 'code_host_error', message);
  }
});

test('an answer that is cut, dropped, too large, or never complete is a network error', async () => {
  await refused('drop', 'network_error', 'the connection was dropped (UND_ERR_SOCKET)', {
    reason: 'UND_ERR_SOCKET',
  });
  await refused(
    'cut',
    'network_error',
    'the answer is shorter than announced (UND_ERR_RES_CONTENT_LENGTH_MISMATCH)',
    { reason: 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' },
  );
  await refused({ huge: 2_000_000 }, 'network_error', 'the answer is larger than 1048576 bytes');
});

test('a host that cannot be reached is reported with the error of the network', async () => {
  await host.close();
  const { status, stderr } = await ask();
  assert.is(
    stderr,
    `runner tokens test: connection refused (connect ECONNREFUSED 127.0.0.1:${host.port}) (network_error)\n`,
  );
  assert.is(status, 1);
});

test('redirects within the origin are followed, a few of them', async () => {
  for (const status of [301, 302, 307, 308]) {
    host.fail({ redirect: host.url, status }, 2);
    const { stdout } = await ask();
    assert.match(stdout, /^Token VALID for shop:/);
  }
  assert.ok(host.requests.every(({ authorization }) => authorization === `Bearer ${TOKEN}`));
  host.fail({ redirect: host.url }, 9);
  const { status, stderr } = await ask();
  assert.is(
    stderr,
    'runner tokens test: the code host redirects too many times (code_host_error)\n',
  );
  assert.is(status, 1);
});

test('a redirect to another origin is not followed, so the token never gets there', async () => {
  const other = await startCodeHost({ tokens: { [TOKEN]: { login: 'thief', scopes: [] } } });
  const byName = other.url.replace('127.0.0.1', 'localhost');
  for (const target of [other.url, byName, 'https://127.0.0.1:1', 'file://', '//[']) {
    await refused(
      { redirect: target },
      'code_host_error',
      'the code host redirects to another origin: the token was not sent there',
    );
  }
  assert.is(other.requests.length, 0);
  await other.close();
});

test.run();
