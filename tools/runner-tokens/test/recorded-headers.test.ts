/**
 * `tokens test` against an answer of api.github.com as it was recorded: all headers of an
 * authenticated GET of @octokit/fixtures 23.1.2 (scenario get-root, normalised by its authors) and
 * the example of `GET /user` in @octokit/openapi 23.0.2, cut to what names an account.
 */

import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Ended, run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rootWith } from './rekey-root.ts';
import { fingerprint } from './root.ts';

/** As in the recording. */
const TOKEN = '0000000000000000000000000000000000000001';
const SCOPES =
  'admin:gpg_key, admin:org, admin:org_hook, admin:public_key, admin:repo_hook, delete_repo, gist, notifications, repo, user, workflow';

const HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'ETag, Link, Location, Retry-After, X-GitHub-OTP, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Used, X-RateLimit-Resource, X-RateLimit-Reset, X-OAuth-Scopes, X-Accepted-OAuth-Scopes, X-Poll-Interval, X-GitHub-Media-Type, X-GitHub-SSO, X-GitHub-Request-Id, Deprecation, Sunset',
  'cache-control': 'private, max-age=60, s-maxage=60',
  connection: 'close',
  'content-security-policy': "default-src 'none'",
  'content-type': 'application/json; charset=utf-8',
  date: 'Tue, 10 Oct 2017 16:00:00 GMT',
  etag: '"00000000000000000000000000000000"',
  'referrer-policy': 'origin-when-cross-origin, strict-origin-when-cross-origin',
  'strict-transport-security': 'max-age=31536000; includeSubdomains; preload',
  'x-accepted-oauth-scopes': '',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'deny',
  'x-github-media-type': 'github.v3; format=json',
  'x-github-request-id': '0000:00000:0000000:0000000:00000000',
  'x-oauth-scopes': SCOPES,
  'x-ratelimit-limit': '5000',
  'x-ratelimit-remaining': '4999',
  'x-ratelimit-reset': '1507651200000',
  'x-ratelimit-resource': 'core',
  'x-ratelimit-used': '1',
  'x-xss-protection': '0',
};
const USER = {
  login: 'octocat',
  id: 1,
  node_id: 'MDQ6VXNlcjE=',
  html_url: 'https://github.com/octocat',
  type: 'User',
  site_admin: false,
  two_factor_authentication: true,
  plan: { name: 'Medium', space: 400, private_repos: 20, collaborators: 0 },
};
/** The body of every 401 in the description of the API. */
const REFUSED = {
  message: 'Bad credentials',
  documentation_url: 'https://docs.github.com/rest',
  status: '401',
};

interface Recording {
  readonly root: string;
  readonly server: Server;
  readonly seen: IncomingHttpHeaders[];
}

async function play(
  status: number,
  body: unknown,
  change: Readonly<Record<string, string | undefined>> = {},
): Promise<Recording> {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    for (const [name, value] of Object.entries({ ...HEADERS, ...change })) {
      if (value !== undefined) response.setHeader(name, value);
    }
    response.statusCode = status;
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A test that fails does not close it.
  server.unref();
  const root = rootWith({ shop: TOKEN });
  const { port } = server.address() as AddressInfo;
  writeFileSync(join(root, 'config.yml'), `code_host_api_url: http://127.0.0.1:${port}\n`, {
    mode: 0o600,
  });
  return { root, server, seen };
}

const ask = ({ root }: Recording, args: readonly string[] = []): Promise<Ended> =>
  run('runner-tokens', ['test', 'shop', ...args], { root });

test('the recorded answer is a valid token with all of its scopes', async () => {
  const recording = await play(200, USER);
  const json = await ask(recording, ['--json']);
  assert.equal([json.status, json.stderr], [0, '']);
  assert.equal(JSON.parse(json.stdout), {
    valid: true,
    app: 'shop',
    fingerprint: fingerprint(TOKEN),
    username: 'octocat',
    scopes: SCOPES.split(', '),
  });
  const { stdout } = await ask(recording);
  assert.is(
    stdout,
    `Token VALID for shop:\n  fingerprint:  ${fingerprint(TOKEN)}\n  username:     octocat\n  scopes:       ${SCOPES}\n`,
  );
  const [headers] = recording.seen;
  assert.is(headers?.authorization, `Bearer ${TOKEN}`);
  assert.is(headers?.accept, 'application/vnd.github+json');
  assert.ok(headers?.['user-agent']);
  recording.server.close();
});

test('without the scopes header, or with an empty one, there are none', async () => {
  for (const value of [undefined, '']) {
    const recording = await play(200, USER, { 'x-oauth-scopes': value });
    const { status, stdout } = await ask(recording, ['--json']);
    assert.equal([status, JSON.parse(stdout).scopes], [0, []]);
    recording.server.close();
  }
});

test('the same headers on a 401 are an invalid token', async () => {
  const recording = await play(401, REFUSED, { 'x-oauth-scopes': undefined });
  const { status, stdout } = await ask(recording, ['--json']);
  const { valid, http_status, error } = JSON.parse(stdout);
  assert.equal([status, valid, http_status, error], [1, false, 401, 'token_invalid']);
  recording.server.close();
});

test('the same headers with nothing remaining on a 403 are a rate limit, not an invalid token', async () => {
  const body = { ...REFUSED, message: 'API rate limit exceeded', status: '403' };
  const recording = await play(403, body, { 'x-ratelimit-remaining': '0' });
  const { status, stdout } = await ask(recording, ['--json']);
  const { valid, error } = JSON.parse(stdout);
  assert.equal([status, valid, error], [1, undefined, 'rate_limited']);
  recording.server.close();
});

test.run();
