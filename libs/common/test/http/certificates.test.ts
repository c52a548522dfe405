/** Servers with a certificate of a private authority. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { send } from '@runner/common/http/request';
import { certificates } from '@runner/testing/certificates';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refusalOf } from '../cli/refusal.ts';
import { startProxy, startServer, stopServers } from './servers.ts';

const { ca, cert, key } = certificates('localhost');
let requests = 0;
let port = 0;
const ask = (env: Record<string, string>) =>
  send({ method: 'POST', url: `https://localhost:${port}/`, timeout: 20_000, limit: 99, env });

test.before(async () => {
  const server = createServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    (_request, response) => {
      requests += 1;
      response.end('verified');
    },
  );
  port = await startServer(server);
});
test.before.each(() => {
  requests = 0;
});
test.after(stopServers);

test('an authority that git trusts is trusted, and the request is sent once', async () => {
  for (const name of ['GIT_SSL_CAINFO', 'SSL_CERT_FILE']) {
    assert.is((await ask({ [name]: ca })).body, 'verified');
  }
  assert.is(requests, 2);
});

test('also through a proxy', async () => {
  const seen: string[] = [];
  const https_proxy = await startProxy(seen);
  assert.is((await ask({ SSL_CERT_FILE: ca, https_proxy })).body, 'verified');
  assert.is(requests, 1);
  assert.equal(new Set(seen), new Set([`CONNECT localhost:${port}`]));
});

test('with an authority that is in no store nothing is sent, and the remedy is named', async () => {
  const failure = await refusalOf(ask({}));
  assert.is(failure.code, 'network_error');
  assert.match(failure.message, /cannot be verified .*update-ca-certificates/);
  assert.is(requests, 0);
});

test.run();
