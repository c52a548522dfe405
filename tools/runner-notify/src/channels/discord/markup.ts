/** Discord's Markdown, which has no escapes inside code. */
import type { Phrase } from '../../message/announcement.ts';
import type { Slot } from '../../message/template.ts';

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

/** Words stay words, values become code. */
export function phraseText(phrase: Phrase): string {
  return phrase
    .map((part) => {
      if (typeof part === 'string') return part;
      // Without angle brackets a preview of the page would be shown.
      return part.url === undefined ? code(part.value) : `[${part.value}](<${part.url}>)`;
    })
    .join('');
}

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
