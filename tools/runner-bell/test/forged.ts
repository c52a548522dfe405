/** Calls that no host made. */
import { createHmac } from 'node:crypto';
import * as assert from 'uvu/assert';
import { type Call, HOSTS, type Host, headersOf, rung, send, type TestBell } from './clients.ts';

const BODY = JSON.stringify({ ref: 'refs/heads/main', after: 'f'.repeat(40) });

/** The same numbers in every run. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Forgery = (host: Host, secret: string, random: (below: number) => number) => Call;

const KINDS: readonly Forgery[] = [
  (host) => ({ path: `/${host}`, body: BODY }),
  (host, _, random) => ({
    path: `/${host}`,
    body: BODY,
    headers: headersOf(host, `guess ${random(1e9)}`, BODY),
  }),
  (host, secret) => ({
    path: `/${host}`,
    body: `${BODY} `,
    headers: withoutToken(headersOf(host, secret, BODY)),
  }),
  (host, secret, random) => ({
    path: `/${host}`,
    body: BODY,
    headers: flipped(headersOf(host, secret, BODY), random),
  }),
  (host, secret) => ({
    path: `/${host}`,
    body: BODY,
    headers: { 'X-Hub-Signature-256': sha1(secret), 'X-Hub-Signature': sha1(secret) },
  }),
  (host, secret, random) => ({
    path: `/${host}${random(9)}`,
    body: BODY,
    headers: headersOf(host, secret, BODY),
  }),
  (host, secret) => ({ path: `/../${host}`, body: BODY, headers: headersOf(host, secret, BODY) }),
  (host, secret, random) => ({
    path: `/${host}`,
    method: ['GET', 'PUT', 'DELETE', 'HEAD'][random(4)] as string,
    headers: headersOf(host, secret, ''),
  }),
  (host, secret) => ({
    path: `/${host}`,
    body: BODY,
    headers: { ...headersOf(host, secret, BODY), 'Content-Length': '2000000' },
  }),
  (host, _, random) => ({
    path: `/${host}`,
    body: Buffer.alloc(random(4_000), random(256)),
    headers: headersOf(host, '', BODY),
  }),
];

const sha1 = (secret: string) => `sha1=${createHmac('sha1', secret).update(BODY).digest('hex')}`;
/** GitLab's token signs no body. */
const withoutToken = (headers: Record<string, string>) => ({
  ...headers,
  ...('X-Gitlab-Token' in headers && { 'X-Gitlab-Token': 'no' }),
});

/** With one character of each signature changed. */
function flipped(headers: Record<string, string>, random: (below: number) => number) {
  const changed = Object.entries(headers).map(([name, value]) => {
    if (!/signature|token/i.test(name)) return [name, value];
    const at = random(value.length);
    const other = value[at] === '0' ? '1' : '0';
    return [name, value.slice(0, at) + other + value.slice(at + 1)];
  });
  return Object.fromEntries(changed);
}

/** Sends so many forged calls, 20 at once: none is accepted, and no secret is in an answer or the log. */
export async function forge(bell: TestBell, calls: number, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const secrets = Object.values(bell.secrets);
  const statuses = new Map<number, number>();
  for (let sent = 0; sent < calls; sent += 20) {
    const batch = Array.from({ length: 20 }, () => {
      const host = HOSTS[random(4)] as Host;
      const kind = KINDS[random(KINDS.length)] as Forgery;
      return send(bell.port, kind(host, bell.secrets[host], random));
    });
    for (const { status, text, headers } of await Promise.all(batch)) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const answer = text + JSON.stringify(headers);
      assert.not.ok(secrets.some((secret) => answer.includes(secret)));
    }
  }
  assert.equal(rung(bell), []);
  assert.not.ok(statuses.has(202), JSON.stringify([...statuses]));
  assert.not.ok(secrets.some((secret) => bell.stderr().includes(secret)));
}
