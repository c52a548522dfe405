/** The escapes in which tools write a character: after a backslash, `%` or `&`. */

/** The character that an escape stands for, as a code point, and the length of what follows its sign. */
export interface Escape {
  readonly unit: number;
  readonly length: number;
}

/** Punctuation by the names that escaping functions use, and what HTML calls U+00A0 to U+00FF. */
const NAMES = new Map([
  ...Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", sol: '/', bsol: '\\' }),
  ...Object.entries({ equals: '=', num: '#', excl: '!', quest: '?', dollar: '$', commat: '@' }),
  ...Object.entries({ colon: ':', semi: ';', comma: ',', lowbar: '_', grave: '`', plus: '+' }),
  ...Object.entries({ percnt: '%', ast: '*', period: '.', lpar: '(', rpar: ')', Hat: '^' }),
  ...`nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2
sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde
Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc
Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring
aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml
divide oslash ugrave uacute ucirc uuml yacute thorn yuml`
    .split(/\s/)
    .map((name, index) => [name, String.fromCharCode(0xa0 + index)] as const),
]);

const CODE =
  /^(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/;
const BYTE = /^[0-9a-fA-F]{2}$/;
const ENTITY = /^(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,8})|([A-Za-z0-9]{2,8}));/;
const MAX = 0x10ffff;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;

/** The escape that consists of `sign` and the beginning of `text`; undefined without one. */
export function escapeAfter(sign: number, text: string): Escape | undefined {
  if (sign === BACKSLASH) return afterBackslash(text);
  if (sign === PERCENT) return BYTE.test(text) ? numbered(text, 16, 2) : undefined;
  const found = ENTITY.exec(text);
  if (!found) return undefined;
  const [{ length }, decimal, hex, name = ''] = found;
  if (decimal ?? hex) return numbered(decimal ?? hex, decimal ? 10 : 16, length);
  const unit = NAMES.get(name)?.charCodeAt(0);
  return unit === undefined ? undefined : { unit, length };
}

function afterBackslash(text: string): Escape | undefined {
  const [all, short, byte, braces, long, octal] = CODE.exec(text) ?? [];
  if (all) {
    const digits = short ?? byte ?? braces ?? long ?? octal;
    return numbered(digits, octal ? 8 : 16, all.length);
  }
  // A control character, which no comparison regards.
  return /^[abefnrtv0]/.test(text) ? { unit: 0, length: 1 } : undefined;
}

function numbered(digits: string | undefined, radix: number, length: number): Escape | undefined {
  const unit = digits === undefined ? MAX + 1 : Number.parseInt(digits, radix);
  return unit > MAX ? undefined : { unit, length };
}
