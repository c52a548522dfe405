import { faults } from '@runner/testing/faults';
import { readBody, sendJson, startLoopback } from '@runner/testing/loopback';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

async function startEcho() {
  return startLoopback({
    route: (request) => request.url ?? '',
    async answer(request, response) {
      const body = await readBody(request, 10);
      sendJson(response, 200, { body: body?.toString() ?? null });
    },
  });
}

const ask = (url: string, init: RequestInit = {}, limit = 10_000) =>
  fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(limit), ...init });

test('faults apply first in, first out, those of a route before general ones', () => {
  const queue = faults();
  queue.fail('hang');
  queue.fail('drop', 2, '/a');
  queue.fail('html', 1, '/a');
  assert.equal(
    [queue.next('/a'), queue.next('/a'), queue.next('/a'), queue.next('/a'), queue.next('/a')],
    ['drop', 'drop', 'html', 'hang', undefined],
  );
  queue.fail('drop', Number.POSITIVE_INFINITY);
  for (let n = 0; n < 100; n += 1) assert.is(queue.next('/b'), 'drop');
  queue.heal();
  assert.is(queue.next('/b'), undefined);
  queue.fail('drop', 0);
  assert.is(queue.next('/b'), undefined);
});

test('a request without a fault is answered and kept', async () => {
  const echo = await startEcho();
  const response = await ask(`${echo.url}/a?b`, { method: 'POST', body: 'hello' });
  assert.equal(await response.json(), { body: 'hello' });
  assert.equal(
    echo.requests.map(({ method, path, status, authorization }) => ({
      method,
      path,
      status,
      authorization,
    })),
    [{ method: 'POST', path: '/a?b', status: 200, authorization: null }],
  );
  const long = await ask(`${echo.url}/a`, { method: 'POST', body: 'x'.repeat(11) });
  assert.equal(await long.json(), { body: null });
  await echo.close();
});

test('an answer on command has its status, headers and body', async () => {
  const echo = await startEcho();
  echo.fail({ status: 429, body: { a: 1 }, headers: { 'Retry-After': '3' } });
  const response = await ask(echo.url);
  assert.is(response.status, 429);
  assert.is(response.headers.get('retry-after'), '3');
  assert.equal(await response.json(), { a: 1 });
  assert.is(echo.requests[0]?.status, 429);
  await echo.close();
});

test('pages, broken JSON, huge answers and redirects', async () => {
  const echo = await startEcho();
  echo.fail('html');
  const page = await ask(echo.url);
  assert.is(page.status, 502);
  assert.match(await page.text(), /<h1>502 Bad Gateway/);

  echo.fail('not-json');
  const broken = await ask(echo.url);
  assert.is(broken.status, 200);
  assert.throws(() => JSON.parse('{"ok":tru'));
  assert.is(await broken.text(), '{"ok":tru');

  echo.fail({ huge: 3_000_000 });
  assert.ok((await (await ask(echo.url)).text()).length >= 3_000_000);

  echo.fail({ redirect: 'http://127.0.0.1:1' });
  const moved = await ask(`${echo.url}/path?q`);
  assert.is(moved.status, 302);
  assert.is(moved.headers.get('location'), 'http://127.0.0.1:1/path?q');
  await echo.close();
});

test('lost, cut, hanging and dripping connections', async () => {
  const echo = await startEcho();
  for (const fault of ['drop', 'cut', 'hang', { drip: 5 }] as const) {
    echo.fail(fault);
    const failed = await ask(echo.url, {}, 500)
      .then((response) => response.text())
      .then(
        () => false,
        () => true,
      );
    assert.ok(failed, JSON.stringify(fault));
  }
  assert.is((await ask(echo.url)).status, 200);
  await echo.close();
});

test('a slow answer arrives in the end', async () => {
  const echo = await startEcho();
  echo.fail({ slow: 60 });
  const begun = performance.now();
  assert.equal(await (await ask(echo.url, { method: 'POST', body: 'late' })).json(), {
    body: 'late',
  });
  assert.ok(performance.now() - begun >= 55);
  await echo.close();
});

test('a bug in a stand-in answers 500 with its stack', async () => {
  const broken = await startLoopback({
    route: () => '/',
    answer() {
      throw new Error('a bug');
    },
  });
  const response = await ask(broken.url);
  assert.is(response.status, 500);
  assert.match(await response.text(), /stand-in: Error: a bug/);
  await broken.close();
});

test('close ends keep-alive connections and can be called twice', async () => {
  const echo = await startEcho();
  await ask(echo.url).then((response) => response.text());
  await echo.close();
  await echo.close();
  assert.ok(
    await ask(echo.url).then(
      () => false,
      () => true,
    ),
  );
});

test.run();
