/** Warns about expiring tokens. */
import type { Context } from '@runner/common/cli/command';
import { renewal } from '@runner/deploy/alerts/token';

/** Warn this many days before a token expires. */
const WARNING_DAYS = 14;
const DAY = 86_400_000;

/** What testing a token needs. */
export type TestContext = Pick<Context, 'io' | 'paths' | 'note'>;

/** Prints a warning if the token expires soon or has expired. */
export function warnOfExpiry(
  { io, note }: TestContext,
  apps: readonly string[],
  expiry: string | null | undefined,
): void {
  if (!expiry) return;
  const left = Date.parse(expiry) - io.now().getTime();
  const days = Math.floor(left / DAY);
  if (days >= WARNING_DAYS) return;
  const end = left < 0 ? `expired at ${expiry}` : `expires in ${days} day(s)`;
  note(`warning: the token of ${apps.join(', ')} ${end}: ${renewal(apps)}`);
}
