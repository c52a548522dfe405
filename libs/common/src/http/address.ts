/** Addresses to which a secret is sent: https, or http on this machine only. */
import { orElse } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';

/** Whether a host, as in a URL, is this machine. */
export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    /^127(?:\.\d{1,3}){3}$/.test(host)
  );
}

const insecure = (where: string, why: string) => new Failure('insecure_address', `${where} ${why}`);

/**
 * Checks an address and drops trailing slashes. Throws `insecure_address`, which names the place of
 * the address, never the address itself: it may be a secret.
 */
export function httpAddress(text: string, where: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw insecure(where, 'is not an https address');
  if (url.username || url.password)
    throw insecure(where, 'must not contain a user name or password');
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw insecure(
      where,
      'must be https: a secret is sent there (http is only allowed for localhost)',
    );
  return url.href.replace(/\/+$/, '');
}

/**
 * Checks the address of a mail server: TLS from the start, or STARTTLS, which the sender requires
 * unless the server is this machine. Throws `insecure_address`, which never holds the address.
 */
export function smtpAddress(text: string, where: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url?.hostname || (url.protocol !== 'smtps:' && url.protocol !== 'smtp:'))
    throw insecure(where, 'is not an smtps or smtp address');
  if (/^[^:/]+:\/\/[^/?#]*[/?#]./.test(text)) throw insecure(where, 'must end after the port');
  if (orElse(() => decodeURIComponent(text), undefined) === undefined)
    throw insecure(where, 'must write % as %25');
  return text.replace(/\/$/, '');
}

/** Checks the address of an ntfy topic; ntfy's server/server.go has the form of a topic. Throws `insecure_address`. */
export function topicAddress(text: string, where: string): string {
  const address = httpAddress(text, where);
  if (/^https?:\/\/[^?#]+\/[\w-]{1,64}$/.test(address)) return address;
  throw insecure(where, 'must be https://SERVER/TOPIC, the topic of letters, digits, - and _');
}
