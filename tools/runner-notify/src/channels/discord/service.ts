/** The webhook chat service, as the rest of the tool knows it. */
import type { Service } from '../service.ts';
import { discord, executionAddress } from './discord.ts';
import { discordMessages } from './message.ts';

export const discordService: Service = {
  name: 'discord',
  method: 'POST webhook',
  codeEscapes: false,
  placeholders: { discord_webhook: 'https://discord.com/api/webhooks/1/x' },
  /** `webhook 1234567890`: the id alone; `…` where the address names none. */
  mask(address) {
    const id = /\/webhooks\/(\d{1,20})(?:\/|$)/.exec(address)?.[1];
    return `webhook ${id ?? '…'}`;
  },
  secretsOf({ discord: hook }) {
    const address = hook?.webhook.reveal();
    if (address === undefined) return [];
    const path = new URL(executionAddress(address)).pathname;
    return [address, path.replace(/^.*\//, '')];
  },
  identityOf: ({ discord: hook }) => hook?.webhook.reveal() ?? '',
  // The address is the secret.
  addressOf: () => ({}),
  shownOf: () => ({}),
  messages: discordMessages,
  open: ({ discord: hook, template }, line) => hook && discord(hook, template, line),
};
