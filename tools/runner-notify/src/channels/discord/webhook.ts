/** The address of a webhook: checked and normalised. */
import { httpAddress, isLoopback } from '@runner/common/http/address';

/** Discord's own hosts; a proxy for it has the same kind of path. */
const DISCORD_HOST = /^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/;

const PATH = /^(.*\/webhooks\/(\d{1,20})\/[\w-]{1,200})(?:\/(?:slack|github))?\/*$/;

/** The address of a webhook in its parts. */
export type Webhook = NonNullable<ReturnType<typeof webhookOf>>;

/**
 * Reads an address as it was copied; undefined when its path is not that of a webhook (on this machine
 * any path may be). Throws `insecure_address`, naming `where`, unless it is https, or http to this machine.
 */
export function webhookOf(text: string, where: string) {
  const url = new URL(httpAddress(text.trim(), where));
  const [, path] = PATH.exec(url.pathname) ?? [];
  const local = url.protocol === 'http:';
  if (path === undefined && !local) return undefined;
  url.pathname = path ?? url.pathname;
  url.searchParams.delete('wait');
  url.hash = '';
  // It accepts Discord's own format. Secret.
  return { address: url.href, foreignHost: foreignHostIn(url) };
}

/** Undefined when the host is Discord's, or this machine. */
export function foreignHostIn({ hostname, host }: URL): string | undefined {
  return isLoopback(hostname) || DISCORD_HOST.test(hostname) ? undefined : host;
}

/** What is said of a host that may be a proxy, or a trap. */
export function foreignWords(host: string): string {
  return `${host} is not Discord's host`;
}

/**
 * The address that accepts Discord's own format and answers with the message: `/slack` and `/github`
 * expect other formats, and without `wait` a message that was not saved is not reported as an error.
 */
export function executionAddress(webhook: string): string {
  const url = new URL(webhook);
  url.pathname = url.pathname.replace(/\/(?:slack|github)?\/*$/, '');
  url.searchParams.set('wait', 'true');
  url.hash = '';
  return url.href;
}

/** The address of a message that the webhook posted: discord.com/developers/docs/resources/webhook#edit-webhook-message. */
export function messageAddress(webhook: string, id: string): string {
  const url = new URL(executionAddress(webhook));
  url.pathname = `${url.pathname}/messages/${encodeURIComponent(id)}`;
  url.searchParams.delete('wait');
  return url.href;
}
