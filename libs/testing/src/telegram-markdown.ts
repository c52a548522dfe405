/** MarkdownV2 as Telegram reads it, with its words for what it cannot read. */
import { type Entity, type EntityType, type Formatted, ParseError } from './telegram-entities.ts';
import { customEmojiId, linkEntity } from './telegram-links.ts';

const RESERVED = '_*[]()~`>#+-=|{}.!';

/** A backslash takes the meaning of any ASCII character but DEL and NUL after it. */
const ESCAPABLE = /^[\u0001-\u007e]$/;

interface OpenEntity {
  type: EntityType;
  argument?: string;
  /** Where its text begins in the result, and its mark in the source. */
  readonly offset: number;
  readonly at: number;
}

/** Marks of entities that end as they begin. */
const CLOSING: Readonly<Partial<Record<EntityType, string>>> = {
  Bold: '*',
  Underline: '__',
  Strikethrough: '~',
  Spoiler: '||',
  Code: '`',
  Pre: '```',
  PreCode: '```',
  TextUrl: ']',
  CustomEmoji: ']',
};

/** What follows three back-ticks: the language, if there is one, and one newline. */
function fenceHead(source: string, at: number): { language: string; end: number } {
  const word = /[^ \t\r\n\0\v`]*/y;
  word.lastIndex = at;
  const name = word.exec(source)?.[0] ?? '';
  const after = source[at + name.length];
  const isLanguage = name !== '' && after !== undefined && after !== '`';
  const end = isLanguage ? at + name.length : at;
  const newline = /^(?:\r\n|\n\r|\r|\n)?/.exec(source.slice(end, end + 2))?.[0] ?? '';
  return { language: isLanguage ? name : '', end: end + newline.length };
}

/** Reads MarkdownV2. Throws ParseError. The result has not been cleaned or trimmed yet. */
export function parseMarkdownV2(source: string): Formatted {
  const entities: Entity[] = [];
  const open: OpenEntity[] = [];
  let text = '';
  let at = 0;
  let quoting = false;
  let lineBegins = true;

  const bytesTo = (index: number) => Buffer.byteLength(source.slice(0, index));
  const unended = (entity: OpenEntity) =>
    new ParseError(`Can't find end of ${entity.type} entity at byte offset ${bytesTo(entity.at)}`);
  const reserved = (character: string) =>
    new ParseError(
      `Character '${character}' is reserved and must be escaped with the preceding '\\'`,
    );

  const begin = (type: EntityType, mark: number, argument?: string) => {
    open.push({ type, offset: text.length, at, ...(argument !== undefined && { argument }) });
    at += mark;
  };

  const add = (entity: OpenEntity, type = entity.type) => {
    const length = text.length - entity.offset;
    if (length === 0) return;
    const argument = entity.argument === undefined ? {} : { argument: entity.argument };
    entities.push({ type, offset: entity.offset, length, ...argument });
  };

  /** The address in parentheses, backslashes taken out; `at` stands behind it afterwards. */
  const address = (what: string): string => {
    const begun = at + 1;
    let url = '';
    for (at = begun; at < source.length && source[at] !== ')'; at += 1) {
      if (source[at] === '\\' && ESCAPABLE.test(source[at + 1] ?? '')) at += 1;
      url += source[at];
    }
    if (at >= source.length) {
      throw new ParseError(`Can't find end of a ${what} at byte offset ${bytesTo(begun)}`);
    }
    at += 1;
    return url;
  };

  const beginFence = () => {
    const { language, end } = fenceHead(source, at + 3);
    if (language === '') begin('Pre', end - at);
    else begin('PreCode', end - at, language);
  };

  /** A quotation that ends with an empty spoiler mark can be unfolded. */
  const endQuote = (where: number) => {
    let top = open.at(-1) as OpenEntity;
    let type: EntityType = 'BlockQuote';
    const gap = source.slice(top.at + 2, where);
    if (top.type === 'Spoiler' && (gap === '' || gap === '\r')) {
      type = 'ExpandableBlockQuote';
      open.pop();
      top = open.at(-1) as OpenEntity;
    }
    if (top.type !== 'BlockQuote') throw unended(top);
    return { quote: top, type };
  };

  const beginOrRefuse = (character: string) => {
    const next = source[at + 1];
    if (character === '_') next === '_' ? begin('Underline', 2) : begin('Italic', 1);
    else if (character === '*') begin('Bold', 1);
    else if (character === '~') begin('Strikethrough', 1);
    else if (character === '|' && next === '|') begin('Spoiler', 2);
    else if (character === '[') begin('TextUrl', 1);
    else if (character === '!' && next === '[') begin('CustomEmoji', 2);
    else if (source.startsWith('```', at)) beginFence();
    else if (character === '`') begin('Code', 1);
    else if (character === '>' && lineBegins) {
      if (quoting) at += 1;
      else begin('BlockQuote', 1);
      quoting = true;
    } else throw reserved(character);
  };

  const endTop = (entity: OpenEntity, mark: string) => {
    at += mark.length;
    if (entity.type === 'TextUrl') {
      const inside = text.slice(entity.offset);
      const url = source[at] === '(' ? address('URL') : inside;
      const link = linkEntity(url, entity.offset, inside.length);
      if (link !== null && inside !== '') entities.push(link);
    } else if (entity.type === 'CustomEmoji') {
      if (source[at] !== '(') {
        throw new ParseError('Custom emoji entity must contain a tg://emoji URL');
      }
      add({ ...entity, argument: customEmojiId(address('custom emoji URL')) });
    } else add(entity);
    open.pop();
  };

  const closes = (entity: OpenEntity): string | null => {
    // Two underscores always are a mark of their own.
    if (entity.type === 'Italic') {
      return source[at] === '_' && source[at + 1] !== '_' ? '_' : null;
    }
    const mark = CLOSING[entity.type];
    return mark !== undefined && source.startsWith(mark, at) ? mark : null;
  };

  while (at < source.length) {
    const character = source[at] as string;
    const top = open.at(-1);
    const inCode = top !== undefined && ['Code', 'Pre', 'PreCode'].includes(top.type);
    if (character === '\\' && ESCAPABLE.test(source[at + 1] ?? '')) {
      const escaped = source[at + 1] as string;
      text += escaped;
      at += 2;
      if (escaped !== '\r') lineBegins = escaped === '\n';
    } else if (inCode ? character !== '`' : !RESERVED.includes(character) && character !== '\n') {
      text += character;
      at += 1;
      if (character !== '\r') lineBegins = false;
    } else if (character === '\n') {
      if (quoting && source[at + 1] !== '>') {
        const { quote, type } = endQuote(at);
        text += '\n';
        add(quote, type);
        open.pop();
        quoting = false;
      } else text += '\n';
      at += 1;
      lineBegins = true;
    } else {
      const mark = top === undefined ? null : closes(top);
      if (top !== undefined && mark !== null) endTop(top, mark);
      else beginOrRefuse(character);
    }
  }
  if (quoting && ['BlockQuote', 'Spoiler'].includes((open.at(-1) as OpenEntity).type)) {
    const { quote, type } = endQuote(source.length);
    add(quote, type);
    open.pop();
  }
  const left = open.at(-1);
  if (left !== undefined) throw unended(left);
  return { text, entities };
}
