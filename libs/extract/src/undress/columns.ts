/** Reads the columns that stand before a line's text: times, levels, names, numbers, bars. */

/**
 * How far a column's form is to be trusted. `sure`: it is dress wherever it stands. `heard`: it is a
 * speaker once it has been seen a few times. `shared`: it is dress if nearly all lines have it there.
 * `literal`: the same, and they must agree in their letters too.
 */
export type Trust = 'sure' | 'heard' | 'shared' | 'literal';

export interface Column {
  readonly trust: Trust;
  /** Columns of two lines are the same one if their keys are equal. */
  readonly key: string;
  /** Who speaks; undefined if the column does not say. */
  readonly speaker: string | undefined;
  readonly level: string | undefined;
  /** The fields before the time of a CI log: its job and step. */
  readonly job: string | undefined;
  /** The line goes on in the next one. */
  readonly partial: boolean;
  /** Whether it may be a cell of a table. */
  readonly table: boolean;
  readonly start: number;
  /** Where the next column or the text begins. */
  readonly end: number;
}

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const DATE = `(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:\\d{4}[-/.]\\d\\d[-/.]\\d\\d|\\d\\d?[-/. ](?:\\d\\d?|${MONTH})[-/. ]\\d{4}|${MONTH} {1,2}\\d{1,2}(?:,? \\d{4})?|\\d{1,2} ${MONTH}|\\d\\d-\\d\\d)`;
const ZONE = ' ?(?:Z|UTC|GMT|[A-Z]{1,3}[SD]T|CES?T|[+-]\\d\\d:?\\d\\d)(?![\\w:])';
const FRACTION = '(?:[.,]\\d{1,9})?';
/** A date with a clock, a clock with seconds, or seconds since 1970. */
const TIME = `(?:${DATE}[T _:,]{1,2}\\d\\d?:\\d\\d(?::\\d\\d)?${FRACTION}(?: ?[AP]M)?(?:${ZONE})?(?: \\d{4})?|\\d\\d?:\\d\\d(?::\\d\\d${FRACTION}(?: ?[AP]M)?(?:${ZONE})?| ?[AP]M)|1[5-9]\\d{8}(?:\\.\\d{1,9}|\\d{3}|\\d{6}|\\d{9})?)(?![\\w/%])`;

const LEVELS =
  'trace|debug|dbug|debu|debg|dbg|verbose|vrb|information|info|inf|note|notice|log|warning|warn|wrn|error|erro|err|fatal|ftl|critical|crit|severe|alert|emerg|panic';
const CAPITALS = LEVELS.toUpperCase();
const ANY_LEVEL = `(?:${LEVELS}|${CAPITALS}|Trace|Debug|Verbose|Info|Note|Information|Warning|Warn|Error|Fatal|Critical|fail|trce)`;
const ID =
  '(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]{0,40}\\d)[0-9a-f]{6,40}|\\d{1,10}(?:[-#:.]\\d{1,10})?)';
/** What stands in the place of a speaker and is none. */
const NO_SPEAKER = `(?!(?:${LEVELS}|${CAPITALS}|Note|hint|fail|failed|FAIL|FAILED|ok|OK|pass|PASS|passed|PASSED|done|skip|SKIP|g?make|std(?:out|err)|0\\d{1,9}|\\d{3,10})[:\\]|[ ]|[\\w./-]{0,60}\\.(?:conf|cf|cnf|cfg|ini|ya?ml|json|toml|xml|[a-z]{1,3})\\[|[^ ]{0,60}\\.\\w{1,4}:\\w|[\\w@./-]{0,60} (?:error|warning|fail|failed|failure|note):)`;
const END = '(?=[ \\t]|$)';

/** `first`: what it may begin with, as `beginning` says; '' for anything. */
type Form = readonly [key: string, trust: Trust, pattern: string, first: string];

