/** Warning of a token that ends soon. */
import type { Context } from '@runner/common/cli/command';

/** A token that expires within this many days is warned about. */
const WARNING_DAYS = 14;
const DAY = 86_400_000;

/** What testing a token needs. */
export type TestContext = Pick<Context, 'io' | 'paths' | 'note'>;

/** Notes an end that is near, or was. */
export function warnOfExpiry(
  { io, note }: TestContext,
  apps: string,
  expiry: string | null | undefined,
): void {
  if (!expiry) return;
  const left = Date.parse(expiry) - io.now().getTime();
  const days = Math.floor(left / DAY);
  if (days >= WARNING_DAYS) return;
  const end = left < 0 ? `expired at ${expiry}` : `expires in ${days} day(s)`;
  note(`warning: the token of ${apps} ${end}: make a new one and run runner edit --token`);
}
