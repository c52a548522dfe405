import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { Failure } from '@runner/common/foundation/failure';
import { type HttpRequest, send } from '@runner/common/http/request';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refusalOf } from '../cli/refusal.ts';
import { scratch } from '../files/scratch.ts';
import {
  closedPort,
  startHttp,
  startProxy,
  startServer,
  startTcp,
  stopServers,
} from './servers.ts';

const SECRET = 'Zq7secretZq7';

function get(url: string, more: Partial<HttpRequest> = {}) {
  return send({ method: 'GET', url, timeout: 60_000, limit: 1000, env: {}, ...more });
}

async function failed(url: string, more: Partial<HttpRequest> = {}): Promise<Failure> {
  const failure = await refusalOf(get(url, more));
  assert.is(failure.code, 'network_error');
  return failure;
}

test.after(stopServers);

test('a body can be as long as the limit, but no longer', async () => {
  const url = await startHttp((request, response) => {
    const length = Number(request.url?.slice(1));
    response.write('x'.repeat(Math.min(length, 10)));
    response.end('x'.repeat(Math.max(0, length - 10)));
  });
  assert.is((await get(`${url}/1000`)).body.length, 1000);
  for (const length of [1001, 5_000_000]) {
    assert.is((await failed(`${url}/${length}`)).message, 'the answer is larger than 1000 bytes');
  }
});

test('one deadline covers the whole exchange, however slow it is', async () => {
  const drip = await startHttp((_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 50);
    response.on('close', () => clearInterval(timer));
  });
  const silent = await startHttp(() => {});
  const half = await startHttp((_request, response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('x');
  });
  const headers = `http://127.0.0.1:${await startTcp((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x: y\r\n'), 50);
    socket.on('close', () => clearInterval(timer));
  })}`;
  for (const url of [drip, silent, half, headers]) {
    const started = performance.now();
    const failure = await failed(url, { timeout: 400 });
    assert.is(failure.message, 'no complete answer within 0.4 s');
    assert.equal(failure.facts, { reason: 'timeout' });
    const took = performance.now() - started;
    assert.ok(took >= 350, `${took} ms`);
  }
});

test('an exchange can be ended early', async () => {
  const url = await startHttp(() => {});
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 100);
  const failure = await failed(url, { signal: controller.signal });
  assert.match(failure.message, /^it was interrupted/);
});

test('a refused or dropped connection and a non-HTTP answer are reported as such', async () => {
  const port = await closedPort();
  assert.is(
    (await failed(`http://127.0.0.1:${port}`)).message,
    `connection refused (connect ECONNREFUSED 127.0.0.1:${port})`,
  );
  const dropped = await startTcp((socket) => socket.once('data', () => socket.destroy()));
  assert.match(
    (await failed(`http://127.0.0.1:${dropped}`)).message,
    /^the connection was dropped/,
  );
  const reset = await startTcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
  assert.match((await failed(`http://127.0.0.1:${reset}`)).message, /^the connection was dropped/);
  const cut = await startTcp((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhalf')),
  );
  assert.match((await failed(`http://127.0.0.1:${cut}`)).message, /^the connection was dropped/);
  const other = await startTcp((socket) => socket.end('220 mail.example ESMTP\r\n'));
  const failure = await failed(`http://127.0.0.1:${other}`);
  assert.is(failure.message, 'it does not speak HTTP (does the port expect https?)');
  assert.is(failure.facts.reason, 'NOT_HTTP');
});

test('too many headers are refused', async () => {
  const port = await startTcp((socket) =>
    socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(60_000)}\r\n\r\n`)),
  );
  assert.match((await failed(`http://127.0.0.1:${port}`)).message, /^it sent too many headers/);
});

test('an untrusted certificate is refused before anything is sent', async () => {
  const folder = scratch();
  const key = join(folder, 'key');
  const cert = join(folder, 'cert');
  const made = spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
  ]);
  if (made.status !== 0) {
    process.stdout.write('(left out: it needs the command openssl)\n');
    return;
  }
  let requests = 0;
  const server = createTlsServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    (_request, response) => {
      requests += 1;
      response.end();
    },
  );
  const port = await startServer(server);
  assert.match(
    (await failed(`https://127.0.0.1:${port}/${SECRET}`)).message,
    /^its certificate is self-signed/,
  );
  assert.is(requests, 0);
});