/** The first form that fits counts. Groups: `s…` a speaker, `l…` a level, `p…` a line that goes on. */
const FORMS: readonly Form[] = [
  [
    'job',
    'sure',
    `(?<j1>(?![^\\t]{0,100}\\d:\\d\\d:\\d\\d)[^\\t]{1,100}(?:\\t[^\\t]{1,300})?)(?<! )\\t(?=[^\\w\\s]{0,3}${TIME})`,
    'M',
  ],
  [
    '<n>',
    'sure',
    `<\\d{1,3}>(?:1 ${TIME}(?: \\S{1,128}){4} (?:-|\\[[^\\]]{1,200}\\])(?= |$))?`,
    '<',
  ],
  ['E0102', 'sure', '(?<l1>[IWEF])\\d{4}(?= \\d\\d:\\d\\d:\\d\\d)', 'A'],
  ['E,', 'sure', '(?<l2>[A-Z]),(?= \\[\\d{4}-)', 'A'],
  ['time', 'sure', `[^\\x00-\\x7f]{0,3}${TIME}:?`, '0A*'],
  [
    '[time]',
    'sure',
    `\\[${TIME}:?(?:[ ,](?<l3>${ANY_LEVEL}))?(?<inside>[^\\]\\n]{0,60})\\]:?`,
    '[',
  ],
  ['[elapsed]', 'sure', '\\[ {0,12}\\d{1,9}\\.\\d{3,6}\\]', '['],
  ['[name:level]', 'shared', `\\[[\\w.-]{1,24}:(?<l4>${ANY_LEVEL})\\]`, '['],
  ['[level]', 'shared', `[[(<] {0,4}(?<l5>${ANY_LEVEL}) {0,8}[\\])>]:?`, '[(<'],
  [
    '[a:level:b]',
    'sure',
    '\\[[\\d:/.]{4,60}:(?<l6>ERROR|FATAL|WARNING|INFO):[^\\]\\s]{1,100}\\]',
    '[',
  ],
  ['waited', 'sure', '[\\w ]{3,60}\\.{3,80}(?=\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:)', 'M'],
  [
    'bar',
    'sure',
    `(?<!\\|)${NO_SPEAKER}(?<s1>\\d{1,3}\\|[\\w.-]{1,40}|(?=[^|│]{0,60}[A-Za-z])[\\w@./:-]{0,59}[\\w@./-]) {0,30}[|│]${END}`,
    '0Aa',
  ],
  ['#n', 'sure', '(?<s2>#\\d{1,4})(?: \\d{1,6}\\.\\d{1,3}(?= |$)|(?= |$))', '#'],
  ['flag', 'sure', `(?:std(?:out|err) (?:F|(?<p1>P))|\\d\\d[OE](?:\\+|(?= |$)))`, '0a'],
  ['named', 'sure', `${NO_SPEAKER}(?<s3>[\\w.@/-]{1,60}\\[[\\w.-]{1,40}\\]):${END}`, '0Aa'],
  [
    'target',
    'sure',
    `${NO_SPEAKER}(?<s4>@?[\\w./-]{1,60}:[a-z][\\w-]{0,30}(?::[a-z][\\w-]{0,30}){0,4}):${END}`,
    '0Aa',
  ],
  [
    'script',
    'sure',
    `${NO_SPEAKER}(?<s5>[\\w@.-]{1,60}/[\\w@./-]{1,60} [a-z][\\w:-]{0,30})(?::${END}|\\$(?= ))`,
    '0Aa',
  ],
  ['remote', 'sure', `(?<s6>remote):${END}`, 'a'],
  ['package', 'heard', `(?<s8>@[\\w.-]{1,40}/[\\w.-]{1,60}):${END}`, 'a'],
  ['level:', 'shared', `(?:\\w{1,24}\\.)?(?<l7>${ANY_LEVEL}):${END}`, '0Aa'],
  ['level:name:', 'shared', `(?<l8>${CAPITALS}):[\\w.]{1,60}:`, 'A'],
  ['level', 'shared', `(?<l9>${CAPITALS})(?=[ \\t|]|$)`, 'A'],
  ['l', 'shared', '(?<l10>[IWEFDV])(?= {1,3}\\w|$)', 'A'],
  [
    'label',
    'heard',
    `(?<s7>\\[${NO_SPEAKER}(?:(?=[^\\]]{0,60}[A-Za-z])@?\\w[\\w./: @-]{0,60}|\\d{1,2})\\]):?(?=[ \\t[]|$)`,
    '[',
  ],
  ['[id]', 'shared', `[[(](?:${ID}|pid \\d+(?::tid \\d+)?)[\\])]:?`, '[('],
  ['[other]', 'literal', '\\[[^\\]\\n]{1,60}\\]:?', '['],
  ['|', 'shared', '\\||│(?=[ \\t]|$)', '|'],
  ['mark', 'shared', '(?:[>–—:]|-{1,3})(?=[ \\t]|$)', '-'],
  ['id', 'shared', `${ID}:?(?=[ \\t|]|$)`, '0a'],
  ['pair', 'shared', '[\\w.]{1,20}=[^\\s=|"]{1,60}(?=[ |]|$)', '0Aa'],
  [
    'place',
    'shared',
    '[\\w./-]{1,60}(?:\\.\\w{1,6}|:\\w{1,40}):\\d{1,6}(?:\\]|(?= {0,2}\\t| {1,2}[-–|]|$))',
    '0Aa',
  ],
  [
    'dotted',
    'shared',
    '[A-Za-z][\\w$]{0,60}(?:(?:\\.|::)[\\w$]{1,60}){1,12}(?:\\[\\d{1,3}\\])?:?(?=[ \\t|]|$)',
    'Aa',
  ],
  ['word', 'literal', '[^\\s|]{1,60}(?=[ \\t|]|$)', ''],
];

