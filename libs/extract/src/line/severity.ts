/** Splits a line into its severity label and its message. */
import { ERROR_WORDS, INFO_WORDS, WARNING_WORDS } from '../rules/labels.ts';

/** The severity a line's label states; '' without a label. */
export type Severity = 'error' | 'warning' | 'info' | '';

/** A line and its parts. */
export interface Labelled {
  readonly severity: Severity;
  /** The line without indent, bracketed labels, marks and box drawing; words such as `error:` stay. */
  readonly body: string;
  /** The line without any label. */
  readonly message: string;
}

const LABEL = new RegExp(
  [
    '(?<npm>(?:npm|lerna|gyp|pnpm|node-pre-gyp|sqlite3) (?:error|ERR!|warn(?:ing)?|WARN|verb|info|http|notice)(?: (?=\\S)|$))',
    `\\[ *(?<bracket>${ERROR_WORDS}|${WARNING_WORDS}|${INFO_WORDS}) *\\]:?(?= |$)`,
    '(?:##\\[|::)(?<annotation>error|warning|notice|debug)(?:\\]|(?: [^:\\n]{1,200})?::)',
    `(?<word>${ERROR_WORDS}|${WARNING_WORDS}|${INFO_WORDS})(?: ?::?(?= |$)| {2,}(?!.{1,80}\\S {3,}\\S)| (?=- ))`,
    '(?<shout>(?:[-*#=]{1,3} )?(?:ERROR|FATAL|CRITICAL|SEVERE|WARN(?:ING)?|INFO|DEBUG|TRACE|VERBOSE|LOG(?= \\[)))(?:(?= )|[:!])',
    '(?<yarn>error|warning|info)(?= [A-Z"`\'])',
    '(?<letter>[EFe]): ',
    '(?<program>psql:[^\\s:]{1,200}:\\d+: |[a-z][\\w.+-]{0,30}: (?=(?:error|fatal|warning): ))',
    '(?<mark>[✖✘✗×❌⨯🚨🛑⛔🚫💥]\\ufe0f?|x(?= [A-Z][a-z])|\\[!\\]|\\[x\\])(?= |$)',
    '(?<box>[│║┃>|](?= )|remote:(?= )|[│║┃](?=$))',
  ].join('|'),
  'iuy',
);

const IS_WARNING = new RegExp(`^(?:${WARNING_WORDS})$`, 'iu');
const IS_INFO = new RegExp(`^(?:${INFO_WORDS})$`, 'iu');

/** Splits up to four labels off a line; an error label wins, otherwise the first one. */
export function readLabels(body: string): Labelled {
  let at = indentOf(body, 0);
  let severity: Severity = '';
  let plain = at;
  let worded = false;
  for (let count = 0; count < 4; count += 1) {
    LABEL.lastIndex = at;
    const found = LABEL.exec(body);
    if (found === null || found[0] === '') break;
    const groups = found.groups ?? {};
    // `E: ` and `error Text` are labels only in exactly this case.
    if (!caseFits(groups, body[at + found[0].length + 1] ?? '')) break;
    const said = severityOf(groups);
    const relayed = groups.npm !== undefined && said !== '';
    if (relayed || said === 'error' || severity === '') severity = said === '' ? severity : said;
    at = indentOf(body, at + found[0].length);
    worded ||= (groups.word ?? groups.shout ?? groups.yarn ?? groups.letter) !== undefined;
    if (!worded) plain = at;
  }
  return { severity, body: body.slice(plain), message: body.slice(at) };
}

/** What a logger's name for a level means; '' if it is none. */
export function severityNamed(level: string): Severity {
  if (/^(?:e|f|c|a|err.*|ftl|fatal|fail|crit.*|severe|alert|emerg.*|panic)$/i.test(level))
    return 'error';
  if (/^w/i.test(level)) return 'warning';
  return level === '' ? '' : 'info';
}

/** The severity that a line states, or else the level at which it was logged. */
export function severityOfRow({ trimmed, level }: { trimmed: string; level: Severity }): Severity {
  return readLabels(trimmed).severity || level;
}

function caseFits(groups: Record<string, string | undefined>, next: string): boolean {
  const { shout, yarn, mark } = groups;
  // `x` marks an error only before a capitalised word.
  if (mark !== undefined && /^x$/i.test(mark) && (mark !== 'x' || !/[A-Z]/.test(next)))
    return false;
  if (shout !== undefined && shout !== shout.toUpperCase()) return false;
  return yarn === undefined || (yarn === yarn.toLowerCase() && /[A-Z"`']/.test(next));
}

function severityOf(groups: Record<string, string | undefined>): Severity {
  const { npm, bracket, annotation, word, yarn, letter, mark, box, program } = groups;
  const shout = groups.shout?.replace(/^\W+/, '');
  if (box !== undefined || program !== undefined) return '';
  if (letter !== undefined || mark !== undefined) return 'error';
  const label =
    npm === undefined
      ? (bracket ?? annotation ?? word ?? shout ?? yarn ?? '')
      : (npm.split(' ')[1] ?? '');
  if (IS_WARNING.test(label) || /^warn/i.test(label)) return 'warning';
  if (IS_INFO.test(label) || /^(?:verb|http)/i.test(label)) return 'info';
  return 'error';
}

function indentOf(text: string, from: number): number {
  let at = from;
  while (at < text.length && (text[at] === ' ' || text[at] === '\t')) at += 1;
  return at;
}
