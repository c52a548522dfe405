/** The legacy mode `Markdown` as Telegram reads it: nothing nests, few characters are special. */
import { type Entity, type EntityType, type Formatted, ParseError } from './telegram-entities.ts';
import { linkEntity } from './telegram-links.ts';
import { fenceHead } from './telegram-markdown.ts';

const MARKS: Readonly<Record<string, string>> = { _: '_', '*': '*', '`': '`', '[': ']' };

/** Reads legacy Markdown. Throws ParseError. */
export function parseMarkdown(source: string): Formatted {
  const entities: Entity[] = [];
  let text = '';
  let at = 0;
  while (at < source.length) {
    const character = source[at] as string;
    if (character === '\\' && Object.hasOwn(MARKS, source[at + 1] ?? '')) {
      text += source[at + 1];
      at += 2;
      continue;
    }
    if (!Object.hasOwn(MARKS, character)) {
      text += character;
      at += 1;
      continue;
    }
    const isFence = source.startsWith('```', at);
    const mark = isFence ? '```' : (MARKS[character] as string);
    const { language, end: begin } = isFence
      ? fenceHead(source, at + 3)
      : { language: '', end: at + 1 };
    const end = source.indexOf(mark, begin);
    if (end < 0) {
      const offset = Buffer.byteLength(source.slice(0, at));
      throw new ParseError(`Can't find end of the entity starting at byte offset ${offset}`);
    }
    const inside = source.slice(begin, end);
    const offset = text.length;
    const entity = (type: EntityType): Entity => ({ type, offset, length: inside.length });
    text += inside;
    at = end + mark.length;
    if (inside === '') continue;
    if (character === '[') {
      let url = inside;
      if (source[at] === '(') {
        const close = source.indexOf(')', at);
        const until = close < 0 ? source.length : close;
        url = source.slice(at + 1, until);
        at = until + 1;
      }
      const link = linkEntity(url, offset, inside.length);
      if (link !== null) entities.push(link);
    } else if (language !== '') entities.push({ ...entity('PreCode'), argument: language });
    else if (isFence) entities.push(entity('Pre'));
    else if (character === '`') entities.push(entity('Code'));
    else entities.push(entity(character === '_' ? 'Italic' : 'Bold'));
  }
  return { text, entities };
}
