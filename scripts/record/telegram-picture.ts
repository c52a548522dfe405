/** Messages as a Telegram chat shows them. */
import { parseText } from '@runner/testing/telegram-parse';
import { type Block, drawBlocks, RICH_STYLE, type Span } from './rich-text.ts';
import { SANS, xml } from './xml.ts';

const WIDTH = 560;
const INNER = 480;
const LOOKS: Readonly<Record<string, Span['look']>> = { Bold: 'bold', Code: 'code' };

/** A MarkdownV2 text as Telegram's parser understands it. */
function blocksOf(markdown: string): Block[] {
  const parsed = parseText(markdown, 'MarkdownV2');
  if (!parsed.ok) throw new Error(parsed.description);
  const blocks: Block[] = [];
  let spans: Span[] = [];
  const endLine = () => {
    if (spans.length > 0) blocks.push({ kind: 'text', spans });
    spans = [];
  };
  const add = (text: string, look: Span['look']) => {
    text.split('\n').forEach((line, index) => {
      if (index > 0) endLine();
      if (line !== '') spans.push({ text: line, look });
    });
  };
  let at = 0;
  for (const { type, offset, length } of parsed.entities) {
    add(parsed.text.slice(at, offset), 'plain');
    const text = parsed.text.slice(offset, offset + length);
    if (type === 'Pre' || type === 'PreCode') {
      endLine();
      blocks.push({ kind: 'code', text });
    } else add(text, LOOKS[type] ?? 'plain');
    at = offset + length;
  }
  add(parsed.text.slice(at), 'plain');
  endLine();
  return blocks;
}

/** Draws the payloads of sendMessage below each other. */
export function telegramPicture(
  payloads: readonly { readonly text: string }[],
  title: string,
): string {
  let y = 14;
  const bubbles = payloads.map(({ text }) => {
    const top = y;
    const inside = drawBlocks(blocksOf(text), {
      x: 34,
      y: top + 34,
      width: INNER,
      code: '#eef3f7',
    });
    const height = inside.height + 46;
    y += height + 10;
    return `<rect x="20" y="${top}" width="${INNER + 28}" height="${height}" rx="12" fill="#fff" stroke="#d5e0e8"/>
<text x="34" y="${top + 24}" class="bold name">runner</text>
${inside.svg}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${WIDTH} ${y + 4}" width="${WIDTH}" height="${y + 4}" role="img" aria-label="${xml(title)}">
<title>${xml(title)}</title>
<style>text{font:14px ${SANS};fill:#1c2733}${RICH_STYLE}.code{fill:#a23a6b}.block{fill:#2b3a48}.name{fill:#3a87c8}</style>
<rect width="${WIDTH}" height="${y + 4}" rx="8" fill="#dfeaf2"/>
${bubbles.join('\n')}
</svg>
`;
}
