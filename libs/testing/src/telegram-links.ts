import { type Entity, ParseError } from './telegram-entities.ts';

/** A name with a dot, or an address in brackets, after an optional scheme. */
const LINK =
  /^(?:(https?|ftp|tonsite):\/\/)?((?:[^\s/?#:@.]+\.)+[^\s/?#:@.]+|\[[\da-f:]+\])(:\d+)?([/?#].*)?$/is;

/** The address to which a link leads, as Telegram keeps it; null for what is not an address. */
function checkedLink(url: string): string | null {
  const trimmed = url.trim();
  if (/^(tg|ton):\/*[\w-]+/i.test(trimmed)) return trimmed;
  const [, scheme = 'http', host, port = '', rest = '/'] = LINK.exec(trimmed) ?? [];
  if (host === undefined) return null;
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return `${scheme.toLowerCase()}://${host.toLowerCase()}${port}${path}`;
}

/** The entity of a linked text; null when `url` is not an address and the text stays without a link. */
export function linkEntity(url: string, offset: number, length: number): Entity | null {
  const user = /^tg:(?:\/\/)?user\?id=([1-9]\d*)/i.exec(url.trim())?.[1];
  if (user !== undefined) return { type: 'MentionName', offset, length, argument: user };
  const argument = checkedLink(url);
  return argument === null ? null : { type: 'TextUrl', offset, length, argument };
}

/** The id in an address such as `tg://emoji?id=5368324170671202286`. */
export function customEmojiId(url: string): string {
  const id = /^tg:(?:\/\/)?emoji\?(?:[^#]*&)?id=([1-9]\d*)(?:[&#]|$)/i.exec(url)?.[1];
  if (id === undefined) throw new ParseError('Invalid custom emoji identifier specified');
  return id;
}
