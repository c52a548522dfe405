/** Messages as a Discord channel shows them, in its light theme. */
import { type Block, drawBlocks, RICH_STYLE, ROW, type Span } from './rich-text.ts';
import { SANS, xml } from './xml.ts';

const WIDTH = 620;
const INNER = 500;
const COLUMNS = 3;

interface Field {
  readonly name: string;
  readonly value: string;
  readonly inline: boolean;
}

/** What the runner sends to a webhook. */
export interface DiscordPayload {
  readonly content: string;
  readonly embeds: readonly {
    readonly title: string;
    readonly color: number;
    readonly description?: string;
    readonly fields?: readonly Field[];
    readonly footer?: { readonly text: string };
    readonly timestamp?: string;
  }[];
}

/** The marks that the runner uses: spans and blocks of code. */
function blocksOf(markdown: string): Block[] {
  return markdown.split(/```\n?/).flatMap((part, index): Block[] => {
    if (index % 2 === 1) return [{ kind: 'code', text: part }];
    return part
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({
        kind: 'text',
        spans: line
          .split('`')
          .map((text, place): Span => ({ text, look: place % 2 === 1 ? 'code' : 'plain' }))
          .filter(({ text }) => text !== ''),
      }));
  });
}

/** Fields in rows: up to three that are inline beside each other, others alone. */
function rowsOf(fields: readonly Field[]): Field[][] {
  const rows: Field[][] = [];
  for (const field of fields) {
    const last = rows.at(-1);
    if (last && field.inline && last[0]?.inline && last.length < COLUMNS) last.push(field);
    else rows.push([field]);
  }
  return rows;
}

function drawFields(fields: readonly Field[], x: number, y: number) {
  let at = y;
  const parts: string[] = [];
  for (const row of rowsOf(fields)) {
    const width = row.length === 1 ? INNER : INNER / COLUMNS;
    const heights = row.map(({ name, value }, index) => {
      const head: Block = { kind: 'text', spans: [{ text: name, look: 'bold' }] };
      const place = { x: x + index * (INNER / COLUMNS), y: at, width, code: '#e9ebee' };
      const drawn = drawBlocks([head, ...blocksOf(value)], place);
      parts.push(drawn.svg);
      return drawn.height;
    });
    at += Math.max(...heights) + 8;
  }
  return { svg: parts.join('\n'), height: at - y };
}

function drawEmbed(embed: DiscordPayload['embeds'][number], y: number) {
  const x = 88;
  const code = '#e9ebee';
  const width = INNER;
  const head = drawBlocks(blocksOf(embed.description ?? ''), {
    x,
    y: y + 10,
    width,
    code,
  });
  const fields = drawFields(embed.fields ?? [], x, y + 14 + head.height);
  const foot = [embed.footer?.text, embed.timestamp?.slice(0, 16).replace('T', ' ')]
    .filter(Boolean)
    .join(' • ');
  const height = head.height + fields.height + ROW + 26;
  const colour = `#${embed.color.toString(16).padStart(6, '0')}`;
  return {
    height,
    svg: `<rect x="72" y="${y}" width="${INNER + 32}" height="${height}" rx="4" fill="#f2f3f5"/>
<rect x="72" y="${y}" width="4" height="${height}" rx="2" fill="${colour}"/>
${head.svg}
${fields.svg}
<text x="${x}" y="${y + height - 14}" class="small">${xml(foot)}</text>`,
  };
}

/** Draws the bodies of webhook calls below each other. */
export function discordPicture(payloads: readonly DiscordPayload[], title: string): string {
  let y = 14;
  const messages = payloads.map(({ content, embeds }) => {
    const top = y;
    const place = { x: 72, y: top + 22, width: INNER + 32, code: '#e9ebee' };
    const text = drawBlocks(blocksOf(content), place);
    y = top + 22 + text.height + 4;
    const drawn = embeds.map((embed) => {
      const { svg, height } = drawEmbed(embed, y);
      y += height + 8;
      return svg;
    });
    y += 6;
    return `<circle cx="40" cy="${top + 22}" r="20" fill="#5865f2"/>
<text x="40" y="${top + 28}" text-anchor="middle" class="bold face">R</text>
<text x="72" y="${top + 14}" class="bold">Deploys</text>
${text.svg}
${drawn.join('\n')}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" role="img" aria-label="${xml(title)}">
<title>${xml(title)}</title>
<style>text{font:14px ${SANS};fill:#2e3338}${RICH_STYLE}.code{fill:#9c3d55}.face{fill:#fff}.small{font-size:12px;fill:#5c6470}</style>
<rect width="${WIDTH}" height="${y}" rx="8" fill="#fff" stroke="#e1e3e6"/>
${messages.join('\n')}
</svg>
`;
}