test('https to a server without TLS is reported as such', async () => {
  const url = await startHttp((_request, response) => response.end());
  assert.match((await failed(url.replace('http:', 'https:'))).message, /^it does not speak TLS/);
});

test('the proxy is read from the given environment, and NO_PROXY is respected', async () => {
  const url = await startHttp((_request, response) => response.end('direct'));
  const host = url.slice('http://'.length);
  const seen: string[] = [];
  const proxy = await startProxy(seen);
  for (const env of [{ http_proxy: proxy }, { HTTP_PROXY: proxy }]) {
    seen.length = 0;
    assert.is((await get(`${url}/x`, { env })).status, 200);
    assert.is(seen.length, 1);
    assert.ok([`CONNECT ${host}`, `GET ${url}/x`].includes(seen[0] as string), seen[0]);
  }
  seen.length = 0;
  for (const env of [
    { http_proxy: proxy, no_proxy: '127.0.0.1' },
    { HTTP_PROXY: proxy, NO_PROXY: 'example.org,127.0.0.1' },
    { http_proxy: proxy, NO_PROXY: '*' },
    { HTTPS_PROXY: proxy },
    {},
  ]) {
    assert.is((await get(url, { env })).body, 'direct');
  }
  assert.equal(seen, []);
});

test('a proxy that says nothing, no, or nonsense ends the exchange', async () => {
  const answers: readonly (readonly [string, RegExp])[] = [
    ['', /^no complete answer within 0.4 s$/],
    ['HTTP/1.1 407 Who are you\r\n\r\n', /^the proxy refused to connect/],
    ['HTTP/1.1 502 Bad\r\ncontent-length: 0\r\n\r\n', /^the proxy refused to connect/],
    ['hello\r\n\r\n', /^it does not speak HTTP/],
  ];
  for (const [answer, words] of answers) {
    const port = await startTcp((socket) =>
      socket.once('data', () => answer && socket.end(answer)),
    );
    for (const protocol of ['http', 'https']) {
      const env = {
        http_proxy: `http://127.0.0.1:${port}`,
        https_proxy: `http://127.0.0.1:${port}`,
      };
      const failure = await failed(`${protocol}://127.0.0.1:1/${SECRET}`, {
        env,
        ...(answer === '' && { timeout: 400 }),
      });
      assert.match(failure.message, words);
    }
  }
});

test('an invalid proxy address is reported without the password in it', async () => {
  for (const proxy of ['http://', `http://user:${SECRET}@`, SECRET, `ftp://${SECRET}/`]) {
    const failure = await failed('http://127.0.0.1:1/', { env: { http_proxy: proxy } });
    assert.match(failure.message, /^the address,? (or )?that of the proxy/);
    assert.not.ok(inspect(failure, { depth: 9 }).includes(SECRET));
  }
});

test('no error contains a secret of the address, a header or the body', async () => {
  const port = await closedPort();
  const dropping = await startTcp((socket) => socket.once('data', () => socket.destroy()));
  const silent = await startHttp(() => {});
  const headers = { authorization: `Bearer ${SECRET}` };
  const failures = [
    await failed(`http://127.0.0.1:${port}/bot${SECRET}/getMe?x=${SECRET}`, { headers }),
    await failed(`http://127.0.0.1:${dropping}/bot${SECRET}/getMe`, {
      headers,
      method: 'POST',
      body: SECRET,
    }),
    await failed(`${silent}/bot${SECRET}/getMe`, { headers, timeout: 100 }),
    await failed(`http://${SECRET}:${SECRET}@127.0.0.1:${port}/`),
    await failed(`http://127.0.0.1:99999/bot${SECRET}`),
    await failed(`ftp://127.0.0.1/bot${SECRET}`),
    await failed(`bot${SECRET}`),
    await failed(`http://127.0.0.1:${port}/`, {
      headers: { authorization: `Bearer ${SECRET}\nx` },
    }),
    await failed(`http://127.0.0.1:${port}/`, {
      headers: { authorization: `Bearer é${SECRET}🐱` },
    }),
    await failed(`http://127.0.0.1:${port}/`, { headers: { [`${SECRET} x`]: 'y' } }),
  ];
  for (const failure of failures) {
    assert.not.ok(
      inspect(failure, { depth: 9, showHidden: true }).includes(SECRET),
      failure.message,
    );
  }
});

test.run();