/** The forms that may begin with a character, as one expression; with the places of their groups. */
interface Table {
  readonly pattern: RegExp;
  readonly forms: readonly {
    key: string;
    trust: Trust;
    at: number;
    group(letter: string): number;
  }[];
}

const NAMED = /\(\?<([a-z])\w*>/g;

function tableOf(begins: string): Table {
  const forms = FORMS.filter(([, , , first]) =>
    begins === 'M' ? first === 'M' : first === '' || first.includes(begins),
  );
  let at = 1;
  return {
    // Groups are looked up by number: naming them for each line would cost more than finding them.
    pattern: new RegExp(
      `(?:${forms.map(([, , form]) => `(${form.replace(NAMED, '(')})`).join('|')})[ \\t]?`,
      'uy',
    ),
    forms: forms.map(([key, trust, form]) => {
      const names = [...form.matchAll(NAMED)].map(([, letter]) => letter);
      const own = at;
      at += 1 + names.length;
      const group = (letter: string) =>
        names.includes(letter) ? own + 1 + names.indexOf(letter) : 0;
      return { key, trust, at: own, group };
    }),
  };
}

/** What a column may begin with: a digit, a capital, another letter, a sign; M for such lines. */
const TABLES = new Map(Array.from('0Aa[(<#|-*M', (begins) => [begins, tableOf(begins)]));

function beginning(unit: number): string {
  if (unit >= 48 && unit <= 57) return '0';
  if (unit >= 65 && unit <= 90) return 'A';
  if ((unit >= 97 && unit <= 122) || unit === 64) return 'a';
  const sign = String.fromCharCode(unit);
  if (sign === '│') return '|';
  return '>:–—'.includes(sign) ? '-' : TABLES.has(sign) ? sign : '*';
}

const INSIDE = new RegExp(`(?:^|\\W)(${ANY_LEVEL})(?!\\w)`);

/** Where the first character from there on is that is neither a space nor a tab. */
export function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && (text[at] === ' ' || text[at] === '\t')) at += 1;
  return at;
}

/** The column that begins at a place of the line, or null; spaces before it do not count. */
export function columnAt(text: string, from: number): Column | null {
  const at = skipBlanks(text, from);
  if (at === text.length || text[at] === '{') return null;
  return (
    // Fields or dots of which a time is the end.
    (text.includes('\t', at) || text.includes('....', at) ? read('M', text, from, at) : null) ??
    read(beginning(text.charCodeAt(at)), text, from, at)
  );
}

function read(begins: string, text: string, from: number, at: number): Column | null {
  const table = TABLES.get(begins);
  if (table === undefined) return null;
  const { pattern } = table;
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  const form = found && table.forms.find((each) => found[each.at] !== undefined);
  if (!found || !form) return null;
  // Its pairs are opened together.
  if (found[0].includes('=') && /[ \t](?:msg|message)=/.test(text.slice(at))) return null;
  const group = (letter: string) => {
    const index = form.group(letter);
    return index === 0 ? undefined : found[index];
  };
  const name = group('s');
  // A speaker stands at the margin, unless in brackets.
  if (name !== undefined && form.trust === 'sure' && from === 0 && at > 0) return null;
  // A number in brackets names a program only there.
  const number = name !== undefined && from > 0 && /^\[\d/.test(name);
  const speaker = number ? undefined : name;
  const trust = number ? 'shared' : form.trust;
  const literal = trust === 'literal' ? (found[form.at] ?? '').replace(/\d+/g, '#') : undefined;
  const inside = group('i');
  return {
    trust,
    key: speaker ?? literal ?? (number ? '[id]' : form.key),
    speaker,
    level: group('l') ?? (inside ? INSIDE.exec(inside)?.[1] : undefined),
    job: group('j'),
    partial: group('p') !== undefined,
    table: form.key === 'bar' && !/^[a-z][\w-]*[-.\d]/.test(speaker ?? ''),
    start: at,
    end: pattern.lastIndex,
  };
}
