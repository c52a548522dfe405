/**
 * Discord messages: a short line and one embed. The service's other limits (2000 code points of
 * content, 1024 of a field, 6000 of all embeds) are out of reach: values and logs are cut earlier.
 */
import { codePoints, headAndTail } from '@runner/common/text/plain';
import {
  type Announcement,
  type Detail,
  FACES,
  type Face,
  SHORT_MAX,
  TEST_TEXT,
  TEST_TITLE,
} from '../../message/announcement.ts';
import type { Notice } from '../../message/notice.ts';
import { isOfDeploy } from '../../message/records.ts';
import { fillTemplate, type Slot, valuesOf } from '../../message/template.ts';
import { tooLong, type Writing } from '../../service/draft.ts';
import type { Fields } from '../../service/fields.ts';
import { type Markup, phraseText } from '../../service/text.ts';

/** Invisible; separates two back-ticks. */
const GAP = '\u200b';

/** A value as code. Two back-ticks on each side, so that the value may hold single ones. */
export function code(value: string): string {
  if (!value.includes('`')) return `\`${value}\``;
  const inner = value.replace(/`(?=`)/g, `\`${GAP}`);
  const before = inner.startsWith('`') ? GAP : '';
  const after = inner.endsWith('`') ? GAP : '';
  return `\`\`${before}${inner}${after}\`\``;
}

/** A block of text as code; fences inside it are broken up. */
export function fence(text: string): string {
  return `\`\`\`\n${inFence(text)}\n\`\`\``;
}

function inFence(text: string): string {
  return text.replace(/`(?=``)/g, `\`${GAP}`);
}

const markdown: Pick<Markup, 'words' | 'code' | 'link'> = {
  words: (text) => text,
  code,
  // Without angle brackets a preview of the page would be shown.
  link: (text, url) => `[${text}](<${url}>)`,
};

/** A value escaped for its slot of a template. */
export function escapeValue(value: string, slot: Slot): string {
  switch (slot) {
    case 'text':
      return value.replace(/[\\*_~`|>#+\-.[\]()<@:]/g, '\\$&');
    case 'code':
      // Code between single back-ticks cannot contain one: a look-alike replaces it.
      return value.replaceAll('`', '\u02cb');
    case 'pre':
      return inFence(value).replace(/`$/, `\`${GAP}`);
    case 'link':
      return value.replace(/[\s()<>\\]/g, (character) =>
        encodeURIComponent(character).replace(/[()]/g, hex),
      );
  }
}

function hex(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/**
 * Code points of an embed's description: discord.com/developers/docs/resources/message#embed-object-embed-limits
 * says 4096; one report says that Discord counts some characters twice.
 */
const DESCRIPTION_MAX = 4096 - 48;

const COLOURS: Readonly<Record<Face['tone'], number>> = {
  news: 0x3498db,
  good: 0x2ecc71,
  care: 0xf39c12,
  bad: 0xe74c3c,
};

/** Fields that share a line. */
const INLINE = new Set(['Duration', 'By', 'From', 'To']);
/** What the line above the embed, or its footer, says already. */
const IN_CONTENT = new Set([
  'Project',
  'Instance',
  'Version',
  'Branch',
  'Deploy',
  'Since',
  'Record',
]);

/** The line above the embed cuts long values. */
function isSaid({ label, phrase: [first] }: Detail): boolean {
  const value = typeof first === 'object' ? first.value : '';
  return IN_CONTENT.has(label) && codePoints(value) <= SHORT_MAX;
}

function footerOf({ eventType, deployId, record }: Notice): Fields {
  const parts = [isOfDeploy(eventType) ? `deploy ${deployId}` : '', record].filter(Boolean);
  return parts.length > 0 ? { footer: { text: parts.join(' ') } } : {};
}

function payloadOf(
  { icon, title, headline }: Announcement,
  notice: Notice,
  description: string,
  fields: readonly Detail[] | undefined,
): Fields {
  return {
    content: `${icon} ${title}: ${phraseText(headline, markdown)}`,
    embeds: [
      {
        color: COLOURS[FACES[notice.kind].tone],
        ...(description !== '' && { description }),
        ...(fields && fields.length > 0 && { fields: fields.map(fieldOf) }),
        ...footerOf(notice),
        ...(notice.timestamp !== undefined && { timestamp: notice.timestamp }),
      },
    ],
    allowed_mentions: { parse: [] },
  };
}

export const writing: Writing = {
  channel: 'discord',
  codeEscapes: false,
  draft: (announcement, notice) => (share, plain) => {
    if (plain) return undefined;
    const description = described(announcement.block ?? '', share);
    const rows = announcement.rows.filter((row) => !isSaid(row));
    return payloadOf(announcement, notice, description, rows);
  },
  reworded(template, notice, announcement) {
    const text = fillTemplate(template, valuesOf(notice), escapeValue).trim();
    if (text === '') throw new Error('the text is empty');
    if (codePoints(text) > DESCRIPTION_MAX) throw tooLong(DESCRIPTION_MAX);
    const builtIn = writing.draft(announcement, notice);
    // A user's wording is not cut: half of its markup would remain.
    return (share, plain) =>
      share < 1 || plain ? builtIn(share, plain) : payloadOf(announcement, notice, text, undefined);
  },
};

/** A fenced block that fits the description, even with its inner fences broken up. */
function described(block: string, share: number): string {
  let size = Math.floor(codePoints(block) * share);
  if (size === 0) return '';
  let text = fence(share === 1 ? block : headAndTail(block, size));
  while (codePoints(text) > DESCRIPTION_MAX) {
    size = Math.floor(size * 0.9);
    text = fence(headAndTail(block, size));
  }
  return text;
}

function fieldOf({ label, phrase }: Detail) {
  return { name: label, value: phraseText(phrase, markdown), inline: INLINE.has(label) };
}

/** A test notification, in the colour of a deploy that starts. */
export const TEST_PAYLOAD: Fields = {
  content: `🔔 ${TEST_TITLE}`,
  embeds: [{ description: TEST_TEXT, color: COLOURS.news }],
  allowed_mentions: { parse: [] },
};
