/** The mode `HTML` as Telegram reads it. */
import { type Entity, type EntityType, type Formatted, ParseError } from './telegram-entities.ts';
import { linkEntity } from './telegram-links.ts';

const TAGS: Readonly<Record<string, EntityType>> = {
  a: 'TextUrl',
  b: 'Bold',
  strong: 'Bold',
  i: 'Italic',
  em: 'Italic',
  s: 'Strikethrough',
  strike: 'Strikethrough',
  del: 'Strikethrough',
  u: 'Underline',
  ins: 'Underline',
  'tg-spoiler': 'Spoiler',
  'tg-emoji': 'CustomEmoji',
  span: 'Spoiler',
  pre: 'Pre',
  code: 'Code',
  blockquote: 'BlockQuote',
};

/** Telegram knows four names, and numbers. */
const NAMES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };
const REFERENCE = /&(?:#x([\da-fA-F]+)|#(\d+)|(lt|gt|amp|quot)(?![A-Za-z]));?/g;
const LAST_CODE_POINT = 0x10ffff;

function decode(text: string): string {
  return text.replace(REFERENCE, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return NAMES[name] as string;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    if (code === 0 || code >= LAST_CODE_POINT) return whole;
    return String.fromCodePoint(code);
  });
}

interface Open {
  readonly name: string;
  readonly argument: string;
  readonly offset: number;
}

/** One attribute after white space: its name, and its value in quotes or as a plain word. */
const ATTRIBUTE = /\s*([^\s=>/"']+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z\d.-]+)))?/y;

/** What the attributes say about a tag; `at` is the place of its `>`. */
function argumentOf(name: string, source: string, from: number, where: number) {
  let at = from;
  let argument = '';
  for (;;) {
    const rest = /\s*/y;
    rest.lastIndex = at;
    at += rest.exec(source)?.[0].length ?? 0;
    if (source[at] === '>') return { argument, at };
    if (at >= source.length) throw new ParseError(`Unclosed start tag at byte offset ${where}`);
    ATTRIBUTE.lastIndex = at;
    const match = ATTRIBUTE.exec(source);
    if (match === null) {
      throw new ParseError(`Empty attribute name in the tag "${name}" at byte offset ${where}`);
    }
    at += match[0].length;
    const [, key, double, single, word] = match;
    const value = decode(double ?? single ?? word?.toLowerCase() ?? '');
    if (name === 'a' && key === 'href') argument = value;
    else if (name === 'code' && key === 'class' && value.startsWith('language-')) {
      argument = value.slice('language-'.length);
    } else if (name === 'span' && key === 'class' && value === 'tg-spoiler') argument = 'spoiler';
    else if (name === 'tg-emoji' && key === 'emoji-id') argument = value;
    else if (name === 'blockquote' && key === 'expandable') argument = 'expandable';
  }
}

/** Code in a preformatted block gives it its language, whichever of the two is outside. */
function addCode(entities: Entity[], entity: Entity): void {
  const last = entities.at(-1);
  const same = last?.offset === entity.offset && last.length === entity.length;
  const language = entity.argument || last?.argument;
  const pair = same && [last?.type, entity.type].sort().join() === 'Code,Pre';
  if (pair && language)
    entities[entities.length - 1] = { ...entity, type: 'PreCode', argument: language };
  else entities.push(entity);
}

function close(entities: Entity[], { name, argument, offset }: Open, text: string): void {
  const length = text.length - offset;
  if (length === 0) return;
  const type = TAGS[name] as EntityType;
  if (type === 'TextUrl') {
    const link = linkEntity(argument || text.slice(offset), offset, length);
    if (link !== null) entities.push(link);
  } else if (type === 'Code' || type === 'Pre')
    addCode(entities, { type, offset, length, argument });
  else if (type === 'CustomEmoji') {
    if (!/^[1-9]\d*$/.test(argument)) {
      throw new ParseError('Invalid custom emoji identifier specified');
    }
    entities.push({ type, offset, length, argument });
  } else if (argument === 'expandable') {
    entities.push({ type: 'ExpandableBlockQuote', offset, length });
  } else entities.push({ type, offset, length });
}

/** Reads HTML. Throws ParseError. */
export function parseHtml(source: string): Formatted {
  const entities: Entity[] = [];
  const open: Open[] = [];
  let text = '';
  let at = 0;
  while (at < source.length) {
    if (source[at] !== '<') {
      const next = source.indexOf('<', at);
      const end = next < 0 ? source.length : next;
      text += decode(source.slice(at, end));
      at = end;
      continue;
    }
    const where = Buffer.byteLength(source.slice(0, at));
    const isEnd = source[at + 1] === '/';
    const word = /[^\s>]*/y;
    word.lastIndex = at + (isEnd ? 2 : 1);
    const name = (word.exec(source)?.[0] ?? '').toLowerCase();
    const behind = at + (isEnd ? 2 : 1) + name.length;
    if (isEnd) {
      const top = open.pop();
      if (top === undefined) throw new ParseError(`Unexpected end tag at byte offset ${where}`);
      const closing = source.indexOf('>', behind);
      if (closing < 0 || source.slice(behind, closing).trim() !== '') {
        throw new ParseError(`Unclosed end tag at byte offset ${where}`);
      }
      if (name !== '' && name !== top.name) {
        throw new ParseError(
          `Unmatched end tag at byte offset ${where}, expected "</${top.name}>", found "</${name}>"`,
        );
      }
      close(entities, top, text);
      at = closing + 1;
      continue;
    }
    if (behind >= source.length) throw new ParseError(`Unclosed start tag at byte offset ${where}`);
    if (!Object.hasOwn(TAGS, name)) {
      throw new ParseError(`Unsupported start tag "${name}" at byte offset ${where}`);
    }
    const { argument, at: end } = argumentOf(name, source, behind, where);
    if (name === 'span' && argument !== 'spoiler') {
      throw new ParseError(`Tag "span" must have class "tg-spoiler" at byte offset ${where}`);
    }
    open.push({ name, argument, offset: text.length });
    at = end + 1;
  }
  const left = open.at(-1);
  if (left !== undefined) {
    throw new ParseError(`Can't find end tag corresponding to start tag "${left.name}"`);
  }
  if (!text.isWellFormed()) {
    throw new ParseError('Text contains invalid Unicode characters after decoding HTML entities');
  }
  // Only a block has a language.
  const told = entities.map(({ argument, ...entity }) =>
    argument === undefined || entity.type === 'Code' || entity.type === 'Pre'
      ? entity
      : { ...entity, argument },
  );
  return { text, entities: told };
}
