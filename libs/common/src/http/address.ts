/** Addresses that a secret is sent to: https, or http to this machine alone. */
import { Failure } from '../foundation/failure.ts';

function isLoopback(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    /^127(?:\.\d{1,3}){3}$/.test(host)
  );
}

/**
 * Checks an address and drops slashes at its end. Throws `insecure_address`, naming where the
 * address was given and never the address: it may be a secret itself.
 */
export function httpAddress(text: string, where: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Failure('insecure_address', `${where} is not an https address`);
  }
  if (url.username || url.password) {
    throw new Failure('insecure_address', `${where} holds a user name or password: leave it out`);
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new Failure(
      'insecure_address',
      `${where} must be https: a secret is sent there (http is for this machine alone)`,
    );
  }
  return url.href.replace(/\/+$/, '');
}
