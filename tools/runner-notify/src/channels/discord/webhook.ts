/** The address of a webhook: taken apart, made normal, asked about. */
import { httpAddress } from '@runner/common/http/address';

/** Discord's own hosts; others may stand in for it, behind the same kind of path. */
const DISCORD_HOST = /^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/;

const PATH = /^(.*\/webhooks\/(\d{1,20})\/[\w-]{1,200})(?:\/(?:slack|github))?\/*$/;

/** The address of a webhook in its parts. */
export interface Webhook {
  /** Takes Discord's own format; without what asks for another one. Secret. */
  readonly address: string;
  /** Undefined when the host is Discord's, or this machine. */
  readonly foreignHost: string | undefined;
}

/**
 * Reads an address as it was copied; undefined when its path is no webhook's: on this machine anything
 * may stand in for Discord. Throws `insecure_address`, naming `where`, for what is not https (http: this
 * machine alone).
 */
export function webhookOf(text: string, where: string): Webhook | undefined {
  const url = new URL(httpAddress(text.trim(), where));
  const [, path] = PATH.exec(url.pathname) ?? [];
  const local = url.protocol === 'http:';
  if (path === undefined && !local) return undefined;
  url.pathname = path ?? url.pathname;
  url.searchParams.delete('wait');
  url.hash = '';
  return {
    address: url.href,
    // Only this machine is reached by http: httpAddress has seen to it.
    foreignHost: local || DISCORD_HOST.test(url.hostname) ? undefined : url.host,
  };
}
