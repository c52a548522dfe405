/** The webhook chat service. */
import type { NotifySettings } from '@runner/common/config/settings';
import type { Channel, Rate } from '../channel.ts';
import { type Line, post } from '../exchange.ts';
import { judgeDiscord } from './answer.ts';
import { discordMessages } from './message.ts';

/**
 * Discord's staff says, and its headers show, 5 per 2 seconds (not 5 per second) for a webhook, and 30
 * per minute for a channel, which no header announces (discord/discord-api-docs#367). What other webhooks of the channel use is told by 429.
 */
const RATES: readonly Rate[] = [
  { count: 5, per: 2_000 },
  { count: 30, per: 60_000 },
];

/** Announces through one webhook. */
export function discord(
  settings: NonNullable<NotifySettings['discord']>,
  template: NotifySettings['template'],
  line: Omit<Line, 'method'>,
): Channel {
  const method = { ...line, method: 'POST webhook' };
  return {
    name: 'discord',
    rates: RATES,
    render: (notice, warn) => discordMessages(notice, template(notice.kind, 'discord'), warn),
    deliver: (message, timeout) =>
      post(
        method,
        executionAddress(settings.webhook.reveal()),
        message.payload,
        (answer) => judgeDiscord(method, answer),
        timeout,
      ),
  };
}

/**
 * The address that takes Discord's own format and answers with the message: `/slack` and `/github`
 * take other formats, and without `wait` a message that was not saved is no error.
 */
export function executionAddress(webhook: string): string {
  const url = new URL(webhook);
  url.pathname = url.pathname.replace(/\/(?:slack|github)?\/*$/, '');
  url.searchParams.set('wait', 'true');
  url.hash = '';
  return url.href;
}
