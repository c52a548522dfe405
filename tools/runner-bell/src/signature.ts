/** Whether a call was signed with the secret of the app, as each type of host does it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Bell, Signer } from './folder.ts';

/** What a secret begins with that GitLab takes as signing token; the rest is a key in base64. */
export const SIGNING_TOKEN = 'whsec_';

/** The header that holds the signature. */
export const HEADERS: Readonly<Record<Signer, string>> = {
  github: 'X-Hub-Signature-256',
  gitlab: 'X-Gitlab-Token',
  gitea: 'X-Gitea-Signature',
  bitbucket: 'X-Hub-Signature',
};

/** Compares in constant time. */
export function isSigned(
  { type, secret }: Pick<Bell, 'type' | 'secret'>,
  headers: IncomingHttpHeaders,
  body: Uint8Array,
): boolean {
  if (type === 'gitlab' && headers['webhook-signature'] !== undefined)
    return isStandard(secret.reveal(), headers, body);
  const given = headers[HEADERS[type].toLowerCase()];
  if (typeof given !== 'string') return false;
  const expected = type === 'gitlab' ? secret.reveal() : signatureOf(type, secret.reveal(), body);
  return isSame(given, expected);
}

function signatureOf(type: Signer, key: string, body: Uint8Array): string {
  const hex = createHmac('sha256', key).update(body).digest('hex');
  return type === 'gitea' ? hex : `sha256=${hex}`;
}

/** Compares digests, so the lengths may differ. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'runner bell').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** GitLab's signing token: as Standard Webhooks sign. A call from long ago starts a fetch, like any other. */
function isStandard(secret: string, headers: IncomingHttpHeaders, body: Uint8Array): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`;
  const key = Buffer.from(secret.slice(SIGNING_TOKEN.length), 'base64');
  const expected = createHmac('sha256', key).update(signed).update(body).digest('base64');
  return String(headers['webhook-signature'])
    .split(' ')
    .some((given) => isSame(given, `v1,${expected}`));
}
