import { type HostAccount, refusals, startCodeHost } from '@runner/testing/code-host';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const ADA: HostAccount = {
  login: 'ada',
  scopes: ['repo', 'workflow'],
  expires: '2031-10-07 19:07:53 UTC',
};
const BOB: HostAccount = { login: 'bob', scopes: null };

async function ask(url: string, token?: string, headers: Record<string, string> = {}) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(url, {
    headers: { 'user-agent': 'test', ...authorization, ...headers },
    redirect: 'manual',
    signal: AbortSignal.timeout(5_000),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}

test('a valid token gets its account, scopes and expiry', async () => {
  const host = await startCodeHost({ tokens: { t1: ADA, t2: BOB } });
  const { status, headers, body } = await ask(`${host.apiUrl}/user`, 't1');
  assert.is(status, 200);
  assert.is(body.login, 'ada');
  assert.is(headers.get('x-oauth-scopes'), 'repo, workflow');
  assert.is(headers.get('github-authentication-token-expiration'), '2031-10-07 19:07:53 UTC');
  assert.is(host.requests[0]?.authorization, 'Bearer t1');
  await host.close();
});

test('a token kind without scopes sends no such header, and an empty list an empty one', async () => {
  const host = await startCodeHost({ tokens: { t2: BOB, t3: { login: 'eve', scopes: [] } } });
  assert.is((await ask(`${host.apiUrl}/user`, 't2')).headers.get('x-oauth-scopes'), null);
  assert.is((await ask(`${host.apiUrl}/user`, 't3')).headers.get('x-oauth-scopes'), '');
  await host.close();
});

test('a missing, wrong or revoked token is refused', async () => {
  const host = await startCodeHost({ tokens: { t1: ADA } });
  const missing = await ask(`${host.apiUrl}/user`);
  assert.equal([missing.status, missing.body.message], [401, 'Requires authentication']);
  const wrong = await ask(`${host.apiUrl}/user`, 'nope');
  assert.equal([wrong.status, wrong.body.message], [401, 'Bad credentials']);
  host.revoke('t1');
  assert.is((await ask(`${host.apiUrl}/user`, 't1')).status, 401);
  host.allow('t4', BOB);
  assert.is((await ask(`${host.apiUrl}/user`, 't4')).body.login, 'bob');
  await host.close();
});

test('a request without a User-Agent is refused', async () => {
  const host = await startCodeHost({ tokens: { t1: ADA } });
  const { request } = await import('node:http');
  const status = await new Promise((resolve) => {
    const headers = { authorization: 'Bearer t1' };
    request(`${host.apiUrl}/user`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).end();
  });
  assert.is(status, 403);
  await host.close();
});

test('the API can have a path prefix', async () => {
  const host = await startCodeHost({ prefix: '/api/v3', tokens: { t1: ADA } });
  assert.is(host.apiUrl, `${host.url}/api/v3`);
  assert.is((await ask(`${host.apiUrl}/user`, 't1')).status, 200);
  assert.is((await ask(`${host.url}/user`, 't1')).status, 404);
  await host.close();
});

test('refusals are worded as the code host words them', async () => {
  const host = await startCodeHost({ tokens: { t1: ADA } });
  const table = [
    [refusals.badCredentials, 401, /Bad credentials/],
    [refusals.rateLimited, 403, /rate limit/],
    [refusals.secondaryRateLimited, 403, /secondary rate limit/],
    [refusals.tooManyRequests, 429, /rate limit/],
    [refusals.singleSignOn, 403, /SAML/],
    [refusals.suspended, 403, /suspended/],
    [refusals.unavailable, 503, /available/],
  ] as const;
  for (const [fault, status, message] of table) {
    host.fail(fault);
    const answer = await ask(`${host.apiUrl}/user`, 't1');
    assert.is(answer.status, status);
    assert.match(answer.body.message, message);
  }
  host.fail(refusals.rateLimited);
  assert.is((await ask(`${host.apiUrl}/user`, 't1')).headers.get('x-ratelimit-remaining'), '0');
  await host.close();
});

test.run();
