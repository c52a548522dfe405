/** Whether a call was signed with the secret of the app, as each type of host does it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Bell, Signer } from './folder.ts';

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
