/** The body of a message as its service shows it, in HTML. */
import type { ChannelName } from '@runner/common/config/channels';
import { parseText } from '@runner/testing/telegram-parse';
import { xml } from './xml.ts';

type Payload = Readonly<Record<string, unknown>>;

const TAGS: Readonly<Record<string, string>> = {
  Bold: 'b',
  Code: 'code',
  Pre: 'pre',
  PreCode: 'pre',
};

/** A MarkdownV2 text as Telegram's parser understands it. */
function telegram({ text }: Payload): string {
  const parsed = parseText(String(text), 'MarkdownV2');
  if (!parsed.ok) throw new Error(parsed.description);
  let at = 0;
  const parts = parsed.entities.map(({ type, offset, length, argument }) => {
    const before = xml(parsed.text.slice(at, offset));
    const inside = xml(parsed.text.slice(offset, offset + length));
    at = offset + length;
    const tag = TAGS[type];
    if (type === 'TextUrl') return `${before}<a href="${xml(String(argument))}">${inside}</a>`;
    return tag === undefined ? before + inside : `${before}<${tag}>${inside}</${tag}>`;
  });
  return `<div class="text">${parts.join('')}${xml(parsed.text.slice(at))}</div>`;
}

/** Blocks and spans of code and links, of a text whose special characters are escaped. */
function marked(escaped: string, link: RegExp, bold?: RegExp): string {
  return escaped
    .split(/```\n?/)
    .map((part, index) => {
      if (index % 2 === 1) return `<pre>${part.replace(/\n$/, '')}</pre>`;
      const lines = part.replace(/\n$/, '').split(/(`[^`]+`)/);
      return lines
        .map((piece) =>
          piece.startsWith('`')
            ? `<code>${piece.slice(1, -1)}</code>`
            : piece
                .replace(link, '<a href="$<url>">$<text></a>')
                .replace(bold ?? /(?!)/, '<b>$1</b>'),
        )
        .join('');
    })
    .join('');
}

const discordText = (text: string) =>
  marked(xml(text), /\[(?<text>[^\]]+)\]\(&lt;(?<url>[^&]+)&gt;\)/g);

interface Embed {
  readonly color: number;
  readonly description?: string;
  readonly fields?: readonly { name: string; value: string; inline: boolean }[];
  readonly footer?: { readonly text: string };
  readonly timestamp?: string;
}

function discord({ content, embeds }: Payload): string {
  const [embed] = embeds as readonly [Embed];
  const { color, description = '', fields = [], footer, timestamp = '' } = embed;
  const shown = fields.map(
    ({ name, value, inline }) =>
      `<div class="${inline ? 'inline' : 'field'}"><b>${xml(name)}</b><br>${discordText(value)}</div>`,
  );
  const foot = [footer?.text, timestamp.slice(0, 16).replace('T', ' ')].filter(Boolean).join(' • ');
  const edge = `#${color.toString(16).padStart(6, '0')}`;
  return `<div class="text">${discordText(String(content))}</div>
<div class="embed" style="border-left-color:${edge}">${discordText(description)}${shown.join('')}<small>${xml(foot)}</small></div>`;
}

/** Slack's text comes with the three entities of HTML already. */
const slack = ({ text }: Payload) =>
  `<div class="text">${marked(String(text), /<(?<url>[^|>]+)\|(?<text>[^>]+)>/g, /\*([^*]+)\*/g)}</div>`;

const titled = (title: unknown, text: unknown, more = '') =>
  `<b>${xml(String(title))}</b>${more}<div class="text">${xml(String(text))}</div>`;

export const SHOWN: Readonly<Record<ChannelName, (payload: Payload) => string>> = {
  telegram,
  discord,
  slack,
  ntfy: ({ title, message, priority }) =>
    titled(title, message, ` <small>priority ${priority}</small>`),
  email: ({ subject, text }) => titled(subject, text),
  webhook: (payload) => `<pre>${xml(JSON.stringify(payload, null, 2))}</pre>`,
};
