/** The messages as the chats received them, drawn as plain text. */
import type { Stage } from './stage.ts';

const indent = (text: string) =>
  text
    .split('\n')
    .map((line) => `  │ ${line}`)
    .join('\n');

/** What Telegram received so far. */
export function telegramMessages({ telegram }: Stage): string[] {
  return telegram.messages.map((message) => `Telegram\n${indent(message.text)}`);
}

interface Embed {
  title?: string;
  description?: string;
  fields?: { name: string; value: string }[];
}

/** What Discord received so far. */
export function discordMessages({ discord }: Stage): string[] {
  return discord.messages.map(({ content, embeds }) => {
    const [embed = {}] = embeds as readonly Embed[];
    const lines = (embed.fields ?? []).map(({ name, value }) => `${name}: ${value}`);
    return `Discord\n${indent([content, embed.title ?? '', ...lines, embed.description ?? ''].filter(Boolean).join('\n'))}`;
  });
}
