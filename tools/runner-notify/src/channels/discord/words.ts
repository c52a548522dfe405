/** The webhook chat service in words. */
import { fieldsOf, wordOf } from '../fields.ts';
import type { Words } from '../wording.ts';

export const discordWords: Words = {
  title: 'Discord',
  credentials: ['discord_webhook'],
  movingKey: undefined,
  secret: 'address',
  unhealthy: 'the webhook takes no messages',
  rows({ answer }) {
    const { id, name, channel_id: channel } = fieldsOf(fieldsOf(answer).webhook);
    return id ? [['webhook', `${wordOf(name)}, channel ${wordOf(channel)}`]] : [];
  },
  placeOf: ({ channel_id: channel }) =>
    channel ? `channel ${wordOf(channel)}` : "the webhook's channel",
};
